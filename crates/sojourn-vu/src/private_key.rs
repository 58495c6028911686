//! Private keys that are encrypted with a password, as `openssl` used to write them: PEM with a
//! header `DEK-Info` (RFC 1421 §4.6.1.3), of which AES in CBC is read here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};

use crate::modules::webcrypto::opened_by_aes_cbc;

/// What to do about a key that can't be read here.
const HINT: &str = "decrypt the key first, for example with `openssl pkey`";

/// The key in PEM, not encrypted any more. One that is not encrypted stays as it is.
///
/// # Errors
/// The password is missing or wrong, or the key is encrypted in another way.
pub(crate) fn decrypted(pem: &str, password: Option<&str>) -> Result<String, String> {
    if pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        return Err(format!("keys in encrypted PKCS #8 can't be read: {HINT}"));
    }
    let Some(info) = pem.lines().find_map(|line| line.trim().strip_prefix("DEK-Info:")) else {
        return Ok(pem.to_owned());
    };
    let password = password.filter(|password| !password.is_empty());
    let password = password.ok_or("the key is encrypted, and there is no password")?;
    let info = info.trim();
    let (cipher, iv) = info.split_once(',').unwrap_or((info, ""));
    let key_bytes = match cipher {
        "AES-128-CBC" => 16,
        "AES-192-CBC" => 24,
        "AES-256-CBC" => 32,
        other => return Err(format!("a key encrypted with {other} can't be read: {HINT}")),
    };
    let broken = || "the encrypted key is broken".to_owned();
    let iv = bytes_of_hex(iv).filter(|iv| iv.len() == 16).ok_or_else(broken)?;
    let (begin, coded, end) = parts(pem).ok_or_else(broken)?;
    let sealed = STANDARD.decode(coded).map_err(|_| broken())?;
    let key = key_of_password(password.as_bytes(), &iv[..8], key_bytes);
    let wrong = || "the password of the key is wrong".to_owned();
    let plain = opened_by_aes_cbc(&key, &iv, &sealed).ok_or_else(wrong)?;
    // Padding may fit by chance; a key is a sequence in DER, and nothing follows it.
    if !is_one_sequence(&plain) {
        return Err(wrong());
    }
    Ok(format!("{begin}\n{}\n{end}\n", STANDARD.encode(plain)))
}

/// First line, Base64 without line ends, last line.
fn parts(pem: &str) -> Option<(&str, String, &str)> {
    let mut lines = pem.lines().map(str::trim).skip_while(|line| !is_edge(line, "BEGIN"));
    let begin = lines.next()?;
    let mut coded = String::new();
    let mut lines = lines.skip_while(|line| line.contains(':'));
    let end = lines.find(|line| {
        let is_end = is_edge(line, "END");
        if !is_end {
            coded.push_str(line);
        }
        is_end
    })?;
    Some((begin, coded, end))
}

fn is_edge(line: &str, word: &str) -> bool {
    line.starts_with(&format!("-----{word} ")) && line.ends_with("PRIVATE KEY-----")
}

/// OpenSSL's derivation: digests of the last digest, the password and the salt, one after the
/// other (EVP_BytesToKey with MD5, once).
fn key_of_password(password: &[u8], salt: &[u8], bytes: usize) -> Vec<u8> {
    let mut key: Vec<u8> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    while key.len() < bytes {
        let mut digest = Md5::new();
        digest.update(&last);
        digest.update(password);
        digest.update(salt);
        last = digest.finalize().to_vec();
        key.extend_from_slice(&last);
    }
    key.truncate(bytes);
    key
}

fn is_one_sequence(der: &[u8]) -> bool {
    let Some((0x30, rest)) = der.split_first().map(|(tag, rest)| (*tag, rest)) else {
        return false;
    };
    let Some((first, rest)) = rest.split_first() else { return false };
    let (length, rest) = match *first {
        short @ 0..=0x7f => (usize::from(short), rest),
        long => match rest.split_at_checked(usize::from(long & 0x7f)) {
            Some((bytes, rest)) if bytes.len() <= 3 => {
                (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return false,
        },
    };
    length == rest.len()
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.trim().chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `openssl ec -aes128 -passout pass:secret` of the key below.
    const SEALED: &str = include_str!("../tests/scripts/lib/certificates/encrypted.key");
    const PLAIN: &str = include_str!("../tests/scripts/lib/certificates/one.key");

    fn der(pem: &str) -> Vec<u8> {
        let coded: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        STANDARD.decode(coded).expect("Base64")
    }

    #[test]
    fn a_key_is_opened_by_its_password_alone() {
        let opened = decrypted(SEALED, Some("secret")).expect("the password");
        // The plain one is in PKCS #8, around what the other one holds.
        let (opened, plain) = (der(&opened), der(PLAIN));
        let private = &opened[7..39];
        assert!(plain.windows(32).any(|window| window == private));
        assert_eq!(decrypted(PLAIN, None).as_deref(), Ok(PLAIN));
        for password in [None, Some(""), Some("other")] {
            let problem = decrypted(SEALED, password).expect_err("no password");
            assert!(problem.contains("password"), "{problem}");
        }
        let other = SEALED.replace("AES-128-CBC", "DES-EDE3-CBC");
        assert!(decrypted(&other, Some("secret")).is_err_and(|it| it.contains("DES-EDE3-CBC")));
        for cut in (0..SEALED.len()).step_by(7) {
            decrypted(&SEALED[..cut], Some("secret")).ok();
        }
    }
}
