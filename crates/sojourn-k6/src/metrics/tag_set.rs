//! The tags of a sample.

use std::sync::Arc;

use super::matcher::{Match, Matcher};

/// An immutable set of tags, sorted by key, with the metadata that samples carry beside them and
/// the submetrics that they belong to.
#[derive(Debug)]
pub struct TagSet {
    /// Unique in the process, so that it can stand for the set in a key.
    pub(super) id: u64,
    pairs: Pairs,
    metadata: Option<Metadata>,
    matches: Box<[Match]>,
}

/// What samples carry that no threshold and no series can be told by: `vu`, `iter`, and what
/// scripts add.
#[derive(Debug)]
pub(super) struct Metadata {
    /// The same tags without metadata.
    pub(super) plain: Arc<TagSet>,
    pub(super) pairs: Pairs,
}

impl TagSet {
    pub(super) fn plain(id: u64, pairs: Pairs, matcher: &Matcher) -> Self {
        let matches = matcher.matches(|key| pairs.get(key));
        Self { id, pairs, metadata: None, matches }
    }

    pub(super) fn with_metadata(id: u64, plain: &Arc<Self>, pairs: Pairs) -> Self {
        Self {
            id,
            pairs: plain.pairs.clone(),
            metadata: Some(Metadata { plain: Arc::clone(plain), pairs }),
            matches: plain.matches.clone(),
        }
    }

    /// The value of a tag.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs.get(key)
    }

    /// All tags, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter()
    }

    /// How many tags there are.
    pub fn len(&self) -> usize {
        self.pairs.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.ends.is_empty()
    }

    /// All metadata, sorted by key.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        self.metadata.iter().flat_map(|metadata| metadata.pairs.iter())
    }

    /// A number that sets with these tags may have in common, and no others have, whatever their
    /// metadata.
    pub(crate) fn plain_id(&self) -> u64 {
        self.metadata.as_ref().map_or(self.id, |metadata| metadata.plain.id)
    }

    /// Bytes that only sets with the same tags have.
    pub(crate) fn plain_key(&self) -> Box<[u8]> {
        let mut bytes = Vec::new();
        self.pairs.write_key(&mut bytes);
        bytes.into()
    }

    pub(super) fn metadata_part(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    pub(super) fn matches(&self) -> &[Match] {
        &self.matches
    }

    pub(super) fn pairs(&self) -> &Pairs {
        &self.pairs
    }
}

/// Sorted pairs in one piece of text: two allocations however many there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pairs {
    text: Box<str>,
    /// Where each key and each value ends.
    ends: Box<[(u32, u32)]>,
}

impl Pairs {
    /// Of pairs with distinct keys.
    pub(super) fn new(mut pairs: Vec<(&str, &str)>) -> Self {
        pairs.sort_unstable();
        let mut text = String::with_capacity(pairs.iter().map(|(k, v)| k.len() + v.len()).sum());
        let mut ends = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            // A script's strings are far below 4 GiB: an engine's own bound is 2^30.
            text.push_str(key);
            let key_end = text.len() as u32;
            text.push_str(value);
            ends.push((key_end, text.len() as u32));
        }
        Self { text: text.into(), ends: ends.into() }
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(own, _)| *own == key).map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut begin = 0;
        self.ends.iter().map(move |&(key_end, value_end)| {
            let (key_end, value_end) = (key_end as usize, value_end as usize);
            let pair = (&self.text[begin..key_end], &self.text[key_end..value_end]);
            begin = value_end;
            pair
        })
    }

    /// Both together, the overlay's values before one's own; later pairs of the overlay before
    /// earlier ones.
    pub(super) fn overlaid<'a>(
        &'a self,
        overlay: &[(&'a str, &'a str)],
    ) -> Vec<(&'a str, &'a str)> {
        let mut merged: Vec<(&str, &str)> = self.iter().collect();
        for &(key, value) in overlay {
            match merged.iter_mut().find(|(own, _)| *own == key) {
                Some((_, own)) => *own = value,
                None => merged.push((key, value)),
            }
        }
        merged
    }

    /// A text that only equal sets have.
    pub(super) fn write_key(&self, bytes: &mut Vec<u8>) {
        for (key_end, value_end) in &self.ends {
            bytes.extend_from_slice(&key_end.to_le_bytes());
            bytes.extend_from_slice(&value_end.to_le_bytes());
        }
        bytes.extend_from_slice(self.text.as_bytes());
    }
}
