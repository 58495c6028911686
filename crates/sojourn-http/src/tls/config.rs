//! Whom to trust.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::insecure::AcceptAll;
use crate::client::Http2;

/// Reads the certificates of a PEM file. Errors name the file.
pub(crate) fn extra_roots(file: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let invalid = |error: &dyn std::fmt::Display| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("certificates of {}: {error}", file.display()),
        )
    };
    let certificates = CertificateDer::pem_file_iter(file)
        .map_err(|error| invalid(&error))?
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| invalid(&error))?;
    if certificates.is_empty() {
        return Err(invalid(&"no certificate in it (PEM is expected)"));
    }
    // Checked here, so that a bad file is an error at the beginning and not at the first request.
    let mut store = RootCertStore::empty();
    for certificate in &certificates {
        store.add(certificate.clone()).map_err(|error| invalid(&error))?;
    }
    Ok(certificates)
}

/// The settings of every TLS connection of a client: the system's roots (Mozilla's where there are
/// none) and `extra_roots`; by ALPN HTTP/1.1, HTTP/2 or both; sessions resumed.
pub(crate) fn tls_config(
    extra_roots: &[CertificateDer<'static>],
    insecure: bool,
    http2: Http2,
) -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let mut config = if insecure {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptAll::new(provider)))
            .with_no_client_auth()
    } else {
        builder.with_root_certificates(roots(extra_roots)).with_no_client_auth()
    };
    let protocols: &[&[u8]] = match http2 {
        Http2::Alpn => &[b"h2", b"http/1.1"],
        Http2::Off => &[b"http/1.1"],
        Http2::PriorKnowledge => &[b"h2"],
    };
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(Arc::new(config))
}

fn roots(extra_roots: &[CertificateDer<'static>]) -> RootCertStore {
    let mut store = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(native.certs);
    if store.is_empty() {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    store.add_parsable_certificates(extra_roots.iter().cloned());
    store
}
