//! RSA: OAEP, PSS, PKCS #1 v1.5.
//!
//! A private key is PKCS #8, a public one X.509's (SPKI), both DER.

use std::ops::RangeInclusive;

use super::evp::{Key, Scheme};
use super::{Problem, der, digest, digest_name};

/// Sizes of keys that are made. Smaller ones are broken; larger ones the library can't use.
const BITS: RangeInclusive<u32> = 1024..=16384;
/// They are made in steps of so many bits.
const STEP_BITS: u32 = 128;

fn wrong() -> Problem {
    Problem::data("the key is none of RSA, or its numbers don't belong together")
}

fn private_key(der: &[u8]) -> Result<Key, Problem> {
    Key::private(der).ok_or_else(wrong)
}

fn public_key(der: &[u8]) -> Result<Key, Problem> {
    Key::public(der).ok_or_else(wrong)
}

/// A new key.
pub(super) fn generate(bits: u32) -> Result<Vec<u8>, Problem> {
    if !BITS.contains(&bits) || !bits.is_multiple_of(STEP_BITS) {
        return Err(Problem::operation(
            "keys of RSA are made of 1024 to 16384 bits, in steps of 128",
        ));
    }
    let der = Key::generate_rsa(bits).and_then(|key| key.to_pkcs8());
    der.ok_or_else(|| Problem::operation("no key can be made"))
}

/// The public part of a private key, whose numbers are looked at.
pub(super) fn public(private: &[u8]) -> Result<Vec<u8>, Problem> {
    private_key(private)?;
    let numbers = der::numbers(private, true)?;
    Ok(der::key(&numbers[..2]))
}

/// Whether this is a public key; its bits.
pub(super) fn bits(public: &[u8]) -> Result<usize, Problem> {
    Ok(public_key(public)?.bits())
}

/// PSS with a salt of so many bytes, else PKCS #1 v1.5.
fn scheme(salt_bytes: Option<u32>) -> Scheme {
    salt_bytes.map_or(Scheme::Pkcs1, |salt_bytes| Scheme::Pss { salt_bytes })
}

pub(super) fn sign(
    private: &[u8],
    salt_bytes: Option<u32>,
    hash: &str,
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    let digest = digest(hash, data)?;
    let signature = private_key(private)?.sign(scheme(salt_bytes), hash, &digest);
    let told = "RSA can't sign this: hash and salt may be too long for the key";
    signature.ok_or_else(|| Problem::operation(told))
}

pub(super) fn verify(
    public: &[u8],
    salt_bytes: Option<u32>,
    hash: &str,
    signature: &[u8],
    data: &[u8],
) -> Result<bool, Problem> {
    let digest = digest(hash, data)?;
    Ok(public_key(public)?.verify(scheme(salt_bytes), hash, &digest, signature))
}

pub(super) fn encrypt(
    public: &[u8],
    hash: &str,
    label: &[u8],
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    digest_name(hash)?;
    let sealed = public_key(public)?.encrypt(hash, label, data);
    sealed.ok_or_else(|| Problem::operation("RSA-OAEP can't encrypt this: it may be too long"))
}

pub(super) fn decrypt(
    private: &[u8],
    hash: &str,
    label: &[u8],
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    digest_name(hash)?;
    let plain = private_key(private)?.decrypt(hash, label, data);
    plain.ok_or_else(|| Problem::operation("RSA-OAEP can't decrypt this"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASHES: [(&str, u32); 4] =
        [("SHA-1", 20), ("SHA-256", 32), ("SHA-384", 48), ("SHA-512", 64)];

    /// A key, its public part.
    fn pair(bits: u32) -> (Vec<u8>, Vec<u8>) {
        let private = generate(bits).expect("made");
        let public = public(&private).expect("read");
        (private, public)
    }

    #[test]
    fn what_is_signed_is_verified_and_nothing_else() {
        let (private, public) = pair(2048);
        assert_eq!(bits(&public).ok(), Some(2048));
        let holds = |salt, hash: &str, signature: &[u8], data: &[u8]| {
            verify(&public, salt, hash, signature, data).expect("looked at")
        };
        for (hash, digest_bytes) in HASHES {
            let most = 256 - 2 - digest_bytes;
            for salt in [None, Some(0), Some(1), Some(digest_bytes), Some(most)] {
                let signed = sign(&private, salt, hash, b"text").expect("signed");
                assert_eq!(signed.len(), 256);
                assert!(holds(salt, hash, &signed, b"text"));
                assert!(!holds(salt, hash, &signed, b"x"));
                assert!(!holds(salt.xor(Some(2)), hash, &signed, b"text"));
                let other = if hash == "SHA-256" { "SHA-512" } else { "SHA-256" };
                assert!(!holds(salt, other, &signed, b"text"));
                let mut changed = signed.clone();
                changed[100] ^= 1;
                assert!(!holds(salt, hash, &changed, b"text"));
                assert!(!holds(salt, hash, &signed[1..], b"text"));
                assert!(!holds(salt, hash, &[&[0], &signed[..]].concat(), b"text"));
                assert!(!holds(salt, hash, b"", b"text"));
            }
            for salt in [most + 1, 1 << 20, u32::MAX] {
                let refused = sign(&private, Some(salt), hash, b"text").expect_err("too long");
                assert_eq!(refused.name, "OperationError");
                assert!(!holds(Some(salt), hash, &[7; 256], b"text"));
            }
        }
        assert!(sign(&private, None, "MD5", b"").is_err_and(|it| it.name == "NotSupportedError"));
    }

    #[test]
    fn what_is_sealed_is_opened() {
        let (private, public) = pair(2048);
        for (hash, digest_bytes) in HASHES {
            let most = 256 - 2 - 2 * digest_bytes as usize;
            for (label, length) in [("", 0), ("label", 4), ("", most)] {
                let (label, data) = (label.as_bytes(), &[5; 300][..length]);
                let sealed = encrypt(&public, hash, label, data).expect("sealed");
                let open = |hash, label, sealed: &[u8]| decrypt(&private, hash, label, sealed);
                assert_eq!(open(hash, label, &sealed).ok().as_deref(), Some(data));
                assert!(open(hash, b"other", &sealed).is_err());
                assert!(
                    open(if hash == "SHA-1" { "SHA-256" } else { "SHA-1" }, label, &sealed)
                        .is_err()
                );
                assert!(open("SHA-0", label, &sealed).is_err() && open(hash, label, b"").is_err());
            }
            assert!(encrypt(&public, hash, b"", &[5; 300][..=most]).is_err());
        }
    }

    #[test]
    fn sizes_of_keys() {
        for bits in [1024, 1152] {
            let (private, public) = pair(bits);
            let signed = sign(&private, Some(20), "SHA-1", b"text").expect("signed");
            assert_eq!(verify(&public, Some(20), "SHA-1", &signed, b"text").ok(), Some(true));
            // Two bytes more than there are.
            assert!(sign(&private, Some(bits / 8 - 64), "SHA-512", b"text").is_err());
        }
        for bits in [0, 512, 1025, 1 << 15, u32::MAX] {
            assert!(generate(bits).is_err_and(|it| it.name == "OperationError"), "{bits}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let (private, public) = pair(1024);
        for end in (0..private.len()).step_by(5) {
            assert!(
                super::public(&private[..end]).is_err() && bits(&public[..end.min(80)]).is_err()
            );
            let mut changed = private.clone();
            changed[end] ^= 0x40;
            // It may still be a key, with other attributes; what counts is that nothing breaks.
            sign(&changed, None, "SHA-256", b"text").ok();
        }
        assert!(bits(&[&public[..], &[0]].concat()).is_err(), "something behind it");
        assert!(bits(&private).is_err() && super::public(&public).is_err());
        assert!(sign(&public, None, "SHA-1", b"").is_err_and(|it| it.name == "DataError"));
        assert!(encrypt(&private, "SHA-1", b"", b"").is_err_and(|it| it.name == "DataError"));
    }

    /// Every operation gives back what it took, done or failed.
    #[test]
    fn memory_does_not_grow() {
        let (private, public) = pair(1024);
        let label = [7; 4000];
        let signed = sign(&private, Some(8), "SHA-1", b"text").expect("signed");
        let sealed = encrypt(&public, "SHA-256", &label, b"text").expect("sealed");
        let round = || {
            sign(&private, Some(8), "SHA-1", b"text").expect("signed");
            sign(&private, Some(800), "SHA-1", b"text").expect_err("too long");
            for salt in [8, 9] {
                verify(&public, Some(salt), "SHA-1", &signed, b"text").expect("looked at");
            }
            encrypt(&public, "SHA-256", &label, b"text").expect("sealed");
            encrypt(&public, "SHA-256", &label, &[0; 200]).expect_err("too long");
            decrypt(&private, "SHA-256", &label, &sealed).expect("opened");
            decrypt(&private, "SHA-1", &label, &sealed).expect_err("another hash");
            bits(&public[1..]).expect_err("no key");
            bits(&[&public[..], &[0]].concat()).expect_err("something behind it");
        };
        let resident_kib = || {
            let status = std::fs::read_to_string("/proc/self/statm").expect("there");
            let pages = status.split(' ').nth(1).expect("a number").parse::<usize>();
            pages.expect("a number") * 4
        };
        (0..100).for_each(|_| round());
        // Contexts, keys or labels left behind by ten thousand operations would be megabytes each,
        // every time; what other tests beside this one take, they don't take every time.
        let mut grown = (0..5).map(|_| {
            let before = resident_kib();
            (0..1000).for_each(|_| round());
            resident_kib().saturating_sub(before)
        });
        assert!(grown.any(|kib| kib < 2000), "megabytes more, each time");
    }
}
