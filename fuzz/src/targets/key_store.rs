//! Java's key stores: any bytes as a store, whatever its digest.

use sojourn_keystore::foreign::read;
use sojourn_keystore::{KeyStore, Problem};

use crate::Input;

/// The password of the seeds.
const PASSWORD: &str = "changeit";
/// The password of the seeds' keys, where it is another: option 0.
const OF_KEYS: &str = "s3cret é";

pub(crate) fn check(input: Input<'_>) {
    let password = if input.has(0) { OF_KEYS } else { PASSWORD };
    let store = KeyStore::read(input.bytes, password);
    let found = match read(input.bytes, password) {
        Ok(found) => found,
        Err(problem) => {
            assert_eq!(store.err(), Some(problem), "the digest is looked at last");
            return;
        }
    };
    assert!(found.held <= found.taken && found.taken <= input.bytes.len());
    let cut = &input.bytes[..found.taken - 1];
    assert_eq!(read(cut, password).err(), Some(Problem::Cut), "every byte is one of an entry's");
    for key in found.keys.into_iter().flatten() {
        assert!(key.len() < found.held);
    }
}
