//! NATS's keys: Ed25519 in base32 with a prefix and a checksum, and the files that hold them.
//!
//! A seed is two bytes of prefix (that it is a seed, and whose), 32 bytes of key and a CRC-16
//! (XMODEM), in base32 without padding. A file of credentials holds a JWT and a user's seed between
//! lines of dashes; a file of a bare seed is a login by key alone.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// `S` of a seed, in the upper five bits.
const PREFIX_SEED: u8 = 18 << 3;
/// `U` of a user.
const PREFIX_USER: u8 = 20 << 3;

/// A user's key pair, and the token of an account that vouches for it.
pub(crate) struct Credentials {
    pair: Ed25519KeyPair,
    /// Signed statement who the user is; none where the server knows the key itself.
    pub(crate) jwt: Option<String>,
}

impl Credentials {
    /// Reads the text of a file of credentials; errs in words that do not show it.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut jwt = None;
        let mut seed = None;
        let mut section = None;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if line.starts_with("---") {
                let begins = line.contains("BEGIN").then_some(line);
                section = begins;
            } else if section.is_some_and(|title| title.contains("JWT")) {
                jwt.get_or_insert_with(|| line.to_owned());
            } else if line.starts_with("SU") {
                seed.get_or_insert(line);
            }
        }
        let seed = seed.ok_or("it has no user's seed (a line that begins with SU)")?;
        let bytes = decode(seed).ok_or("its seed is damaged")?;
        let [first, second, key @ ..] = bytes.as_slice() else {
            return Err("its seed is damaged");
        };
        let prefix = (first & 0b1111_1000, (first & 0b111) << 5 | second >> 3);
        if prefix != (PREFIX_SEED, PREFIX_USER) {
            return Err("its seed is not a user's");
        }
        let pair =
            Ed25519KeyPair::from_seed_unchecked(key).map_err(|_| "its seed is not 32 bytes")?;
        Ok(Self { pair, jwt })
    }

    /// The public key, as servers write it.
    pub(crate) fn public(&self) -> String {
        let mut bytes = vec![PREFIX_USER];
        bytes.extend_from_slice(self.pair.public_key().as_ref());
        encode(bytes)
    }

    /// The server's nonce, signed.
    pub(crate) fn sign(&self, nonce: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.pair.sign(nonce.as_bytes()))
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Bytes of base32 without their checksum; `None`: damaged.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for letter in text.bytes() {
        let value = ALPHABET.iter().position(|known| *known == letter)?;
        bits = bits << 5 | u32::try_from(value).ok()?;
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xFF).ok()?);
            bits &= (1 << held) - 1;
        }
    }
    let check = bytes.split_off(bytes.len().checked_sub(2)?);
    (crc16(&bytes).to_le_bytes() == *check).then_some(bytes)
}

/// Base32 of bytes with their checksum.
fn encode(mut bytes: Vec<u8>) -> String {
    let check = crc16(&bytes).to_le_bytes();
    bytes.extend_from_slice(&check);
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in bytes {
        bits = bits << 8 | u32::from(byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            text.push(char::from(ALPHABET[(bits >> held & 31) as usize]));
        }
        bits &= (1 << held) - 1;
    }
    if held > 0 {
        text.push(char::from(ALPHABET[(bits << (5 - held) & 31) as usize]));
    }
    text
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc: u16, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The key pair of NATS's own documentation of its configuration.
    const SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const PUBLIC: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

    #[test]
    fn a_known_seed_has_its_known_public_key() {
        let credentials = Credentials::parse(SEED).unwrap();
        assert_eq!(credentials.public(), PUBLIC);
        assert_eq!(credentials.jwt, None);
        assert!(!format!("{credentials:?}").contains(SEED));
    }

    #[test]
    fn a_file_of_credentials_has_both_parts() {
        let text = format!(
            "-----BEGIN NATS USER JWT-----\neyJ.a.b\n------END NATS USER JWT------\n\n\
             **** IMPORTANT ****\nNKEY Seed printed below.\n\n\
             -----BEGIN USER NKEY SEED-----\r\n{SEED}\r\n------END USER NKEY SEED------\n"
        );
        let credentials = Credentials::parse(&text).unwrap();
        assert_eq!(credentials.jwt.as_deref(), Some("eyJ.a.b"));
        assert_eq!(credentials.public(), PUBLIC);
    }

    #[test]
    fn damage_is_named_and_not_shown() {
        let damaged = SEED.replace("CSSL", "CSSM");
        for (text, words) in [
            ("", "no user's seed"),
            (damaged.as_str(), "damaged"),
            ("SUx", "damaged"),
            ("SU", "damaged"),
        ] {
            assert!(Credentials::parse(text).unwrap_err().contains(words), "{text}");
        }
    }

    proptest! {
        #[test]
        fn base32_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(decode(&encode(bytes.clone())), Some(bytes));
        }

        #[test]
        fn any_text_is_refused_without_panic(text: String) {
            let seed = format!("SU{text}");
            prop_assert!(Credentials::parse(&seed).is_err());
        }
    }
}
