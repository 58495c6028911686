//! Whom to expect over TLS, and what went wrong in words.

use rustls::pki_types::ServerName;
use rustls::{CertificateError, Error};
use sojourn_broker::BrokerError;
use sojourn_plan::Tls;

/// The name that the server's certificate must carry.
pub(crate) fn server_name(host: &str, trust: &Tls) -> Result<ServerName<'static>, BrokerError> {
    let name = trust.name.as_deref().unwrap_or(host);
    ServerName::try_from(name.to_owned())
        .map_err(|_| BrokerError::new(format!("`{name}` is not a name that a certificate carries")))
}

/// What a handshake's error means, and what to do.
pub(crate) fn explain(error: &Error, host: &str) -> (String, String) {
    match error {
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => (
            format!("its certificate is not for `{host}`"),
            "say which name it carries: `tls: { name: NAME }`".to_owned(),
        ),
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => (
            "its certificate is signed by an authority that is not trusted here".to_owned(),
            "name the authority's certificate: `tls: { ca: FILE }`".to_owned(),
        ),
        Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => ("its certificate has expired".to_owned(), "it needs a new one".to_owned()),
        Error::InvalidMessage(_) => (
            "it does not speak TLS on this port".to_owned(),
            "a URL that begins with `redis://` does without".to_owned(),
        ),
        other => (
            format!("TLS failed: {other}"),
            "a self-signed certificate can't vouch for itself: use one with an authority, or \
             `tls: { insecure: true }` for a test"
                .to_owned(),
        ),
    }
}
