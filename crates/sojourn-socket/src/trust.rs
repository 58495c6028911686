//! TLS settings of connectors whose sockets are their own.

use std::io;
use std::sync::Arc;

use rustls::ClientConfig;
use sojourn_http::{ClientCertificate, TlsOptions, tls_settings};
use sojourn_plan::Tls;

/// What a channel's `tls` asks for: whom to trust, and as whom to come. A certificate that `ca`
/// names vouches for others; that a server shows it itself is not enough.
///
/// # Errors
/// A file can't be read or holds nothing of use; the text names it.
pub fn client_config(trust: &Tls) -> io::Result<Arc<ClientConfig>> {
    settings(trust, &[])
}

/// The same for a protocol that is chosen by ALPN.
pub(crate) fn settings(trust: &Tls, protocols: &[&[u8]]) -> io::Result<Arc<ClientConfig>> {
    let identity = trust.cert.clone().zip(trust.key.clone());
    let options = TlsOptions {
        root_certs: trust.ca.iter().cloned().collect(),
        roots_only: true,
        client_certificate: identity
            .map(|(certificate, key)| ClientCertificate { certificate, key }),
        insecure: trust.insecure,
        resumption: true,
        ..TlsOptions::default()
    };
    tls_settings(&options, protocols)
}
