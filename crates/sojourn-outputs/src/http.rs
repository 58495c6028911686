//! Requests to receivers: POST, with a time limit, over connections that are kept.

use std::{path::Path, sync::Arc, time::Duration};

use rustls::pki_types::{CertificateDer, pem::PemObject};
use ureq::{
    Agent,
    tls::{Certificate, RootCerts, TlsConfig, TlsProvider},
};
use url::Url;

use crate::{failure::Failure, target::Endpoint};

/// How much of a receiver's words a text shows, characters.
const WORDS_MAX: usize = 200;
/// Most bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Posts to one server.
#[derive(Debug)]
pub(crate) struct Poster {
    agent: Agent,
    endpoint: Endpoint,
}

impl Poster {
    /// For this server; certificates are verified against the system's and `ca_file`'s.
    pub(crate) fn new(endpoint: &Endpoint, ca_file: Option<&Path>) -> Result<Self, String> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("sojourn/", env!("CARGO_PKG_VERSION")));
        if endpoint.url.scheme() == "https" {
            let roots = roots(ca_file)?;
            let roots: Vec<_> =
                roots.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
            let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
            let tls = TlsConfig::builder()
                .provider(TlsProvider::Rustls)
                .unversioned_rustls_crypto_provider(provider)
                .root_certs(RootCerts::Specific(Arc::new(roots)));
            config = config.tls_config(tls.build());
        }
        Ok(Self { agent: config.build().new_agent(), endpoint: endpoint.clone() })
    }

    /// The server's URL with these segments after its own path.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.endpoint.url.clone();
        let folder = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{folder}{path}"));
        url
    }

    /// Posts; the answer's body if it is one of success.
    pub(crate) fn post(
        &self,
        url: &Url,
        headers: &[(&str, &str)],
        body: &[u8],
        timeout: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let mut request = self.agent.post(url.as_str());
        for (name, value) in headers.iter().copied().chain(self.endpoint.credentials.headers()) {
            request = request.header(name, value);
        }
        let request = request.config().timeout_global(Some(timeout)).build();
        let mut answer = request.send(body).map_err(|error| again(&error))?;
        let status = answer.status();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        if status.is_success() {
            return body.map_err(|error| again(&error));
        }
        let words = body.map(|body| words(&body)).unwrap_or_default();
        let words = format!("the receiver answers {}{words}", status.as_u16());
        Err(match status.as_u16() {
            408 | 429 | 500..=599 => Failure::Again(words),
            _ => Failure::Never(words),
        })
    }
}

/// The certificates that are trusted.
pub(crate) fn roots(ca_file: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, String> {
    // Those that cannot be read are not trusted; a server of theirs is refused by name.
    let mut roots = rustls_native_certs::load_native_certs().certs;
    if let Some(path) = ca_file {
        let explain = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| explain(&error))? {
            roots.push(certificate.map_err(|error| explain(&error))?);
        }
    }
    Ok(roots)
}

fn again(error: &ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Again("no answer in time".to_owned()),
        error => Failure::Again(error.to_string()),
    }
}

/// What a receiver says, in one line.
fn words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(WORDS_MAX)
        .collect();
    if text.is_empty() { text } else { format!(": {text}") }
}
