//! Until when a certificate is valid, and who vouches for it: the fields of X.509 that are asked
//! for.
//!
//! Walks the DER of RFC 5280, section 4.1, up to `tbsCertificate.validity.notAfter`; everything
//! before it is skipped by its length.

const SEQUENCE: u8 = 0x30;
const EXPLICIT_VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// A certificate's `notAfter` in UTC, to the minute: `2031-05-06 23:59`. `None` where the bytes are
/// no certificate that says it.
pub(crate) fn not_after(der: &[u8]) -> Option<String> {
    let (_, _, rest) = next(from_issuer(der)?)?;
    let (validity, _) = element(rest, SEQUENCE)?;
    let (_, _, not_after) = next(validity)?;
    let (tag, content, _) = next(not_after)?;
    time(tag, std::str::from_utf8(content).ok()?)
}

/// The distinguished name of who has signed it, DER.
pub(super) fn issuer(der: &[u8]) -> Option<&[u8]> {
    let from = from_issuer(der)?;
    let (_, _, rest) = next(from)?;
    from.get(..from.len() - rest.len())
}

/// What follows serial number and signature algorithm.
fn from_issuer(der: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut rest, _) = element(certificate, SEQUENCE)?;
    if rest.first() == Some(&EXPLICIT_VERSION) {
        rest = next(rest)?.2;
    }
    for _ in 0..2 {
        rest = next(rest)?.2;
    }
    Some(rest)
}

/// `YYMMDDHHMMSSZ` of 1950 to 2049, or `YYYYMMDDHHMMSSZ` (RFC 5280, sections 4.1.2.5.1 and 2).
fn time(tag: u8, text: &str) -> Option<String> {
    let digits = text.strip_suffix('Z')?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let full = match (tag, digits.len()) {
        (UTC_TIME, 12) if digits < "5" => format!("20{digits}"),
        (UTC_TIME, 12) => format!("19{digits}"),
        (GENERALIZED_TIME, 14) => digits.to_owned(),
        _ => return None,
    };
    let part = |from: usize, to: usize| full.get(from..to);
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    Some(format!("{year}-{month}-{day} {}:{}", part(8, 10)?, part(10, 12)?))
}

/// The content of an element of this tag at the front, and what follows it.
fn element(der: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = next(der)?;
    (tag == wanted).then_some((content, rest))
}

/// The element at the front: its tag, its content, and what follows it.
fn next(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let length = bytes.iter().try_fold(0_usize, |length, &byte| {
                Some(length.checked_mul(256)? + usize::from(byte))
            })?;
            (length, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(year: i32) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).expect("a name");
        params.not_after = rcgen::date_time_ymd(year, 5, 6);
        let key = rcgen::KeyPair::generate().expect("a key");
        params.self_signed(&key).expect("a certificate").der().to_vec()
    }

    #[test]
    fn the_end_is_read_in_both_forms() {
        assert_eq!(not_after(&certificate(2031)).as_deref(), Some("2031-05-06 00:00"));
        assert_eq!(not_after(&certificate(2077)).as_deref(), Some("2077-05-06 00:00"));
        assert_eq!(time(UTC_TIME, "990131235959Z").as_deref(), Some("1999-01-31 23:59"));
    }

    #[test]
    fn what_is_cut_off_or_no_certificate_has_no_end() {
        let whole = certificate(2031);
        for length in 0..whole.len() {
            assert_eq!(not_after(&whole[..length]), None, "{length}");
        }
        for wrong in ["", "310506000000", "31050600000xZ", "3105060000Z"] {
            assert_eq!(time(UTC_TIME, wrong), None, "{wrong}");
        }
        assert_eq!(next(&[SEQUENCE, 0x80]), None);
        assert_eq!(next(&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
