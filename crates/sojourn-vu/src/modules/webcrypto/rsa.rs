//! RSA: OAEP, PSS, PKCS #1 v1.5.
//!
//! A private key is PKCS #8, a public one X.509's (SPKI), both DER.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{
    KeyPair, KeySize, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384,
    OAEP_SHA512_MGF1SHA512, OaepAlgorithm, OaepPrivateDecryptingKey, OaepPublicEncryptingKey,
    PrivateDecryptingKey, PublicEncryptingKey,
};
use aws_lc_rs::signature::{
    KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RSA_PSS_SHA256,
    RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaParameters,
};

use super::Problem;

fn wrong<E>(_: E) -> Problem {
    Problem::data("the key is none of RSA that can be used: 2048 to 8192 bits")
}

/// A new key.
pub(super) fn generate(bits: u32) -> Result<Vec<u8>, Problem> {
    let size = match bits {
        2048 => KeySize::Rsa2048,
        3072 => KeySize::Rsa3072,
        4096 => KeySize::Rsa4096,
        8192 => KeySize::Rsa8192,
        _ => {
            return Err(Problem::operation(
                "keys of RSA are made of 2048, 3072, 4096 or 8192 bits",
            ));
        }
    };
    let failed = |_| Problem::operation("no key can be made");
    let key = KeyPair::generate(size).map_err(failed)?;
    let der: Pkcs8V1Der<'_> = key.as_der().map_err(wrong)?;
    Ok(der.as_ref().to_vec())
}

/// The public part of a private key.
pub(super) fn public(private: &[u8]) -> Result<Vec<u8>, Problem> {
    let key = KeyPair::from_pkcs8(private).map_err(wrong)?;
    let der: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(wrong)?;
    Ok(der.as_ref().to_vec())
}

/// Whether this is a public key; its bits.
pub(super) fn bits(public: &[u8]) -> Result<usize, Problem> {
    Ok(PublicEncryptingKey::from_der(public).map_err(wrong)?.key_size_bits())
}

fn no_such_hash<T>() -> Result<T, Problem> {
    Err(Problem::not_supported("RSA signs with SHA-256, SHA-384 or SHA-512 here"))
}

/// `is_pss`, else PKCS #1 v1.5. Salts are as long as the digest.
pub(super) fn sign(
    private: &[u8],
    is_pss: bool,
    hash: &str,
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    let padding: &'static dyn RsaEncoding = match (is_pss, hash) {
        (true, "SHA-256") => &RSA_PSS_SHA256,
        (true, "SHA-384") => &RSA_PSS_SHA384,
        (true, "SHA-512") => &RSA_PSS_SHA512,
        (false, "SHA-256") => &RSA_PKCS1_SHA256,
        (false, "SHA-384") => &RSA_PKCS1_SHA384,
        (false, "SHA-512") => &RSA_PKCS1_SHA512,
        _ => return no_such_hash(),
    };
    let key = KeyPair::from_pkcs8(private).map_err(wrong)?;
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(padding, &SystemRandom::new(), data, &mut signature)
        .map_err(|_| Problem::operation("RSA can't sign this"))?;
    Ok(signature)
}

pub(super) fn verify(
    public: &[u8],
    is_pss: bool,
    hash: &str,
    signature: &[u8],
    data: &[u8],
) -> Result<bool, Problem> {
    let algorithm: &'static RsaParameters = match (is_pss, hash) {
        (true, "SHA-256") => &RSA_PSS_2048_8192_SHA256,
        (true, "SHA-384") => &RSA_PSS_2048_8192_SHA384,
        (true, "SHA-512") => &RSA_PSS_2048_8192_SHA512,
        (false, "SHA-256") => &RSA_PKCS1_2048_8192_SHA256,
        (false, "SHA-384") => &RSA_PKCS1_2048_8192_SHA384,
        (false, "SHA-512") => &RSA_PKCS1_2048_8192_SHA512,
        _ => return no_such_hash(),
    };
    let key = ParsedPublicKey::new(algorithm, public).map_err(wrong)?;
    Ok(key.verify_sig(data, signature).is_ok())
}

fn oaep(hash: &str) -> Result<&'static OaepAlgorithm, Problem> {
    Ok(match hash {
        "SHA-1" => &OAEP_SHA1_MGF1SHA1,
        "SHA-256" => &OAEP_SHA256_MGF1SHA256,
        "SHA-384" => &OAEP_SHA384_MGF1SHA384,
        "SHA-512" => &OAEP_SHA512_MGF1SHA512,
        _ => return Err(Problem::not_supported("there is no such hash")),
    })
}

pub(super) fn encrypt(
    public: &[u8],
    hash: &str,
    label: &[u8],
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    let key = PublicEncryptingKey::from_der(public).map_err(wrong)?;
    let key = OaepPublicEncryptingKey::new(key).map_err(wrong)?;
    let mut out = vec![0; key.ciphertext_size()];
    let failed = |_| Problem::operation("RSA-OAEP can't encrypt this: it may be too long");
    Ok(key.encrypt(oaep(hash)?, data, &mut out, Some(label)).map_err(failed)?.to_vec())
}

pub(super) fn decrypt(
    private: &[u8],
    hash: &str,
    label: &[u8],
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    let key = PrivateDecryptingKey::from_pkcs8(private).map_err(wrong)?;
    let key = OaepPrivateDecryptingKey::new(key).map_err(wrong)?;
    let mut out = vec![0; key.min_output_size()];
    let failed = |_| Problem::operation("RSA-OAEP can't decrypt this");
    Ok(key.decrypt(oaep(hash)?, data, &mut out, Some(label)).map_err(failed)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_verified_and_what_is_sealed_is_opened() {
        let private = generate(2048).expect("made");
        let public = public(&private).expect("read");
        assert_eq!(bits(&public).ok(), Some(2048));
        for is_pss in [true, false] {
            let signed = sign(&private, is_pss, "SHA-256", b"text").expect("signed");
            assert_eq!(verify(&public, is_pss, "SHA-256", &signed, b"text").ok(), Some(true));
            assert_eq!(verify(&public, is_pss, "SHA-256", &signed, b"x").ok(), Some(false));
            assert_eq!(verify(&public, !is_pss, "SHA-256", &signed, b"text").ok(), Some(false));
        }
        let sealed = encrypt(&public, "SHA-1", b"label", b"text").expect("sealed");
        assert_eq!(
            decrypt(&private, "SHA-1", b"label", &sealed).ok().as_deref(),
            Some(&b"text"[..])
        );
        assert!(decrypt(&private, "SHA-1", b"", &sealed).is_err());
        assert!(generate(100).is_err() && bits(b"x").is_err());
    }
}
