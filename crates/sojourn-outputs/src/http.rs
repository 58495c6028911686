//! Requests to receivers: POST, with a time limit, over connections that are kept.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use ureq::{
    Agent,
    tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig, TlsProvider},
};
use url::Url;

use crate::{failure::Failure, target::Endpoint};

/// How much of a receiver's words a text shows, characters.
const WORDS_MAX: usize = 200;
/// Most bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Whom a client trusts, and what it shows of itself.
#[derive(Clone, Debug, Default)]
pub struct Security {
    /// Certificates (PEM) that are trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// A certificate and its key (PEM), for servers that ask for one.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether any certificate will do.
    pub is_unverified: bool,
}

/// Posts to one server.
#[derive(Debug)]
pub struct Poster {
    agent: Agent,
    endpoint: Endpoint,
}

impl Poster {
    /// For this server.
    ///
    /// # Errors
    /// A file of certificates cannot be read; the text names it.
    pub fn new(endpoint: &Endpoint, security: &Security) -> Result<Self, String> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("sojourn/", env!("CARGO_PKG_VERSION")));
        if endpoint.url.scheme() == "https" {
            let roots = roots(security.ca_file.as_deref())?;
            let roots: Vec<_> =
                roots.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
            let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
            let tls = TlsConfig::builder()
                .provider(TlsProvider::Rustls)
                .unversioned_rustls_crypto_provider(provider)
                .client_cert(security.identity.as_ref().map(shown).transpose()?)
                .disable_verification(security.is_unverified)
                .root_certs(RootCerts::Specific(Arc::new(roots)));
            config = config.tls_config(tls.build());
        }
        Ok(Self { agent: config.build().new_agent(), endpoint: endpoint.clone() })
    }

    /// The server's URL with these segments after its own path.
    pub fn url(&self, path: &str) -> Url {
        let mut url = self.endpoint.url.clone();
        let folder = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{folder}{path}"));
        url
    }

    /// Posts; the answer's body if it is one of success.
    ///
    /// # Errors
    /// There is no answer in time, or it is none of success.
    pub fn post(
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
        let explain = |error| explain(path, &error);
        for certificate in CertificateDer::pem_file_iter(path).map_err(explain)? {
            roots.push(certificate.map_err(explain)?);
        }
    }
    Ok(roots)
}

/// What a client shows of itself: a chain of certificates and its key.
pub(crate) type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// An identity from its two files.
pub(crate) fn identity((chain, key): &(PathBuf, PathBuf)) -> Result<Identity, String> {
    let of_chain = |error| explain(chain, &error);
    let certificates = CertificateDer::pem_file_iter(chain).map_err(of_chain)?;
    let certificates: Result<Vec<_>, _> = certificates.collect();
    let certificates = certificates.map_err(of_chain)?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| explain(key, &error))?;
    Ok((certificates, key))
}

/// The same for the client of HTTP.
fn shown(files: &(PathBuf, PathBuf)) -> Result<ClientCert, String> {
    let (chain, _) = identity(files)?;
    let chain: Vec<_> = chain.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    let of_key = |error: &dyn std::fmt::Display| explain(&files.1, error);
    let pem = std::fs::read(&files.1).map_err(|error| of_key(&error))?;
    let key = PrivateKey::from_pem(&pem).map_err(|error| of_key(&error))?;
    Ok(ClientCert::new_with_certs(&chain, key))
}

fn explain(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
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
