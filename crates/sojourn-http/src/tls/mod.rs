//! TLS over rustls with the aws-lc provider: trust, and sessions fed by the event loop.

mod config;
mod configs;
mod fault;
mod files;
mod identities;
mod insecure;
mod named;
mod options;
mod session;
mod suites;
mod validity;

pub use config::{tls_settings, tls_settings_for};
pub(crate) use configs::TlsConfigs;
pub use fault::TlsFault;
pub(crate) use files::TlsFiles;
pub use options::{ClientCertificate, HostCertificate, TlsOptions, TlsVersion};
pub(crate) use session::{Plaintext, TlsSession};
