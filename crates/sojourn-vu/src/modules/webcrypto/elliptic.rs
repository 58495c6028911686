//! ECDSA and ECDH on the curves of NIST.
//!
//! A private key is (scalar, point), a public one a point (uncompressed, SEC 1).

use aws_lc_rs::agreement::{self, ECDH_P256, ECDH_P384, ECDH_P521, UnparsedPublicKey, agree};
use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED,
    ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA256_FIXED, ECDSA_P521_SHA256_FIXED_SIGNING,
    ECDSA_P521_SHA384_FIXED, ECDSA_P521_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED,
    ECDSA_P521_SHA512_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    EcdsaVerificationAlgorithm, KeyPair as _, ParsedPublicKey,
};

use super::Problem;

/// A key of both parts.
pub(super) struct Pair {
    pub(super) scalar: Vec<u8>,
    pub(super) point: Vec<u8>,
}

fn curve(name: &str) -> Result<&'static EcdsaSigningAlgorithm, Problem> {
    Ok(match name {
        "P-256" => &ECDSA_P256_SHA256_FIXED_SIGNING,
        "P-384" => &ECDSA_P384_SHA384_FIXED_SIGNING,
        "P-521" => &ECDSA_P521_SHA512_FIXED_SIGNING,
        _ => return Err(Problem::not_supported("curves are P-256, P-384 and P-521")),
    })
}

fn wrong<E>(_: E) -> Problem {
    Problem::data("the key is none of this curve")
}

fn pair(key: &EcdsaKeyPair) -> Result<Pair, Problem> {
    let scalar: EcPrivateKeyBin<'_> = key.private_key().as_be_bytes().map_err(wrong)?;
    Ok(Pair { scalar: scalar.as_ref().to_vec(), point: key.public_key().as_ref().to_vec() })
}

pub(super) fn generate(name: &str) -> Result<Pair, Problem> {
    let failed = |_| Problem::operation("no key can be made");
    pair(&EcdsaKeyPair::generate(curve(name)?).map_err(failed)?)
}

pub(super) fn from_pkcs8(name: &str, der: &[u8]) -> Result<Pair, Problem> {
    pair(&EcdsaKeyPair::from_pkcs8(curve(name)?, der).map_err(wrong)?)
}

pub(super) fn to_pkcs8(name: &str, scalar: &[u8], point: &[u8]) -> Result<Vec<u8>, Problem> {
    let key = EcdsaKeyPair::from_private_key_and_public_key(curve(name)?, scalar, point);
    Ok(key.map_err(wrong)?.to_pkcs8v1().map_err(wrong)?.as_ref().to_vec())
}

fn ecdh(name: &str) -> Result<&'static agreement::Algorithm, Problem> {
    Ok(match name {
        "P-256" => &ECDH_P256,
        "P-384" => &ECDH_P384,
        "P-521" => &ECDH_P521,
        _ => return Err(Problem::not_supported("curves are P-256, P-384 and P-521")),
    })
}

/// What stands before the point in a public key of X.509 (RFC 5480).
fn prefix(name: &str) -> Result<&'static [u8], Problem> {
    Ok(match name {
        "P-256" => {
            b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\
              \x03\x01\x07\x03\x42\x00"
        }
        "P-384" => {
            b"\x30\x76\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\
              \x00\x22\x03\x62\x00"
        }
        "P-521" => {
            b"\x30\x81\x9b\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\
              \x04\x00\x23\x03\x81\x86\x00"
        }
        _ => return Err(Problem::not_supported("curves are P-256, P-384 and P-521")),
    })
}

/// The point of a public key, which may also be given as X.509 has it.
pub(super) fn point(name: &str, key: &[u8]) -> Result<Vec<u8>, Problem> {
    let point = key.strip_prefix(prefix(name)?).unwrap_or(key);
    // Only whole points; that it is on the curve is looked at here too.
    if point.first() != Some(&4) {
        return Err(wrong(()));
    }
    let key = UnparsedPublicKey::new(ecdh(name)?, point);
    agreement::ParsedPublicKey::try_from(&key).map_err(wrong)?;
    Ok(point.to_vec())
}

pub(super) fn to_spki(name: &str, point: &[u8]) -> Result<Vec<u8>, Problem> {
    Ok([prefix(name)?, point].concat())
}

fn no_such_pair() -> Problem {
    let told = "ECDSA goes with P-256 and SHA-256, P-384 and SHA-384, P-521 and SHA-256, -384 or \
                -512 here";
    Problem::not_supported(told)
}

fn verification(name: &str, hash: &str) -> Result<&'static EcdsaVerificationAlgorithm, Problem> {
    Ok(match (name, hash) {
        ("P-256", "SHA-256") => &ECDSA_P256_SHA256_FIXED,
        ("P-384", "SHA-384") => &ECDSA_P384_SHA384_FIXED,
        ("P-521", "SHA-256") => &ECDSA_P521_SHA256_FIXED,
        ("P-521", "SHA-384") => &ECDSA_P521_SHA384_FIXED,
        ("P-521", "SHA-512") => &ECDSA_P521_SHA512_FIXED,
        _ => return Err(no_such_pair()),
    })
}

pub(super) fn sign(name: &str, hash: &str, key: &Pair, data: &[u8]) -> Result<Vec<u8>, Problem> {
    let algorithm = match (name, hash) {
        ("P-256", "SHA-256") => &ECDSA_P256_SHA256_FIXED_SIGNING,
        ("P-384", "SHA-384") => &ECDSA_P384_SHA384_FIXED_SIGNING,
        ("P-521", "SHA-256") => &ECDSA_P521_SHA256_FIXED_SIGNING,
        ("P-521", "SHA-384") => &ECDSA_P521_SHA384_FIXED_SIGNING,
        ("P-521", "SHA-512") => &ECDSA_P521_SHA512_FIXED_SIGNING,
        _ => return Err(no_such_pair()),
    };
    let pair = EcdsaKeyPair::from_private_key_and_public_key(algorithm, &key.scalar, &key.point);
    let failed = |_| Problem::operation("ECDSA can't sign this");
    Ok(pair.map_err(wrong)?.sign(&SystemRandom::new(), data).map_err(failed)?.as_ref().to_vec())
}

pub(super) fn verify(
    name: &str,
    hash: &str,
    point: &[u8],
    signature: &[u8],
    data: &[u8],
) -> Result<bool, Problem> {
    let key = ParsedPublicKey::new(verification(name, hash)?, point).map_err(wrong)?;
    Ok(key.verify_sig(data, signature).is_ok())
}

/// The secret that the key shares with whoever has the other one.
pub(super) fn derive(name: &str, scalar: &[u8], point: &[u8]) -> Result<Vec<u8>, Problem> {
    let algorithm = ecdh(name)?;
    let key = agreement::PrivateKey::from_private_key(algorithm, scalar).map_err(wrong)?;
    let other = UnparsedPublicKey::new(algorithm, point);
    agree(&key, other, wrong(()), |secret| Ok(secret.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_out_and_come_back() {
        for (name, hash) in [("P-256", "SHA-256"), ("P-384", "SHA-384"), ("P-521", "SHA-384")] {
            let one = generate(name).expect("made");
            let other = generate(name).expect("made");
            let size = [("P-256", 32), ("P-384", 48), ("P-521", 66)];
            let size = size.iter().find(|(known, _)| *known == name).expect("known").1;
            assert_eq!(one.point.len(), 1 + 2 * size);
            let der = to_pkcs8(name, &one.scalar, &one.point).expect("written");
            let again = from_pkcs8(name, &der).expect("read");
            assert_eq!((&again.scalar, &again.point), (&one.scalar, &one.point));
            let spki = to_spki(name, &one.point).expect("written");
            assert_eq!(point(name, &spki).ok().as_ref(), Some(&one.point));
            assert_eq!(point(name, &one.point).ok().as_ref(), Some(&one.point));
            let signed = sign(name, hash, &one, b"text").expect("signed");
            assert_eq!(signed.len(), 2 * size);
            assert_eq!(verify(name, hash, &one.point, &signed, b"text").ok(), Some(true));
            assert_eq!(verify(name, hash, &one.point, &signed, b"other").ok(), Some(false));
            let shared = derive(name, &one.scalar, &other.point).ok();
            assert!(shared.is_some() && shared == derive(name, &other.scalar, &one.point).ok());
        }
        assert!(generate("P-1").is_err() && point("P-256", b"x").is_err());
    }
}
