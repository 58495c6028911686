//! The verifier for certificates that the caller names: they are trusted as roots, and a server's
//! own certificate is trusted too when it is one of them.
//!
//! Many test servers have a certificate that is its own root (`openssl req -x509` makes such). The
//! rules of the web refuse a root as a server's certificate; but who names exactly this certificate
//! means it. Its name and its dates are checked all the same.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// See the module.
#[derive(Debug)]
pub(super) struct AcceptNamed {
    rules: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl AcceptNamed {
    /// `rules` know `named` as roots already.
    pub(super) fn new(
        rules: Arc<WebPkiServerVerifier>,
        named: Vec<CertificateDer<'static>>,
    ) -> Self {
        Self { rules, named }
    }
}

impl ServerCertVerifier for AcceptNamed {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let by_rules = self.rules.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match by_rules {
            // The dates have been checked before that.
            Err(error) if is_a_root(&error) && self.named.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            decided => decided,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.rules.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.rules.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.rules.supported_verify_schemes()
    }
}

/// Whether all that is wrong is that a root came as the server's certificate. The library has no
/// case of its own for it, only this name.
fn is_a_root(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(why)) = error else {
        return false;
    };
    format!("{:?}", why.0) == "CaUsedAsEndEntity"
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
    use rustls::RootCertStore;
    use rustls::crypto::aws_lc_rs;

    use super::*;

    fn own_root(until_year: i32) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["here.example".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(until_year, 1, 1);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().clone()
    }

    fn verify(named: &CertificateDer<'static>, shown: &CertificateDer<'_>, name: &str) -> bool {
        let mut roots = RootCertStore::empty();
        roots.add(named.clone()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let rules = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = AcceptNamed::new(rules.build().unwrap(), vec![named.clone()]);
        let name = ServerName::try_from(name).unwrap();
        verifier.verify_server_cert(shown, &[], &name, &[], UnixTime::now()).is_ok()
    }

    #[test]
    fn a_named_certificate_is_trusted_for_its_name_and_in_its_time() {
        let own = own_root(4000);
        assert!(verify(&own, &own, "here.example"));
        assert!(!verify(&own, &own, "elsewhere.example"));
        assert!(!verify(&own, &own_root(4000), "here.example"));
        let past = own_root(2001);
        assert!(!verify(&past, &past, "here.example"));
    }
}
