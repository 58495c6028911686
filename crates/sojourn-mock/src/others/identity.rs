//! Who the mock is to TLS clients: a certificate of its own making, or a given one.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::client_certificates::AskAndAccept;

/// A certificate chain and its key.
pub struct TlsIdentity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// The certificate as PEM, for clients to trust, where it is of our own making.
    certificate_pem: Option<String>,
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// No certificate could be made.
    #[error("cannot make a certificate: {0}")]
    Made(#[from] rcgen::Error),
    /// A file holds none.
    #[error("{path}: {reason}")]
    File {
        /// Which file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl TlsIdentity {
    /// A self-signed certificate for `localhost`, the loopback addresses and `names`.
    ///
    /// # Errors
    /// A name that no certificate can have.
    pub fn self_signed(names: &[String]) -> Result<Self, IdentityError> {
        let usual = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let all: Vec<String> = usual.into_iter().chain(names.iter().cloned()).collect();
        let made = rcgen::generate_simple_self_signed(all)?;
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).map_err(|error| {
            IdentityError::File { path: "its key".into(), reason: error.into() }
        })?;
        Ok(Self {
            chain: vec![made.cert.der().clone()],
            key,
            certificate_pem: Some(made.cert.pem()),
        })
    }

    /// What two PEM files hold.
    ///
    /// # Errors
    /// A file that cannot be read or holds nothing of use.
    pub fn from_pem(certificates: &Path, key: &Path) -> Result<Self, IdentityError> {
        let wrong = |path: &Path, reason: String| IdentityError::File {
            path: path.display().to_string(),
            reason,
        };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificates)
            .and_then(Iterator::collect)
            .map_err(|error| wrong(certificates, error.to_string()))?;
        if chain.is_empty() {
            return Err(wrong(certificates, "no certificate in it (PEM is expected)".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(|it| wrong(key, it.to_string()))?;
        Ok(Self { chain, key, certificate_pem: None })
    }

    /// The certificate as PEM, where it is of our own making.
    pub fn certificate_pem(&self) -> Option<&str> {
        self.certificate_pem.as_deref()
    }

    /// How TLS is spoken: HTTP/2 or HTTP/1.1 by ALPN; a client's certificate is asked for, and none
    /// is refused.
    pub(super) fn server_config(&self) -> Result<Arc<ServerConfig>, rustls::Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(Arc::new(AskAndAccept::new(provider)))
            .with_single_cert(self.chain.clone(), self.key.clone_key())?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

impl std::fmt::Debug for TlsIdentity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.chain.len();
        formatter.debug_struct("TlsIdentity").field("certificates", &count).finish_non_exhaustive()
    }
}
