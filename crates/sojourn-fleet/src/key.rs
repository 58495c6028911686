//! The one secret of a fleet.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use aws_lc_rs::{constant_time::verify_slices_are_equal, hmac, rand};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

use crate::FleetError;

/// The environment variable that holds a join key, where there is no file.
pub const KEY_VARIABLE: &str = "SOJOURN_FLEET_KEY";

/// Bytes of what is drawn, and of what is made of a key.
const BYTES: usize = 32;
/// A key's length as text: less could be guessed.
const LENGTH: std::ops::RangeInclusive<usize> = 32..=512;
/// Longest file that is looked at for a key, bytes.
const FILE_MAX: u64 = 1_024;

/// What coordinator and generators must both know: 32 to 512 letters, digits and signs that nobody
/// can guess.
///
/// Two secrets are made of it, by HMAC-SHA-256: a token that proves a generator to the coordinator,
/// and the private key (Ed25519) of the certificate by which the coordinator is known. So whoever
/// has the key can be either; it is never shown, and its `Debug` hides it.
#[derive(Clone)]
pub struct JoinKey(String);

impl JoinKey {
    /// A fresh one: 256 random bits, in base64url.
    pub fn fresh() -> Result<Self, FleetError> {
        let mut drawn = [0; BYTES];
        rand::fill(&mut drawn)
            .map_err(|_unspecified| FleetError::Key("the system has no random bytes".into()))?;
        Ok(Self(BASE64_URL_SAFE_NO_PAD.encode(drawn)))
    }

    /// From its text; blanks around it do not matter.
    pub fn parse(text: &str) -> Result<Self, FleetError> {
        let text = text.trim();
        if LENGTH.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(Self(text.to_owned()));
        }
        Err(FleetError::Key(format!(
            "this is no join key: it must be one word of {} to {} letters, digits and signs; take \
             the coordinator's key file as it is",
            LENGTH.start(),
            LENGTH.end()
        )))
    }

    /// From a file that holds nothing else.
    pub fn read(path: &Path) -> Result<Self, FleetError> {
        let failed = |error: std::io::Error| {
            FleetError::Key(format!("cannot read the key file {}: {error}", path.display()))
        };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(FILE_MAX).read_to_string(&mut text).map_err(failed)?;
        Self::parse(&text).map_err(|error| FleetError::Key(format!("{}: {error}", path.display())))
    }

    /// The key of this file; where there is none, a fresh one is made and written, for its owner
    /// alone (mode 0600). True: it was made.
    pub fn read_or_make(path: &Path) -> Result<(Self, bool), FleetError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let failed = |error: std::io::Error| {
            FleetError::Key(format!("cannot write the key file {}: {error}", path.display()))
        };
        match options.open(path) {
            Ok(mut file) => {
                let key = Self::fresh()?;
                writeln!(file, "{}", key.0).map_err(failed)?;
                Ok((key, true))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Self::read(path).map(|key| (key, false))
            }
            // A place that nobody can write to may well hold one.
            Err(_) if path.exists() => Self::read(path).map(|key| (key, false)),
            Err(error) => Err(failed(error)),
        }
    }

    /// The text that [`JoinKey::parse`] reads: a secret.
    pub fn to_text(&self) -> String {
        self.0.clone()
    }

    /// What proves a generator.
    pub(crate) fn token(&self) -> [u8; BYTES] {
        self.made("sojourn fleet: token")
    }

    /// What the coordinator's private key is.
    pub(crate) fn seed(&self) -> [u8; BYTES] {
        self.made("sojourn fleet: certificate")
    }

    /// Takes as long whatever the token is.
    pub(crate) fn proves(&self, token: &[u8; BYTES]) -> bool {
        verify_slices_are_equal(&self.token(), token).is_ok()
    }

    fn made(&self, purpose: &str) -> [u8; BYTES] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes());
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        bytes
    }
}

impl std::fmt::Debug for JoinKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JoinKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_survives_its_text_and_little_else_is_one() {
        let key = JoinKey::fresh().unwrap();
        let again = JoinKey::parse(&format!("  {}\n", key.to_text())).unwrap();
        assert_eq!((again.seed(), again.token()), (key.seed(), key.token()));
        assert!(key.proves(&again.token()));
        let mut other = again.token();
        other[31] ^= 1;
        assert!(!key.proves(&other));
        let text = key.to_text();
        let spaced = format!("{text} {text}");
        for wrong in ["", "é", &text[..31], &spaced, &"long".repeat(129)] {
            assert!(JoinKey::parse(wrong).is_err(), "{wrong}");
        }
        assert!(!format!("{key:?}").contains(&text[..8]));
    }

    #[test]
    fn what_is_made_of_a_key_is_as_different_as_keys_and_purposes_are() {
        let (one, two) = (JoinKey::fresh().unwrap(), JoinKey::fresh().unwrap());
        let made = [one.token(), one.seed(), two.token(), two.seed()];
        for (at, first) in made.iter().enumerate() {
            assert!(made.iter().skip(at + 1).all(|second| first != second));
        }
    }

    #[test]
    fn a_file_is_made_once_for_its_owner_alone_and_then_read() {
        let path = std::env::temp_dir().join(format!("sojourn-key-{}", std::process::id()));
        let (key, is_new) = JoinKey::read_or_make(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!((is_new, mode & 0o777), (true, 0o600));
        let (again, is_new) = JoinKey::read_or_make(&path).unwrap();
        assert!(!is_new && key.proves(&again.token()));
        std::fs::write(&path, "short").unwrap();
        let error = JoinKey::read_or_make(&path).unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
