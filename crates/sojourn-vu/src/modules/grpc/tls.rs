//! TLS of a connection, from PEM texts that a script gives.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore};

use super::params::TlsParams;

/// `base` with what the script gives. The error says what can't be used.
pub(super) fn config(
    base: Arc<ClientConfig>,
    params: Option<&TlsParams>,
    insecure: bool,
) -> Result<Arc<ClientConfig>, String> {
    let Some(params) = params else { return Ok(base) };
    let mut config = if params.roots.is_empty() || insecure {
        ClientConfig::clone(&base)
    } else {
        trusting(&base, &params.roots)?
    };
    match (&params.cert, &params.key) {
        (Some(cert), Some(key)) => {
            if params.has_password {
                return Err("encrypted keys can't be read here: decrypt the key first, for \
                            example with `openssl pkey`"
                    .to_owned());
            }
            config.client_auth_cert_resolver = Arc::new(identity(cert, key)?);
        }
        (None, None) => {}
        _ => return Err("tls: `cert` and `key` need each other".to_owned()),
    }
    Ok(Arc::new(config))
}

/// Trusts these roots and no others.
fn trusting(base: &ClientConfig, roots: &[String]) -> Result<ClientConfig, String> {
    let mut store = RootCertStore::empty();
    for pem in roots {
        for certificate in certificates(pem, "cacerts")? {
            store.add(certificate).map_err(|error| format!("tls cacerts: {error}"))?;
        }
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("tls: {error}"))?
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols.clone_from(&base.alpn_protocols);
    Ok(config)
}

fn identity(cert: &str, key: &str) -> Result<SingleCertAndKey, String> {
    let chain = certificates(cert, "cert")?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
        .map_err(|error| format!("tls key: it is no PEM of a private key: {error}"))?;
    let certified = CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider());
    let certified = certified.map_err(|error| format!("tls key: {error}"))?;
    Ok(SingleCertAndKey::from(certified))
}

fn certificates(pem: &str, what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let all = all.map_err(|error| format!("tls {what}: it is no PEM of certificates: {error}"))?;
    if all.is_empty() {
        return Err(format!("tls {what}: there is no certificate in it (PEM is expected)"));
    }
    Ok(all)
}
