//! Whom to trust, and who to be.

use std::path::PathBuf;

/// TLS of all a client's connections. Files are PEM, read once by [`crate::Client::new`].
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    /// Certificates trusted besides the system's (or those of `root_certs`).
    pub ca_file: Option<PathBuf>,
    /// Named certificates are roots and nothing else. Without it a server's own certificate is
    /// trusted too when it is one of them.
    pub roots_only: bool,
    /// Files of certificates trusted in place of the system's; empty: the system's.
    pub root_certs: Vec<PathBuf>,
    /// Shown to a server that asks who we are.
    pub client_certificate: Option<ClientCertificate>,
    /// Later connections resume the session of an earlier one (session tickets): a cheaper
    /// handshake, as of one user coming back. Without it each is as of a new user.
    pub resumption: bool,
    /// Do not verify the server's certificate; said loudly in reports.
    pub insecure: bool,
}

/// A certificate of the client's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, and those between it and its root if there are any.
    pub certificate: PathBuf,
    /// Its private key, not encrypted (PKCS#8, PKCS#1 or SEC1); may be the same file.
    pub key: PathBuf,
}
