//! AES as WebCrypto has it: CBC, CTR and GCM.

use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, Algorithm, DecryptionContext, EncryptingKey, EncryptionContext,
    PaddedBlockDecryptingKey, PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;

use super::Problem;

const BLOCK_BYTES: usize = 16;
const TAG_BYTES: usize = 16;

fn key_of(key: &[u8]) -> Result<UnboundCipherKey, Problem> {
    let algorithm: &'static Algorithm = match key.len() {
        16 => &AES_128,
        24 => &AES_192,
        32 => &AES_256,
        _ => return Err(Problem::data("a key of AES has 128, 192 or 256 bits")),
    };
    UnboundCipherKey::new(algorithm, key).map_err(|_| Problem::data("the key is of no use"))
}

fn block(bytes: &[u8], what: &str) -> Result<[u8; BLOCK_BYTES], Problem> {
    bytes.try_into().map_err(|_| Problem::operation(&format!("{what} must be 16 bytes")))
}

/// CBC, padded as PKCS #7 says.
pub(super) fn encrypt_cbc(key: &[u8], iv: &[u8], data: &[u8]) -> Result<Vec<u8>, Problem> {
    let failed = |_| Problem::operation("AES-CBC can't encrypt this");
    let key = PaddedBlockEncryptingKey::cbc_pkcs7(key_of(key)?).map_err(failed)?;
    let context = EncryptionContext::Iv128(FixedLength::from(block(iv, "the iv")?));
    let mut data = data.to_vec();
    key.less_safe_encrypt(&mut data, context).map_err(failed)?;
    Ok(data)
}

pub(super) fn decrypt_cbc(key: &[u8], iv: &[u8], data: &[u8]) -> Result<Vec<u8>, Problem> {
    let failed = |_| Problem::operation("AES-CBC can't decrypt this");
    let key = PaddedBlockDecryptingKey::cbc_pkcs7(key_of(key)?).map_err(failed)?;
    let context = DecryptionContext::Iv128(FixedLength::from(block(iv, "the iv")?));
    let mut data = data.to_vec();
    Ok(key.decrypt(&mut data, context).map_err(failed)?.to_vec())
}

/// CTR, both ways. The last `length` bits of the counter count, the others stand.
pub(super) fn ctr(
    key: &[u8],
    counter: &[u8],
    length: u32,
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    if !(1..=128).contains(&length) {
        return Err(Problem::operation("the length of a counter is 1 to 128 bits"));
    }
    let start = u128::from_be_bytes(block(counter, "the counter")?);
    let counts = u128::MAX >> (128 - length);
    let blocks = data.len().div_ceil(BLOCK_BYTES) as u128;
    // Blocks until the counter begins again from zero.
    let left = (counts - (start & counts)).saturating_add(1);
    if blocks > counts.saturating_add(1) {
        return Err(Problem::operation("the counter is too short for so much data"));
    }
    let first = usize::try_from(left).unwrap_or(usize::MAX).saturating_mul(BLOCK_BYTES);
    let (before, after) = data.split_at(first.min(data.len()));
    let mut out = ctr_of(key, start, before)?;
    out.extend(ctr_of(key, start & !counts, after)?);
    Ok(out)
}

fn ctr_of(key: &[u8], counter: u128, data: &[u8]) -> Result<Vec<u8>, Problem> {
    let failed = |_| Problem::operation("AES-CTR can't do this");
    let mut data = data.to_vec();
    if !data.is_empty() {
        let key = EncryptingKey::ctr(key_of(key)?).map_err(failed)?;
        let context = EncryptionContext::Iv128(FixedLength::from(counter.to_be_bytes()));
        key.less_safe_encrypt(&mut data, context).map_err(failed)?;
    }
    Ok(data)
}

/// GCM; the tag, shortened if so asked, stands at the end.
pub(super) fn encrypt_gcm(
    key: &[u8],
    iv: &[u8],
    more: &[u8],
    tag_bits: u32,
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    let tag_bytes = tag_bytes(tag_bits)?;
    let failed = |_| Problem::operation("AES-GCM can't encrypt this");
    let mut data = data.to_vec();
    let tag = gcm_key(key)?
        .seal_in_place_separate_tag(nonce(iv)?, Aad::from(more), &mut data)
        .map_err(failed)?;
    data.extend_from_slice(&tag.as_ref()[..tag_bytes]);
    Ok(data)
}

pub(super) fn decrypt_gcm(
    key: &[u8],
    iv: &[u8],
    more: &[u8],
    tag_bits: u32,
    data: &[u8],
) -> Result<Vec<u8>, Problem> {
    let tag_bytes = tag_bytes(tag_bits)?;
    let failed = || Problem::operation("AES-GCM can't decrypt this");
    let end = data.len().checked_sub(tag_bytes).ok_or_else(failed)?;
    let (sealed, tag) = data.split_at(end);
    // The counter of the first block is 2 (NIST SP 800-38D); then what comes of it is sealed again,
    // which gives the whole tag.
    let mut start = block(&[iv, &[0, 0, 0, 2][..]].concat(), "the iv with its counter")?;
    nonce(iv)?;
    start[BLOCK_BYTES - 1] = 2;
    let plain = ctr(key, &start, 32, sealed)?;
    let again = encrypt_gcm(key, iv, more, (TAG_BYTES * 8) as u32, &plain)?;
    let expected = &again[plain.len()..plain.len() + tag_bytes];
    aws_lc_rs::constant_time::verify_slices_are_equal(expected, tag).map_err(|_| failed())?;
    Ok(plain)
}

fn gcm_key(key: &[u8]) -> Result<LessSafeKey, Problem> {
    let algorithm = match key.len() {
        16 => &AES_128_GCM,
        24 => &AES_192_GCM,
        32 => &AES_256_GCM,
        _ => return Err(Problem::data("a key of AES has 128, 192 or 256 bits")),
    };
    let key = UnboundKey::new(algorithm, key);
    Ok(LessSafeKey::new(key.map_err(|_| Problem::data("the key is of no use"))?))
}

fn nonce(iv: &[u8]) -> Result<Nonce, Problem> {
    Nonce::try_assume_unique_for_key(iv)
        .map_err(|_| Problem::not_supported("AES-GCM has an iv of 12 bytes here"))
}

fn tag_bytes(bits: u32) -> Result<usize, Problem> {
    match bits {
        32 | 64 | 96 | 104 | 112 | 120 | 128 => Ok(bits as usize / 8),
        _ => Err(Problem::operation("the length of a tag is 32, 64, 96, 104, 112, 120 or 128")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST SP 800-38A, F.5.1: counters that run over a byte.
    #[test]
    fn counters_begin_again() {
        let key = [7; 16];
        let data = [0; 80];
        let whole = ctr(&key, &[0xff; 16], 128, &data).expect("made");
        assert_eq!(whole[16..], ctr(&key, &[0; 16], 128, &data[16..]).expect("made"));
        let short = ctr(&key, &[0xff; 16], 4, &data).expect("made");
        let mut next = [0xff; 16];
        next[15] = 0xf0;
        assert_eq!(short[16..], ctr(&key, &next, 128, &data[16..]).expect("made"));
        assert!(ctr(&key, &[0; 16], 2, &data).is_err());
        assert!(ctr(&key, &[0; 15], 2, &[]).is_err());
    }

    #[test]
    fn what_was_sealed_is_opened_and_nothing_else() {
        let (key, iv) = ([1; 32], [2; 12]);
        for bits in [32, 96, 128] {
            let mut sealed =
                encrypt_gcm(&key, &iv, b"more", bits, b"text of 20 bytes, or so").expect("sealed");
            let opened = decrypt_gcm(&key, &iv, b"more", bits, &sealed);
            assert_eq!(opened.ok().as_deref(), Some(&b"text of 20 bytes, or so"[..]));
            assert!(decrypt_gcm(&key, &iv, b"other", bits, &sealed).is_err());
            sealed[0] ^= 1;
            assert!(decrypt_gcm(&key, &iv, b"more", bits, &sealed).is_err());
        }
        assert!(decrypt_gcm(&key, &iv, b"", 128, b"short").is_err());
        assert!(decrypt_gcm(&key, &[1; 11], b"", 128, &[0; 40]).is_err());
    }

    #[test]
    fn cbc_both_ways() {
        for length in [0, 1, 16, 33] {
            let data = vec![5; length];
            let sealed = encrypt_cbc(&[1; 24], &[2; 16], &data).expect("sealed");
            assert_eq!(sealed.len(), length / 16 * 16 + 16);
            assert_eq!(decrypt_cbc(&[1; 24], &[2; 16], &sealed).ok(), Some(data));
        }
        assert!(encrypt_cbc(&[1; 5], &[2; 16], &[]).is_err());
        assert!(decrypt_cbc(&[1; 16], &[2; 16], &[1; 15]).is_err());
    }
}
