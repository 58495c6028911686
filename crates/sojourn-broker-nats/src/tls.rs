//! What went wrong with a handshake, in words.

use rustls::{CertificateError, Error};

/// What to do about a failed handshake; `None`: it may work at another time.
pub(crate) fn hint(error: &Error, name: &str) -> Option<String> {
    let Error::InvalidCertificate(problem) = error else {
        return match error {
            Error::AlertReceived(_) => Some(
                "the server refused ours: does it ask for a client's certificate \
                 (`tls: { cert, key }`)?"
                    .to_owned(),
            ),
            _ => None,
        };
    };
    Some(match problem {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!(
                "its certificate is not for `{name}`: use a host it names, or give the name \
                 that it carries as `tls: {{ name: … }}`"
            )
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is signed by nobody we trust: give its authority's certificate as \
             `tls: { ca: FILE }`"
                .to_owned()
        }
        _ => "its certificate is not acceptable; `tls: { insecure: true }` takes any".to_owned(),
    })
}
