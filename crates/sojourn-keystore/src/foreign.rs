//! A way in for the fuzzer, past the digest that no made-up bytes would have.

use crate::entries::{self, Entry};
use crate::{Problem, protector};

/// What was read of a store.
#[derive(Debug)]
pub struct Read {
    /// Bytes of the store that its entries take up.
    pub taken: usize,
    /// Bytes of keys under their guards and of certificates.
    pub held: usize,
    /// Of each key: what its guard held, or why it did not open.
    pub keys: Vec<Result<Vec<u8>, Problem>>,
}

/// Reads a store whatever its digest, and opens each key by this password.
///
/// # Errors
/// As [`crate::KeyStore::read`].
pub fn read(store: &[u8], password: &str) -> Result<Read, Problem> {
    let (entries, taken) = entries::read(store)?;
    let (mut held, mut keys) = (0, Vec::new());
    for (alias, entry) in &entries {
        match entry {
            Entry::Trusted(certificate) => held += certificate.len(),
            Entry::Key { guarded, chain } => {
                held += guarded.len() + chain.iter().map(Vec::len).sum::<usize>();
                keys.push(protector::open(guarded, alias, password));
            }
        }
    }
    Ok(Read { taken, held, keys })
}
