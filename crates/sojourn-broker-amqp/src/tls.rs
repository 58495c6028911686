//! Whom to trust over TLS, and what went wrong in words.

use std::io;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, Error};
use sojourn_broker::BrokerError;
use sojourn_plan::Server;
use sojourn_socket::client_config;

/// A server's TLS: settings and the name its certificate must carry; `None`: its URL asks for none.
pub(crate) type ServerTls = Option<(Arc<ClientConfig>, ServerName<'static>)>;

/// The TLS that a server's settings ask for. The error names the file.
pub(crate) fn of(server: &Server) -> io::Result<ServerTls> {
    if !server.tls {
        return Ok(None);
    }
    let name = server.trust.name.clone().unwrap_or_else(|| server.host.clone());
    let name = ServerName::try_from(name.clone())
        .map_err(|_| io::Error::other(format!("`{name}` is no name that a certificate carries")))?;
    Ok(Some((client_config(&server.trust)?, name)))
}

/// The error of a file of certificates, or of a name.
pub(crate) fn file_error(at: &str, error: &io::Error) -> BrokerError {
    BrokerError::new(format!("{at}: {error}")).with_hint("mend the channel's `tls` settings")
}

/// What went wrong in a handshake, and what to do; `None`: the error is not of TLS.
pub(crate) fn explain(error: &io::Error) -> Option<(String, &'static str)> {
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    let (words, hint) = match error {
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => (
            "its certificate is signed by nobody we trust".to_owned(),
            "name the authority's certificate with `tls: { ca: FILE }`",
        ),
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => (
            "its certificate is for another name than the URL's host".to_owned(),
            "use a host that the certificate names, or say the name with `tls: { name: NAME }`",
        ),
        Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => ("its certificate has expired".to_owned(), "renew it"),
        Error::InvalidMessage(_) => {
            ("it does not speak TLS".to_owned(), "is it the port for TLS, usually 5671?")
        }
        Error::AlertReceived(alert) => (
            format!("it ended the TLS handshake ({alert:?})"),
            "does it ask for a client certificate (`tls: { cert: FILE, key: FILE }`)?",
        ),
        error => (format!("TLS failed: {error}"), "see the broker's log"),
    };
    Some((words, hint))
}
