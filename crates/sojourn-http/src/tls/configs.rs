//! The settings of a client's TLS connections, made when they are first needed: one set, and one
//! more for each certificate that certain hosts are shown first.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::ClientConfig;

use super::config::tls_config;
use super::identities::Identities;
use super::{TlsFiles, TlsOptions};
use crate::client::Http2;

/// See the module's page.
#[derive(Default)]
pub(crate) struct TlsConfigs {
    common: Option<Arc<ClientConfig>>,
    /// By the certificate's place in [`TlsOptions::host_certificates`].
    own: HashMap<usize, Arc<ClientConfig>>,
}

impl TlsConfigs {
    /// The settings for connections to a host. The arguments but the last are always the same.
    pub(crate) fn of(
        &mut self,
        options: &TlsOptions,
        files: &TlsFiles,
        http2: Http2,
        host: &str,
    ) -> Result<Arc<ClientConfig>, rustls::Error> {
        let common = match &self.common {
            Some(common) => Arc::clone(common),
            None => Arc::clone(self.common.insert(tls_config(options, files, http2)?)),
        };
        let Some(place) = preferred(options, host) else { return Ok(common) };
        let own = self.own.entry(place);
        Ok(Arc::clone(own.or_insert_with(|| showing(&common, files, place))))
    }
}

/// The place of the certificate that this host is shown first, where there are any.
pub(super) fn preferred(options: &TlsOptions, host: &str) -> Option<usize> {
    let all = &options.host_certificates;
    let fitting = all.iter().position(|own| own.fits(host));
    (!all.is_empty()).then(|| fitting.unwrap_or(0))
}

/// The same settings with the certificates for hosts, that of this place first.
pub(super) fn showing(common: &ClientConfig, files: &TlsFiles, place: usize) -> Arc<ClientConfig> {
    let mut all = files.of_hosts.clone();
    if place < all.len() {
        all[..=place].rotate_right(1);
    }
    let mut own = common.clone();
    own.client_auth_cert_resolver = Arc::new(Identities(all));
    Arc::new(own)
}
