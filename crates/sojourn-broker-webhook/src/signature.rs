//! Whether a request was signed by who knows the secret.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sojourn_broker::BrokerError;
use sojourn_plan::WebhookSignature;

/// Signatures of one header that are looked at: senders list one for each of a few keys.
const SIGNATURES_MAX: usize = 16;
/// Nanoseconds of a second, the unit of timestamps.
const SECOND_NS: u64 = 1_000_000_000;

/// Verifies requests; says in words what is wrong with one, never what would be right.
pub(crate) struct Verifier {
    key: hmac::Key,
    scheme: Scheme,
}

enum Scheme {
    Standard { tolerance_ns: u64 },
    Hmac { header: String, prefix: String, base64: bool },
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verifier")
    }
}

impl Verifier {
    /// From a channel's settings. Errs when a secret is not what its scheme wants.
    pub(crate) fn new(signature: &WebhookSignature) -> Result<Self, BrokerError> {
        let (key, scheme) = match signature {
            WebhookSignature::Standard { secret, tolerance_ns } => {
                let encoded = secret.reveal().strip_prefix("whsec_");
                let key = encoded.and_then(|encoded| BASE64.decode(encoded).ok());
                let key = key.ok_or_else(|| {
                    BrokerError::new("webhook: not a secret of Standard Webhooks")
                        .with_hint("it is `whsec_` and base64")
                })?;
                (key, Scheme::Standard { tolerance_ns: *tolerance_ns })
            }
            WebhookSignature::Hmac { header, prefix, secret, base64 } => {
                let (header, prefix) = (header.clone(), prefix.clone());
                let scheme = Scheme::Hmac { header, prefix, base64: *base64 };
                (secret.reveal().as_bytes().to_vec(), scheme)
            }
        };
        Ok(Self { key: hmac::Key::new(hmac::HMAC_SHA256, &key), scheme })
    }

    /// Whether a request may be believed, at this wall time (nanoseconds since the Unix epoch).
    pub(crate) fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        unix_ns: u64,
    ) -> Result<(), &'static str> {
        match &self.scheme {
            Scheme::Standard { tolerance_ns } => {
                self.standard(headers, body, unix_ns, *tolerance_ns)
            }
            Scheme::Hmac { header, prefix, base64 } => {
                let value = one(headers, header).map_err(|()| "no signature, or several")?;
                let written = value.strip_prefix(prefix.as_bytes());
                let written = written.ok_or("the signature lacks its prefix")?;
                let claimed = match base64 {
                    true => BASE64.decode(written).ok(),
                    false => from_hex(written),
                };
                let claimed = claimed.ok_or("the signature is not written as agreed")?;
                self.is_signature(&[body], &claimed).then_some(()).ok_or("the signature is wrong")
            }
        }
    }

    fn standard(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        unix_ns: u64,
        tolerance_ns: u64,
    ) -> Result<(), &'static str> {
        let part = |name| one(headers, name).map_err(|()| "a header of the signature is missing");
        let (id, timestamp) = (part("webhook-id")?, part("webhook-timestamp")?);
        let signatures = part("webhook-signature")?;
        let seconds: u64 = std::str::from_utf8(timestamp)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or("the timestamp is not a number of seconds")?;
        // Checked after the signature: what a stranger claims is a wrong signature, not a late one.
        let is_timely = seconds.saturating_mul(SECOND_NS).abs_diff(unix_ns) <= tolerance_ns;
        let claims = signatures.split(|byte| *byte == b' ').take(SIGNATURES_MAX);
        let mut claimed = claims
            .filter_map(|claim| claim.strip_prefix(b"v1,"))
            .filter_map(|encoded| BASE64.decode(encoded).ok());
        let signed = [id, b".", timestamp, b".", body];
        if !claimed.any(|claimed| self.is_signature(&signed, &claimed)) {
            return Err("the signature is wrong");
        }
        is_timely.then_some(()).ok_or("the timestamp is too far from this machine's time")
    }

    /// Whether this is the parts' signature, in a time that does not depend on where it differs.
    fn is_signature(&self, parts: &[&[u8]], claimed: &[u8]) -> bool {
        let mut context = hmac::Context::with_key(&self.key);
        for part in parts {
            context.update(part);
        }
        verify_slices_are_equal(context.sign().as_ref(), claimed).is_ok()
    }
}

/// The header's only value.
fn one<'h>(headers: &'h HeaderMap, name: &str) -> Result<&'h [u8], ()> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(value.as_bytes()),
        _ => Err(()),
    }
}

fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, []) = text.as_chunks::<2>() else {
        return None;
    };
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
