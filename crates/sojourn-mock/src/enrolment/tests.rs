//! What is issued is right by the eyes of others; what is no request is refused and nothing more.

use proptest::prelude::*;
use rcgen::{CertificateSigningRequest, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, SignatureAlgorithm};

use super::*;

fn request(algorithm: &'static SignatureAlgorithm) -> CertificateSigningRequest {
    let mut params = CertificateParams::new(["device.test".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, "device 7");
    params.distinguished_name.push(DnType::OrganizationName, "Fleet");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.serialize_request(&KeyPair::generate_for(algorithm).unwrap()).unwrap()
}

fn enrol(authority: &Authority, der: &[u8]) -> (u16, String) {
    let answer = authority.enrol(STANDARD.encode(der).as_bytes());
    let Body::Bytes(body) = answer.body() else { panic!("no bytes") };
    (answer.status(), String::from_utf8(body.to_vec()).unwrap())
}

#[test]
fn certificates_are_the_authoritys_and_have_what_was_asked_for() {
    let authority = Authority::new().unwrap();
    let (_, own) = X509Certificate::from_der(authority.issuer.der()).unwrap();
    assert!(own.is_ca());
    own.verify_signature(None).unwrap();
    let mut serials = Vec::new();
    let algorithms = [&rcgen::PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384, &PKCS_ED25519];
    for algorithm in algorithms {
        let request = request(algorithm);
        let (_, asked) = X509CertificationRequest::from_der(request.der()).unwrap();
        let asked = &asked.certification_request_info;
        // Twice for the same key: two certificates with numbers of their own.
        for _ in 0..2 {
            let der = authority.issue(STANDARD.encode(request.der()).as_bytes()).unwrap();
            let (rest, issued) = X509Certificate::from_der(&der).unwrap();
            issued.verify_signature(Some(own.public_key())).unwrap();
            assert!(rest.is_empty() && issued.validity().is_valid());
            let left = issued.validity().time_to_expiration().unwrap().whole_days();
            assert!((364..=365).contains(&left), "{left} days");
            assert_eq!(issued.issuer().as_raw(), own.subject().as_raw());
            assert_eq!(issued.subject().as_raw(), asked.subject.as_raw());
            assert_eq!(issued.public_key().raw, asked.subject_pki.raw);
            assert!(!issued.is_ca(), "an authority's powers are not for the asking");
            let names = issued.subject_alternative_name().unwrap().unwrap();
            assert_eq!(names.value.general_names.len(), 1);
            assert_eq!(subject(&der).unwrap(), "CN=device 7, O=Fleet");
            serials.push(issued.serial.clone());
        }
    }
    serials.sort();
    serials.dedup();
    assert_eq!(serials.len(), 2 * algorithms.len());
    assert_eq!(serials[0].to_bytes_be().len(), 16);
}

#[test]
fn what_is_no_request_is_refused_in_words() {
    let authority = Authority::new().unwrap();
    let good = request(&rcgen::PKCS_ECDSA_P256_SHA256).der().to_vec();
    let text = |message: Message| match message.body() {
        Body::Bytes(body) => String::from_utf8(body.to_vec()).unwrap(),
        Body::Repeated { .. } => String::new(),
    };
    let pem = authority.enrol(b"-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n");
    assert_eq!(pem.status(), 400);
    assert!(text(pem).contains("without the lines of PEM"));
    let long = authority.enrol(&[b'A'; REQUEST_MAX + 1]);
    assert_eq!((long.status(), text(long)), (413, "the body is longer than 65536 bytes\n".into()));
    for body in [&b""[..], b"AAAA", b"MIIB"] {
        let answer = authority.enrol(body);
        assert_eq!(answer.status(), 400, "{body:?}");
        assert!(text(answer).starts_with("the body is not a PKCS #10 request in DER: "));
    }
    let (status, why) = enrol(&authority, &[&good[..], b"more"].concat());
    assert_eq!((status, why.contains("4 bytes follow it")), (400, true), "{why}");
    // Another signature than the key's.
    let mut forged = good.clone();
    *forged.last_mut().unwrap() ^= 1;
    let (status, why) = enrol(&authority, &forged);
    assert_eq!((status, why.contains("signature")), (400, true), "{why}");
    for end in 0..good.len() {
        assert_eq!(enrol(&authority, &good[..end]).0, 400, "cut at {end}");
    }
}

/// What the signature is of. Around it the parser takes more than one way to write the same, as a
/// sequence's tag without the bit that says it is put together.
fn signed(request: &[u8]) -> Option<Vec<u8>> {
    let (_, request) = X509CertificationRequest::from_der(request).ok()?;
    Some(request.certification_request_info.raw.to_vec())
}

#[test]
fn no_byte_of_what_is_signed_can_be_another() {
    let authority = Authority::new().unwrap();
    let good = request(&rcgen::PKCS_ECDSA_P256_SHA256).der().to_vec();
    let mut refused = 0;
    for at in 0..good.len() {
        for other in 1..=u8::MAX {
            let mut wrong = good.clone();
            wrong[at] ^= other;
            match enrol(&authority, &wrong).0 {
                200 => assert_eq!(signed(&wrong), signed(&good), "byte {at} is {:#x}", wrong[at]),
                status => {
                    assert_eq!(status, 400, "byte {at} is {:#x}", wrong[at]);
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > good.len() * 250, "only {refused} were refused");
}

proptest! {
    #[test]
    fn nothing_that_is_sent_breaks_it(body in prop::collection::vec(any::<u8>(), 0..600)) {
        let authority = Authority::new().unwrap();
        prop_assert_eq!(authority.enrol(&body).status(), 400);
        prop_assert_eq!(enrol(&authority, &body).0, 400);
        let _text = subject(&body);
    }

    /// Bytes replaced, put in and taken out: nearly requests, and nearly certificates.
    #[test]
    fn nothing_that_is_nearly_right_breaks_it(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..6),
    ) {
        let authority = Authority::new().unwrap();
        let mut asked = request(&rcgen::PKCS_ECDSA_P256_SHA256).der().to_vec();
        let untouched = asked.clone();
        let mut certificate = authority.issuer.der().to_vec();
        for bytes in [&mut asked, &mut certificate] {
            for (place, byte, kind) in &edits {
                let at = place.index(bytes.len());
                match kind {
                    0 => bytes[at] = *byte,
                    1 => bytes.insert(at, *byte),
                    _ => drop(bytes.remove(at)),
                }
            }
        }
        match enrol(&authority, &asked).0 {
            200 => prop_assert_eq!(signed(&asked), signed(&untouched)),
            status => prop_assert!(status == 400 && asked != untouched, "{}", status),
        }
        let _text = subject(&certificate);
    }
}
