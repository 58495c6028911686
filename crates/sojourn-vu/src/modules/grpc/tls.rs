//! TLS of a connection, from PEM texts that a script gives.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use sojourn_http::{TlsOptions, tls_settings};

use super::params::TlsParams;
use crate::private_key;

/// `base`, which `tls` has made, with what the script gives. The error says what can't be used.
pub(in crate::modules) fn config(
    base: Arc<ClientConfig>,
    params: Option<&TlsParams>,
    tls: &TlsOptions,
) -> Result<Arc<ClientConfig>, String> {
    let Some(params) = params else { return Ok(base) };
    let mut config = if params.roots.is_empty() || tls.insecure {
        ClientConfig::clone(&base)
    } else {
        trusting(tls, &params.roots, &base.alpn_protocols)?
    };
    match (&params.cert, &params.key) {
        (Some(cert), Some(key)) => {
            let key = private_key::decrypted(key, params.password.as_deref());
            let key = key.map_err(|problem| format!("tls key: {problem}"))?;
            config.client_auth_cert_resolver = Arc::new(identity(cert, &key)?);
        }
        (None, None) => {}
        _ => return Err("tls: `cert` and `key` need each other".to_owned()),
    }
    Ok(Arc::new(config))
}

/// Trusts these roots and no others; a server's own certificate too when it is one of them.
fn trusting(
    tls: &TlsOptions,
    roots: &[String],
    protocols: &[Vec<u8>],
) -> Result<ClientConfig, String> {
    let tls = TlsOptions { root_texts: roots.to_vec(), ..tls.clone() };
    let protocols: Vec<&[u8]> = protocols.iter().map(Vec::as_slice).collect();
    let made = tls_settings(&tls, &protocols).map_err(|error| format!("tls cacerts: {error}"))?;
    Ok(Arc::unwrap_or_clone(made))
}

fn identity(cert: &str, key: &str) -> Result<SingleCertAndKey, String> {
    let chain = certificates(cert)?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
        .map_err(|error| format!("tls key: it is no PEM of a private key: {error}"))?;
    let certified = CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider());
    let certified = certified.map_err(|error| format!("tls key: {error}"))?;
    Ok(SingleCertAndKey::from(certified))
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let all = all.map_err(|error| format!("tls cert: it is no PEM of certificates: {error}"))?;
    if all.is_empty() {
        return Err("tls cert: there is no certificate in it (PEM is expected)".to_owned());
    }
    Ok(all)
}
