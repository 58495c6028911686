//! What a handshake failed by, where it is of a kind that others have a name for.

use rustls::{CertificateError, Error, InvalidMessage};

/// What a handshake failed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// The other end says so, by an alert of this number (RFC 8446 §6).
    Alert(u8),
    /// The other end closed.
    Closed,
    /// The server's certificate is expired, or not valid yet.
    Date,
    /// The server's certificate is for other names.
    Name,
    /// The other end does not speak TLS.
    NotTls,
    /// Nobody vouches for the server's certificate.
    Unvouched,
}

impl TlsFault {
    pub(crate) fn of(error: &Error) -> Option<Self> {
        match error {
            Error::AlertReceived(alert) => Some(Self::Alert((*alert).into())),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => Some(Self::NotTls),
            Error::InvalidCertificate(error) => match error {
                CertificateError::UnknownIssuer => Some(Self::Unvouched),
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Some(Self::Name),
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => Some(Self::Date),
                _ => None,
            },
            _ => None,
        }
    }
}
