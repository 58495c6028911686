//! TLS whose only authority is the join key: a certificate made for the run, known by its hash.

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs::default_provider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, ServerConfig};
use rustls::{SignatureScheme, version::TLS13};

use crate::FleetError;

/// The name in the certificate; nobody looks it up.
const NAME: &str = "sojourn-fleet";

/// A certificate of this run, and its fingerprint.
pub(crate) fn server() -> Result<(Arc<ServerConfig>, [u8; 32]), FleetError> {
    let failed = |error: &dyn std::fmt::Display| FleetError::Tls(error.to_string());
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(|it| failed(&it))?;
    let certificate = made.cert.der().clone();
    let fingerprint = fingerprint(&certificate);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(|it| failed(&it))?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())
        .map_err(|it| failed(&it))?;
    Ok((Arc::new(config), fingerprint))
}

/// Trusts the certificate of this fingerprint and no other.
pub(crate) fn client(fingerprint: [u8; 32]) -> Result<Arc<ClientConfig>, FleetError> {
    let provider = Arc::new(default_provider());
    let pinned = Arc::new(Pinned { fingerprint, provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| FleetError::Tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// The name that clients ask for.
pub(crate) fn name() -> Result<ServerName<'static>, FleetError> {
    ServerName::try_from(NAME).map_err(|error| FleetError::Tls(error.to_string()))
}

fn fingerprint(certificate: &CertificateDer<'_>) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
    bytes
}

#[derive(Debug)]
struct Pinned {
    fingerprint: [u8; 32],
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
        match verify_slices_are_equal(&self.fingerprint, &fingerprint(end_entity)) {
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
