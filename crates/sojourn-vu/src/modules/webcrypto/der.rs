//! As much of DER (X.690) as is needed for keys of RSA in JSON (RFC 7518 §6.3), and for keys and
//! signatures of curves.

use super::Problem;

const INTEGER: u8 = 0x02;
pub(super) const BITS: u8 = 0x03;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const SEQUENCE: u8 = 0x30;

/// rsaEncryption, without parameters.
const RSA: [u8; 15] =
    [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

fn wrong() -> Problem {
    Problem::data("the key is none of this algorithm")
}

/// The content of the element that a text begins with, and what follows it.
pub(super) fn element(tag: u8, der: &[u8]) -> Result<(&[u8], &[u8]), Problem> {
    let (first, rest) = der.split_first().filter(|(first, _)| **first == tag).ok_or_else(wrong)?;
    debug_assert_eq!(*first, tag);
    let (length, rest) = rest.split_first().ok_or_else(wrong)?;
    let (length, rest) = if *length < 0x80 {
        (usize::from(*length), rest)
    } else {
        let bytes = usize::from(length & 0x7f);
        let (bytes, rest) = rest.split_at_checked(bytes).ok_or_else(wrong)?;
        if bytes.len() > 4 {
            return Err(wrong());
        }
        (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    rest.split_at_checked(length).ok_or_else(wrong)
}

/// The integers of a sequence, without leading zeros.
fn integers(mut der: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
    let mut all = Vec::new();
    while !der.is_empty() {
        let (integer, rest) = element(INTEGER, der)?;
        let zeros = integer.iter().take_while(|byte| **byte == 0).count();
        all.push(integer[zeros..].to_vec());
        der = rest;
    }
    Ok(all)
}

/// n and e of a public key (SPKI); n, e, d, p, q, dp, dq, qi of a private one (PKCS #8).
pub(super) fn numbers(der: &[u8], is_private: bool) -> Result<Vec<Vec<u8>>, Problem> {
    let (key, behind) = element(SEQUENCE, der)?;
    if !behind.is_empty() {
        return Err(wrong());
    }
    if !is_private {
        let (_, key) = element(SEQUENCE, key)?;
        let (bits, _) = element(BITS, key)?;
        let (key, _) = element(SEQUENCE, bits.get(1..).ok_or_else(wrong)?)?;
        return integers(key);
    }
    let (_, key) = element(INTEGER, key)?;
    let (_, key) = element(SEQUENCE, key)?;
    let (octets, _) = element(OCTETS, key)?;
    let (key, _) = element(SEQUENCE, octets)?;
    // The first is the version.
    let all = integers(key)?;
    all.get(1..9).map(<[Vec<u8>]>::to_vec).ok_or_else(wrong)
}

/// An element with this content.
pub(super) fn wrapped(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let zeros = length.iter().take_while(|byte| **byte == 0).count();
    let mut out = vec![tag];
    match content.len() {
        short @ 0..0x80 => out.push(short as u8),
        _ => {
            out.push(0x80 | (length.len() - zeros) as u8);
            out.extend_from_slice(&length[zeros..]);
        }
    }
    out.extend_from_slice(content);
    out
}

pub(super) fn integer(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = &number[zeros..];
    // A first bit would be a sign.
    let is_high = number.first().is_none_or(|byte| byte & 0x80 != 0);
    let mut content = if is_high { vec![0] } else { Vec::new() };
    content.extend_from_slice(number);
    wrapped(INTEGER, &content)
}

/// The key of these numbers: SPKI of two, PKCS #8 of eight.
pub(super) fn key(numbers: &[Vec<u8>]) -> Vec<u8> {
    let mut content = if numbers.len() > 2 { integer(&[0]) } else { Vec::new() };
    content.extend(numbers.iter().flat_map(|number| integer(number)));
    let own = wrapped(SEQUENCE, &content);
    let mut out = Vec::new();
    if numbers.len() > 2 {
        out.extend(integer(&[0]));
        out.extend(RSA);
        out.extend(wrapped(OCTETS, &own));
    } else {
        out.extend(RSA);
        out.extend(wrapped(BITS, &[&[0], &own[..]].concat()));
    }
    wrapped(SEQUENCE, &out)
}

/// A signature of ECDSA as WebCrypto has it: r and s, each of so many bytes.
pub(super) fn fixed(signature: &[u8], size: usize) -> Result<Vec<u8>, Problem> {
    let (numbers, _) = element(SEQUENCE, signature)?;
    let mut out = Vec::with_capacity(2 * size);
    for number in integers(numbers)? {
        let zeros = size.checked_sub(number.len()).ok_or_else(wrong)?;
        out.resize(out.len() + zeros, 0);
        out.extend(number);
    }
    Ok(out)
}

/// The sequence of both numbers of such a signature.
pub(super) fn of_fixed(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(signature.len() / 2);
    wrapped(SEQUENCE, &[integer(r), integer(s)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_both_ways() {
        let fixed_one = [0, 0, 7, 0x80, 0, 0];
        let der = of_fixed(&fixed_one);
        assert_eq!(der, [0x30, 9, 2, 1, 7, 2, 4, 0, 0x80, 0, 0]);
        assert_eq!(fixed(&der, 3).ok().as_deref(), Some(&fixed_one[..]));
        assert!(fixed(&der, 2).is_err() && fixed(&der[1..], 3).is_err());
        assert_eq!(of_fixed(&[0, 0]), [0x30, 6, 2, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn keys_come_back() {
        let private = super::super::rsa::generate(2048).expect("made");
        let public = super::super::rsa::public(&private).expect("read");
        let all = numbers(&private, true).expect("numbers");
        assert_eq!(numbers(&public, false).ok().as_deref(), Some(&all[..2]));
        assert_eq!(key(&all), private);
        assert_eq!(key(&all[..2]), public);
        for end in 0..60 {
            assert!(numbers(&private[..end], true).is_err());
        }
        for (key, is_private) in [(private, true), (public, false)] {
            assert!(
                numbers(&[&key[..], &[0]].concat(), is_private).is_err(),
                "something behind it"
            );
        }
    }
}
