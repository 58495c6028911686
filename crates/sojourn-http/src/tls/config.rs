//! The settings of a client's TLS connections.

use std::io;
use std::sync::Arc;

use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, KeyLogFile, RootCertStore};

use super::configs::{preferred, showing};
use super::insecure::AcceptAll;
use super::named::AcceptNamed;
use super::{TlsFiles, TlsOptions, suites};
use crate::client::Http2;

/// The settings of every TLS connection of a client: trust and identity, and which version of HTTP
/// by ALPN.
pub(super) fn tls_config(
    options: &TlsOptions,
    files: &TlsFiles,
    http2: Http2,
) -> Result<Arc<ClientConfig>, rustls::Error> {
    let protocols: &[&[u8]] = match http2 {
        Http2::Alpn => &[b"h2", b"http/1.1"],
        Http2::Off => &[b"http/1.1"],
        Http2::PriorKnowledge => &[b"h2"],
    };
    settings(options, files, protocols).map(Arc::new)
}

/// The settings of TLS connections that carry something else than this crate's HTTP, under the same
/// rules; `protocols` are offered by ALPN.
///
/// # Errors
/// A file can't be read or holds nothing of use; the text names it.
pub fn tls_settings(options: &TlsOptions, protocols: &[&[u8]]) -> io::Result<Arc<ClientConfig>> {
    let files = TlsFiles::read(options)?;
    settings(options, &files, protocols).map(Arc::new).map_err(io::Error::other)
}

/// The same for connections to one host, which may be shown a certificate of its own.
///
/// # Errors
/// As [`tls_settings`].
pub fn tls_settings_for(
    options: &TlsOptions,
    protocols: &[&[u8]],
    host: &str,
) -> io::Result<Arc<ClientConfig>> {
    let files = TlsFiles::read(options)?;
    let common = settings(options, &files, protocols).map_err(io::Error::other)?;
    Ok(match preferred(options, host) {
        Some(place) => showing(&common, &files, place),
        None => Arc::new(common),
    })
}

/// Whom to trust (the system's roots, or Mozilla's where there are none, unless the files say
/// otherwise), and who to be.
fn settings(
    options: &TlsOptions,
    files: &TlsFiles,
    protocols: &[&[u8]],
) -> Result<ClientConfig, rustls::Error> {
    let (provider, versions) = suites::chosen(options)?;
    let provider = Arc::new(provider);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)?;
    let builder = if options.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAll::new(provider)))
    } else {
        let named: Vec<_> = files.roots.iter().flatten().chain(&files.extra_roots).collect();
        if named.is_empty() || options.roots_only {
            builder.with_root_certificates(roots(files))
        } else {
            let named = named.into_iter().cloned().collect();
            let rules = WebPkiServerVerifier::builder_with_provider(roots(files).into(), provider)
                .build()
                .map_err(|error| rustls::Error::General(error.to_string()))?;
            let verifier = Arc::new(AcceptNamed::new(rules, named));
            builder.dangerous().with_custom_certificate_verifier(verifier)
        }
    };
    let mut config = match &files.identity {
        Some(identity) => {
            let identity = SingleCertAndKey::from(Arc::clone(identity));
            builder.with_client_cert_resolver(Arc::new(identity))
        }
        None => builder.with_no_client_auth(),
    };
    if !options.resumption {
        config.resumption = Resumption::disabled();
    }
    if options.key_log {
        config.key_log = Arc::new(KeyLogFile::new());
    }
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(config)
}

fn roots(files: &TlsFiles) -> RootCertStore {
    let mut store = RootCertStore::empty();
    match &files.roots {
        Some(roots) => {
            store.add_parsable_certificates(roots.iter().cloned());
        }
        None => {
            let native = rustls_native_certs::load_native_certs();
            store.add_parsable_certificates(native.certs);
            if store.is_empty() {
                store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            }
        }
    }
    store.add_parsable_certificates(files.extra_roots.iter().cloned());
    store
}
