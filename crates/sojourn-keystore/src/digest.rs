//! SHA-1 with a password in it, as both the store and its keys are guarded.

use sha1::{Digest as _, Sha1};

/// Bytes of a digest.
pub(crate) const LENGTH: usize = 20;

/// The digest of a password, two bytes for each of its characters as Java has them, and of parts.
pub(crate) fn with_password(password: &str, parts: &[&[u8]]) -> [u8; LENGTH] {
    let mut digest = Sha1::new();
    for unit in password.encode_utf16() {
        digest.update(unit.to_be_bytes());
    }
    for part in parts {
        digest.update(part);
    }
    digest.finalize().into()
}
