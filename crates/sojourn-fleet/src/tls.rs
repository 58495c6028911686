//! TLS whose only authority is the join key: a certificate whose key pair is made of it.

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, PublicKeyData};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs::default_provider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, ServerConfig};
use rustls::{SignatureScheme, version::TLS13};

use crate::{FleetError, JoinKey};

/// The name in the certificate; nobody looks it up.
const NAME: &str = "sojourn-fleet";

/// What comes before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410, section 7).
const PKCS8_HEAD: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// The coordinator's side: a certificate of the key's pair.
pub(crate) fn server(key: &JoinKey) -> Result<Arc<ServerConfig>, FleetError> {
    let failed = |error: &dyn std::fmt::Display| FleetError::Tls(error.to_string());
    let pair = pair(key)?;
    let params = CertificateParams::new([NAME.to_owned()]).map_err(|it| failed(&it))?;
    let certificate = params.self_signed(&pair).map_err(|it| failed(&it))?.der().clone();
    let private = PrivatePkcs8KeyDer::from(pair.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(|it| failed(&it))?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], private.into())
        .map_err(|it| failed(&it))?;
    Ok(Arc::new(config))
}

/// A generator's side: trusts certificates of the key's pair and no other.
pub(crate) fn client(key: &JoinKey) -> Result<Arc<ClientConfig>, FleetError> {
    let provider = Arc::new(default_provider());
    let public = pair(key)?.subject_public_key_info();
    let pinned = Arc::new(Pinned { public, provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| FleetError::Tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn pair(key: &JoinKey) -> Result<KeyPair, FleetError> {
    let private = PrivatePkcs8KeyDer::from([&PKCS8_HEAD[..], &key.seed()[..]].concat());
    KeyPair::from_pkcs8_der_and_sign_algo(&private, &PKCS_ED25519)
        .map_err(|error| FleetError::Tls(error.to_string()))
}

/// The name that clients ask for.
pub(crate) fn name() -> Result<ServerName<'static>, FleetError> {
    ServerName::try_from(NAME).map_err(|error| FleetError::Tls(error.to_string()))
}

#[derive(Debug)]
struct Pinned {
    /// The public key as certificates have it.
    public: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = ParsedCertificate::try_from(end_entity)?.subject_public_key_info();
        match verify_slices_are_equal(&self.public, &shown) {
            Ok(()) => Ok(ServerCertVerified::assertion()),
            Err(_) => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("only TLS 1.3 is spoken".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
