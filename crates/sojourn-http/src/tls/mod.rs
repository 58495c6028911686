//! TLS over rustls with the aws-lc provider: trust, and sessions fed by the event loop.

mod config;
mod insecure;
mod session;

pub(crate) use config::{extra_roots, tls_config};
pub(crate) use session::{Plaintext, TlsSession};
