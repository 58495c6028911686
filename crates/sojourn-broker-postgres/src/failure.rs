//! What went wrong between us and a server.

use std::io;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorResponseBody;
use rustls::CertificateError;

/// Why an exchange with the server failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection could not be made or is gone.
    Lost(io::Error),
    /// The server said no.
    Refused(Refusal),
}

/// A server's error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// SQLSTATE.
    pub(crate) code: String,
    /// In words.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn timed_out(what: &str) -> Self {
        Self::Lost(io::Error::new(io::ErrorKind::TimedOut, what))
    }

    /// Whether the connection was given up because nothing came.
    pub(crate) fn is_silence(&self) -> bool {
        matches!(self, Self::Lost(error) if error.kind() == io::ErrorKind::TimedOut)
    }

    pub(crate) fn protocol(what: &str) -> Self {
        Self::Lost(io::Error::new(io::ErrorKind::InvalidData, what))
    }

    /// The server's code for it, where the server said no.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Lost(_) => None,
            Self::Refused(refusal) => Some(&refusal.code),
        }
    }

    /// Whether it is about the server's certificate, and what to do then.
    pub(crate) fn about_certificate(&self) -> Option<&'static str> {
        let Self::Lost(error) = self else { return None };
        let inner = error.get_ref()?.downcast_ref::<rustls::Error>()?;
        let rustls::Error::InvalidCertificate(reason) = inner else { return None };
        Some(match reason {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "`tls: { name: … }` names what its certificate carries, if it is not the host"
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "`tls: { ca: FILE }` names the certificates of the authority to trust"
            }
            _ => "is the server's certificate still valid?",
        })
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost(error) => write!(f, "{error}"),
            Self::Refused(Refusal { code, message }) => write!(f, "{message} ({code})"),
        }
    }
}

impl Refusal {
    pub(crate) fn new(body: &ErrorResponseBody) -> Self {
        let mut refusal = Self::default();
        let mut fields = body.fields();
        while let Ok(Some(field)) = fields.next() {
            let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'C' => refusal.code = text(),
                b'M' => refusal.message = text(),
                _ => {}
            }
        }
        refusal
    }

    /// Stable words for reports, which count by them: no names, no values.
    pub(crate) fn words(&self) -> String {
        format!("{} ({})", condition(&self.code), self.code)
    }
}

/// A SQLSTATE in words: the commonest by themselves, the others by their class, as PostgreSQL's
/// appendix A has them.
fn condition(code: &str) -> &'static str {
    match code {
        "23502" => "not null violation",
        "23503" => "foreign key violation",
        "23505" => "unique violation",
        "23514" => "check violation",
        "42501" => "insufficient privilege",
        "42703" => "undefined column",
        "42P01" => "undefined table",
        "57014" => "query canceled",
        _ => match code.get(..2).unwrap_or_default() {
            "08" => "connection exception",
            "22" => "data exception",
            "23" => "integrity constraint violation",
            "25" => "invalid transaction state",
            "28" => "invalid authorization specification",
            "3D" => "invalid catalog name",
            "40" => "transaction rollback",
            "42" => "syntax error or access rule violation",
            "44" => "with check option violation",
            "53" => "insufficient resources",
            "54" => "program limit exceeded",
            "55" => "object not in prerequisite state",
            "57" => "operator intervention",
            "58" => "system error",
            "P0" => "raised by a trigger or function",
            "XX" => "internal error",
            _ => "refused",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_depend_on_the_code_alone() {
        let refusal = |code: &str| Refusal { code: code.into(), message: "secret".into() };
        assert_eq!(refusal("23505").words(), "unique violation (23505)");
        assert_eq!(refusal("23P01").words(), "integrity constraint violation (23P01)");
        assert_eq!(refusal("é").words(), "refused (é)");
    }
}
