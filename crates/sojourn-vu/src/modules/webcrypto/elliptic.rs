//! ECDSA and ECDH on the curves of NIST.
//!
//! A private key is (scalar, point), a public one a point (uncompressed, SEC 1).

use aws_lc_rs::agreement::{self, ECDH_P256, ECDH_P384, ECDH_P521, UnparsedPublicKey, agree};
use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING,
    ECDSA_P521_SHA512_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair as _,
};

use super::der::{self, BITS, OCTETS, SEQUENCE};
use super::evp::{Key, Scheme};
use super::{Problem, digest};

/// A key of both parts.
pub(super) struct Pair {
    pub(super) scalar: Vec<u8>,
    pub(super) point: Vec<u8>,
}

fn no_such_curve() -> Problem {
    Problem::not_supported("curves are P-256, P-384 and P-521")
}

/// The curve, for keys alone: what signs is in `evp`, where any hash goes.
fn curve(name: &str) -> Result<&'static EcdsaSigningAlgorithm, Problem> {
    Ok(match name {
        "P-256" => &ECDSA_P256_SHA256_FIXED_SIGNING,
        "P-384" => &ECDSA_P384_SHA384_FIXED_SIGNING,
        "P-521" => &ECDSA_P521_SHA512_FIXED_SIGNING,
        _ => return Err(no_such_curve()),
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
        _ => return Err(no_such_curve()),
    })
}

/// What keys say of their kind (RFC 5480), and the bytes of a coordinate.
fn kind(name: &str) -> Result<(&'static [u8], usize), Problem> {
    Ok(match name {
        "P-256" => (
            b"\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07",
            32,
        ),
        "P-384" => {
            (b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22", 48)
        }
        "P-521" => {
            (b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x23", 66)
        }
        _ => return Err(no_such_curve()),
    })
}

/// A point that is on the curve, and whole.
pub(super) fn from_raw(name: &str, point: &[u8]) -> Result<Vec<u8>, Problem> {
    if point.first() != Some(&4) {
        return Err(wrong(()));
    }
    let key = UnparsedPublicKey::new(ecdh(name)?, point);
    agreement::ParsedPublicKey::try_from(&key).map_err(wrong)?;
    Ok(point.to_vec())
}

/// The point of a public key of X.509.
pub(super) fn from_spki(name: &str, key: &[u8]) -> Result<Vec<u8>, Problem> {
    let (kind, size) = kind(name)?;
    let point = key.len().checked_sub(1 + 2 * size).map(|before| &key[before..]);
    let point = point.ok_or_else(|| wrong(()))?;
    if spki(kind, point) != key {
        return Err(wrong(()));
    }
    from_raw(name, point)
}

pub(super) fn to_spki(name: &str, point: &[u8]) -> Result<Vec<u8>, Problem> {
    Ok(spki(kind(name)?.0, point))
}

fn spki(kind: &[u8], point: &[u8]) -> Vec<u8> {
    let point = der::wrapped(BITS, &[&[0], point].concat());
    der::wrapped(SEQUENCE, &[kind, &point].concat())
}

/// A private key that signs: PKCS #8 of the number alone, from which the point follows.
fn signing_key(name: &str, scalar: &[u8]) -> Result<Key, Problem> {
    let own = [der::integer(&[1]), der::wrapped(OCTETS, scalar)].concat();
    let own = der::wrapped(OCTETS, &der::wrapped(SEQUENCE, &own));
    let key = der::wrapped(SEQUENCE, &[&der::integer(&[0]), kind(name)?.0, &own].concat());
    Key::private(&key).ok_or_else(|| wrong(()))
}

pub(super) fn sign(name: &str, hash: &str, scalar: &[u8], data: &[u8]) -> Result<Vec<u8>, Problem> {
    let digest = digest(hash, data)?;
    let signature = signing_key(name, scalar)?.sign(Scheme::Ecdsa, hash, &digest);
    let signature = signature.ok_or_else(|| Problem::operation("ECDSA can't sign this"))?;
    der::fixed(&signature, kind(name)?.1)
}

pub(super) fn verify(
    name: &str,
    hash: &str,
    point: &[u8],
    signature: &[u8],
    data: &[u8],
) -> Result<bool, Problem> {
    let digest = digest(hash, data)?;
    let key = Key::public(&to_spki(name, point)?).ok_or_else(|| wrong(()))?;
    let has_length = signature.len() == 2 * kind(name)?.1;
    Ok(has_length && key.verify(Scheme::Ecdsa, hash, &digest, &der::of_fixed(signature)))
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

    const CURVES: [(&str, usize); 3] = [("P-256", 32), ("P-384", 48), ("P-521", 66)];

    #[test]
    fn keys_go_out_and_come_back() {
        for (name, size) in CURVES {
            let one = generate(name).expect("made");
            let other = generate(name).expect("made");
            assert_eq!(one.point.len(), 1 + 2 * size);
            let der = to_pkcs8(name, &one.scalar, &one.point).expect("written");
            let again = from_pkcs8(name, &der).expect("read");
            assert_eq!((&again.scalar, &again.point), (&one.scalar, &one.point));
            let spki = to_spki(name, &one.point).expect("written");
            assert_eq!(from_spki(name, &spki).ok().as_ref(), Some(&one.point));
            assert_eq!(from_raw(name, &one.point).ok().as_ref(), Some(&one.point));
            assert!(from_raw(name, &spki).is_err() && from_spki(name, &one.point).is_err());
            for end in 0..spki.len() {
                assert!(from_spki(name, &spki[..end]).is_err());
            }
            let shared = derive(name, &one.scalar, &other.point).ok();
            assert!(shared.is_some() && shared == derive(name, &other.scalar, &one.point).ok());
        }
        assert!(generate("P-1").is_err() && from_raw("P-256", b"x").is_err());
    }

    #[test]
    fn any_hash_signs_on_any_curve() {
        for (name, size) in CURVES {
            let Pair { scalar, point } = generate(name).expect("made");
            for (hash, other) in [
                ("SHA-1", "SHA-256"),
                ("SHA-256", "SHA-384"),
                ("SHA-384", "SHA-512"),
                ("SHA-512", "SHA-1"),
            ] {
                let signed = sign(name, hash, &scalar, b"text").expect("signed");
                assert_eq!(signed.len(), 2 * size);
                let holds = |hash, signature: &[u8], data: &[u8]| {
                    verify(name, hash, &point, signature, data).expect("looked at")
                };
                assert!(holds(hash, &signed, b"text"));
                assert!(!holds(hash, &signed, b"other") && !holds(other, &signed, b"text"));
                for at in 0..signed.len() {
                    let mut changed = signed.clone();
                    changed[at] ^= 1;
                    assert!(!holds(hash, &changed, b"text"));
                }
                let zeros = vec![0; 2 * size];
                for wrong in [&[][..], &signed[1..], &[&signed[..], &[0]].concat(), &zeros] {
                    assert!(!holds(hash, wrong, b"text"));
                }
            }
            assert!(
                sign(name, "MD5", &scalar, b"").is_err_and(|it| it.name == "NotSupportedError")
            );
            for scalar in [&[][..], &[0; 66][..size], &[0xff; 66][..size], &[1; 90]] {
                assert!(sign(name, "SHA-1", scalar, b"").is_err_and(|it| it.name == "DataError"));
            }
        }
    }
}
