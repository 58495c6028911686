//! The entries of a store, by their aliases.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::store::Problem;

const MAGIC: u32 = 0xFEED_FEED;
/// Of JCEKS, whose keys are guarded otherwise.
const MAGIC_JCEKS: u32 = 0xCECE_CECE;

/// Under an alias, in lower case as Java has them.
pub(crate) type Entries = BTreeMap<String, Entry>;

#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A private key under its guard, and the certificates for it, its own first.
    Key {
        guarded: Vec<u8>,
        chain: Vec<Vec<u8>>,
    },
    Trusted(Vec<u8>),
}

/// The entries, and how many bytes they take up from the first on.
pub(crate) fn read(store: &[u8]) -> Result<(Entries, usize), Problem> {
    let mut bytes = Bytes(store);
    let magic = bytes.u32();
    if magic != Some(MAGIC) {
        return Err(match (magic, store) {
            (Some(MAGIC_JCEKS), _) => Problem::Jceks,
            // A sequence whose length takes bytes of its own, in DER or BER.
            (_, [0x30, 0x80..=0x84, ..]) => Problem::Pkcs12,
            _ => Problem::NotAStore,
        });
    }
    let version = bytes.u32().ok_or(Problem::Cut)?;
    if !matches!(version, 1 | 2) {
        return Err(Problem::Version(version));
    }
    let has_kinds = version == 2;
    let count = bytes.u32().ok_or(Problem::Cut)?;
    let mut entries = Entries::new();
    for _ in 0..count {
        let tag = bytes.u32().ok_or(Problem::Cut)?;
        let alias = bytes.text().ok_or(Problem::Cut)?;
        // When it was made.
        bytes.take(8).ok_or(Problem::Cut)?;
        let entry = match tag {
            1 => key(&mut bytes, has_kinds)?,
            2 => Entry::Trusted(certificate(&mut bytes, has_kinds)?),
            other => return Err(Problem::Entry(other)),
        };
        entries.insert(alias.to_lowercase(), entry);
    }
    Ok((entries, store.len() - bytes.0.len()))
}

fn key(bytes: &mut Bytes<'_>, has_kinds: bool) -> Result<Entry, Problem> {
    let guarded = bytes.counted().ok_or(Problem::Cut)?.to_vec();
    let count = bytes.u32().ok_or(Problem::Cut)?;
    let chain = (0..count).map(|_| certificate(bytes, has_kinds)).collect::<Result<_, _>>()?;
    Ok(Entry::Key { guarded, chain })
}

/// A certificate in DER. Version 1 has no others than X.509, and does not say so.
fn certificate(bytes: &mut Bytes<'_>, has_kinds: bool) -> Result<Vec<u8>, Problem> {
    if has_kinds {
        let kind = bytes.text().ok_or(Problem::Cut)?;
        if !matches!(kind.as_str(), "X.509" | "X509") {
            return Err(Problem::Certificate(kind));
        }
    }
    Ok(bytes.counted().ok_or(Problem::Cut)?.to_vec())
}
