//! Enrolment over secure transport (EST, RFC 7030): hands out certificates to whoever asks.
//!
//! A certificate authority of the mock's own, made at its start and gone with it. It protects
//! nothing: it asks for no credentials, and what it issues is good for tests only.

mod pkcs7;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateSigningRequestParams, CertifiedIssuer, DnType,
    IsCa, KeyPair, KeyUsagePurpose, SerialNumber, SubjectPublicKeyInfo, date_time_ymd,
};
use sojourn_clock::{Anchor, now_ns};
use x509_parser::prelude::{FromDer as _, X509Certificate, X509CertificationRequest};

use crate::message::{Body, Message};

/// A request for a certificate is no longer, in Base64.
const REQUEST_MAX: usize = 64 * 1024;
/// Characters of a line of Base64 (RFC 2045, section 6.8).
const LINE_LENGTH: usize = 76;
/// A certificate is good from so long ago, for clients whose clocks are late.
const BEFORE: Duration = Duration::from_hours(1);
const VALID_FOR: Duration = Duration::from_hours(365 * 24);

/// Issues certificates.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// The first half of serial numbers: no two authorities have the same.
    own: [u8; 8],
    issued: AtomicU64,
    start: Anchor,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("the body is longer than {REQUEST_MAX} bytes")]
    TooLong,
    #[error("the body is not Base64: {0}; it is the request's DER, without the lines of PEM")]
    Base64(#[from] base64::DecodeError),
    #[error("the body is not a PKCS #10 request in DER: {0}")]
    NoRequest(String),
    #[error("cannot issue it: {0}; RSA, ECDSA (P-256, P-384) and Ed25519 keys are known")]
    NotIssued(#[from] rcgen::Error),
    #[error("cannot issue it: its subject names something twice, or in an unknown way")]
    OtherSubject,
}

impl Authority {
    /// An authority with a new key.
    ///
    /// # Errors
    /// No key or certificate could be made.
    pub(crate) fn new() -> io::Result<Self> {
        Self::made().map_err(io::Error::other)
    }

    fn made() -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "Sojourn mock authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let mut own = [0; 8];
        for (to, from) in own.iter_mut().zip(params.key_identifier(&key)) {
            *to = from;
        }
        // A serial number is positive and has no zeros before it.
        own[0] = own[0] & 0x7f | 0x40;
        let issuer = CertifiedIssuer::self_signed(params, key)?;
        Ok(Self { issuer, own, issued: AtomicU64::new(0), start: Anchor::now() })
    }

    /// The answer to a request for the authority's own certificate (RFC 7030, section 4.1).
    pub(crate) fn certificates(&self) -> Message {
        answer("application/pkcs7-mime", self.issuer.der())
    }

    /// The answer to a request for a certificate (RFC 7030, section 4.2).
    pub(crate) fn enrol(&self, body: &[u8]) -> Message {
        match self.issue(body) {
            Ok(der) => answer("application/pkcs7-mime; smime-type=certs-only", &der),
            Err(refusal) => {
                let status = if matches!(refusal, Refusal::TooLong) { 413 } else { 400 };
                let text = format!("{refusal}\n");
                Message::text(status, "text/plain; charset=utf-8", text.as_bytes())
            }
        }
    }

    /// A certificate (DER) as a request wants it, but for an authority's powers.
    fn issue(&self, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        if body.len() > REQUEST_MAX {
            return Err(Refusal::TooLong);
        }
        let text: Vec<u8> =
            body.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let der = STANDARD.decode(text)?;
        let (rest, request) = X509CertificationRequest::from_der(&der)
            .map_err(|error| Refusal::NoRequest(error.to_string()))?;
        if !rest.is_empty() {
            return Err(Refusal::NoRequest(format!("{} bytes follow it", rest.len())));
        }
        let info = &request.certification_request_info;
        let key = SubjectPublicKeyInfo::from_der(info.subject_pki.raw)?;
        // It also checks that who asks has the key.
        let mut params = CertificateSigningRequestParams::from_der(&der.as_slice().into())?.params;
        let now = date_time_ymd(1970, 1, 1) + Duration::from_nanos(self.start.unix_ns_at(now_ns()));
        (params.not_before, params.not_after) = (now - BEFORE, now + VALID_FOR);
        params.is_ca = IsCa::ExplicitNoCa;
        params.use_authority_key_identifier_extension = true;
        let number = self.issued.fetch_add(1, Ordering::Relaxed);
        let serial = [self.own, number.to_be_bytes()].concat();
        params.serial_number = Some(SerialNumber::from(serial));
        let issued = params.signed_by(&key, &self.issuer)?;
        let is_same = X509Certificate::from_der(issued.der())
            .is_ok_and(|(_, it)| it.subject().as_raw() == info.subject.as_raw());
        if is_same { Ok(issued.der().to_vec()) } else { Err(Refusal::OtherSubject) }
    }
}

/// A certificate's subject as text, `CN=…, O=…`; `None` where it cannot be read.
pub(crate) fn subject(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    Some(certificate.subject().to_string())
}

/// A certificate, PKCS #7 in lines of Base64.
fn answer(content_type: &str, certificate: &[u8]) -> Message {
    let encoded = STANDARD.encode(pkcs7::certs_only(certificate));
    let lines: Vec<&[u8]> = encoded.as_bytes().chunks(LINE_LENGTH).collect();
    let mut body = lines.join(&b"\r\n"[..]);
    body.extend_from_slice(b"\r\n");
    let headers = [
        ("content-type", content_type.as_bytes()),
        ("content-transfer-encoding", b"base64".as_slice()),
    ];
    Message::new(200, headers, Body::Bytes(body.into()))
}

#[cfg(test)]
mod tests;
