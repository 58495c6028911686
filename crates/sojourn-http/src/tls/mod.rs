//! TLS over rustls with the aws-lc provider: trust, and sessions fed by the event loop.

mod config;
mod files;
mod insecure;
mod named;
mod options;
mod session;
mod validity;

pub(crate) use config::tls_config;
pub use config::tls_settings;
pub(crate) use files::TlsFiles;
pub use options::{ClientCertificate, TlsOptions};
pub(crate) use session::{Plaintext, TlsSession};
