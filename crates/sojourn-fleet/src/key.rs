//! The one secret of a run's fleet.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use aws_lc_rs::{constant_time::verify_slices_are_equal, rand};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

use crate::FleetError;

/// The environment variable that holds a join key, where there is no file.
pub const KEY_VARIABLE: &str = "SOJOURN_FLEET_KEY";

/// Bytes of the token, and of the fingerprint.
const HALF: usize = 32;
/// Longest file that is looked at for a key, bytes.
const FILE_MAX: u64 = 1_024;

/// What a generator must know to join: a token that proves it to the coordinator, and the SHA-256
/// of the certificate by which it knows the coordinator. As text, both in one, base64url.
///
/// It is never shown: its `Debug` hides it.
#[derive(Clone)]
pub struct JoinKey {
    token: [u8; HALF],
    fingerprint: [u8; HALF],
}

impl JoinKey {
    /// A fresh one for a certificate.
    pub(crate) fn of_certificate(fingerprint: [u8; HALF]) -> Result<Self, FleetError> {
        let mut token = [0; HALF];
        rand::fill(&mut token)
            .map_err(|_unspecified| FleetError::Key("the system has no random bytes".into()))?;
        Ok(Self { token, fingerprint })
    }

    /// From its text; blanks around it do not matter.
    pub fn parse(text: &str) -> Result<Self, FleetError> {
        let wrong = || {
            FleetError::Key(
                "this is no join key: take the coordinator's key file as it is".to_owned(),
            )
        };
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text.trim()).map_err(|_any| wrong())?;
        let (token, fingerprint) = bytes.split_at_checked(HALF).ok_or_else(wrong)?;
        let half = |bytes: &[u8]| <[u8; HALF]>::try_from(bytes).map_err(|_any| wrong());
        Ok(Self { token: half(token)?, fingerprint: half(fingerprint)? })
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

    /// Writes it to a file that only its owner may read (mode 0600), instead of what was there.
    pub fn write(&self, path: &Path) -> Result<(), FleetError> {
        let failed = |error: std::io::Error| {
            FleetError::Key(format!("cannot write the key file {}: {error}", path.display()))
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(path).map_err(failed)?;
        // One that was there before has its mode still.
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        writeln!(file, "{}", self.to_text()).map_err(failed)
    }

    /// The text that [`JoinKey::parse`] reads: a secret.
    pub fn to_text(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode([self.token, self.fingerprint].concat())
    }

    pub(crate) fn token(&self) -> [u8; HALF] {
        self.token
    }

    /// Takes as long whatever the token is.
    pub(crate) fn proves(&self, token: &[u8; HALF]) -> bool {
        verify_slices_are_equal(&self.token, token).is_ok()
    }

    pub(crate) fn fingerprint(&self) -> [u8; HALF] {
        self.fingerprint
    }
}

impl std::fmt::Debug for JoinKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JoinKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_text_and_nothing_else_is_one() {
        let key = JoinKey::of_certificate([7; HALF]).unwrap();
        let again = JoinKey::parse(&format!("  {}\n", key.to_text())).unwrap();
        assert_eq!(again.fingerprint(), [7; HALF]);
        assert!(key.proves(&again.token()));
        let mut other = again.token();
        other[31] ^= 1;
        assert!(!key.proves(&other));
        let text = key.to_text();
        for wrong in ["", "é", &text[1..], &format!("{text}AA"), "-----BEGIN KEY-----"] {
            assert!(JoinKey::parse(wrong).is_err(), "{wrong}");
        }
        assert!(!format!("{key:?}").contains(&text[..8]));
    }

    #[test]
    fn its_file_is_its_owners_alone_even_if_it_was_not() {
        let path = std::env::temp_dir().join(format!("sojourn-key-{}", std::process::id()));
        std::fs::write(&path, "old and longer than a key could ever be".repeat(9)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let key = JoinKey::of_certificate([1; HALF]).unwrap();
        key.write(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(key.proves(&JoinKey::read(&path).unwrap().token()));
        std::fs::remove_file(&path).unwrap();
    }
}
