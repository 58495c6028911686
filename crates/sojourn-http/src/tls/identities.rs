//! Which of several certificates a server is shown: the first that it takes.

use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;

use super::validity::issuer;

/// Certificates, the preferred one first.
#[derive(Debug)]
pub(super) struct Identities(pub(super) Vec<Arc<CertifiedKey>>);

impl ResolvesClientCert for Identities {
    fn resolve(&self, roots: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let fits = |known: &&Arc<CertifiedKey>| {
            known.key.choose_scheme(schemes).is_some() && is_issued_by(known, roots)
        };
        self.0.iter().find(fits).map(Arc::clone)
    }

    fn has_certs(&self) -> bool {
        !self.0.is_empty()
    }
}

/// Whether the chain leads to one of the names; no name means any.
fn is_issued_by(known: &CertifiedKey, roots: &[&[u8]]) -> bool {
    let issuers = || known.cert.iter().filter_map(|certificate| issuer(certificate));
    roots.is_empty() || issuers().any(|issuer| roots.contains(&issuer))
}
