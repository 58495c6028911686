//! Whom to expect over TLS.

use rustls::pki_types::ServerName;
use sojourn_broker::BrokerError;
use sojourn_plan::Tls;

/// The name that the server's certificate must carry.
pub(crate) fn server_name(trust: &Tls, host: &str) -> Result<ServerName<'static>, BrokerError> {
    let name = trust.name.as_deref().unwrap_or(host);
    ServerName::try_from(name.to_owned())
        .map_err(|_| BrokerError::new(format!("TLS: `{name}` can't be a certificate's name")))
}
