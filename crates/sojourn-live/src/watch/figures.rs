//! What came over a channel in a second.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use sojourn_broker::{Decoded, RawMessage};

/// Distinct keys told apart; more are "more than".
const KEYS_MAX: usize = 100_000;
/// Types told apart; further ones count as `other`.
const TYPES_MAX: usize = 30;
/// Types shown in a line.
const TYPES_SHOWN: usize = 4;
/// A silent channel says so every so many seconds.
const SILENT_S: u64 = 10;

/// A channel's figures since the last second, and its keys since the beginning.
#[derive(Default)]
pub(super) struct Figures {
    messages: u64,
    bytes: u64,
    undecodable: u64,
    not_printed: u64,
    types: BTreeMap<String, u64>,
    keys: HashSet<u64>,
    hasher: RandomState,
    total: u64,
}

impl Figures {
    /// Counts a message; how many came before it in this second.
    pub(super) fn add(&mut self, message: &RawMessage<'_>, decoded: Option<&Decoded>) -> u64 {
        let before = self.messages;
        self.messages += 1;
        self.total += 1;
        self.bytes += message.payload.len() as u64;
        self.undecodable += u64::from(decoded.is_none());
        if let Some(key) = message.key
            && self.keys.len() < KEYS_MAX
        {
            self.keys.insert(self.hasher.hash_one(key));
        }
        let event_type = decoded.and_then(|decoded| decoded.event_type.as_deref());
        let name = event_type.unwrap_or("without a type");
        let name = match self.types.len() < TYPES_MAX || self.types.contains_key(name) {
            true => name,
            false => "other",
        };
        match self.types.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(self.types.insert(name.to_owned(), 1)),
        }
        before
    }

    /// A message was seen and not printed: the printer can't keep up.
    pub(super) fn not_printed(&mut self) {
        self.not_printed += 1;
    }

    /// The second's line, and a new second; `None` where nothing came and nothing is to be said.
    pub(super) fn second(&mut self, seconds: u64) -> Option<String> {
        if self.messages == 0 {
            let is_time = seconds.is_multiple_of(SILENT_S);
            return is_time.then(|| format!("silent; {} messages so far", self.total));
        }
        let mean = self.bytes as f64 / self.messages as f64;
        let mut line = format!("{:>7}/s  {mean:>7.0} B each", self.messages);
        if !self.keys.is_empty() {
            let more = if self.keys.len() == KEYS_MAX { "more than " } else { "" };
            line.push_str(&format!("  {more}{} keys", self.keys.len()));
        }
        let mut types: Vec<_> = self.types.iter().collect();
        types.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        let shown = types.iter().take(TYPES_SHOWN).map(|(name, count)| format!("{name} {count}"));
        line.push_str(&format!("  {}", shown.collect::<Vec<_>>().join(", ")));
        if types.len() > TYPES_SHOWN {
            line.push_str(&format!(" and {} other types", types.len() - TYPES_SHOWN));
        }
        if self.undecodable > 0 {
            line.push_str(&format!("  {} undecodable", self.undecodable));
        }
        if self.not_printed > 0 {
            line.push_str(&format!("  {} not printed", self.not_printed));
        }
        (self.messages, self.bytes, self.undecodable, self.not_printed) = (0, 0, 0, 0);
        self.types.clear();
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<'a>(key: &'a [u8], payload: &'a [u8]) -> RawMessage<'a> {
        RawMessage {
            stamp_ns: 0,
            topic: "t",
            key: Some(key),
            headers: Vec::new(),
            payload,
            position: None,
        }
    }

    #[test]
    fn a_second_counts_messages_bytes_keys_and_types() {
        let mut figures = Figures::default();
        let paid = Decoded { event_type: Some("Paid".to_owned()), ..Decoded::default() };
        assert_eq!(figures.add(&message(b"a", b"1234"), Some(&paid)), 0);
        assert_eq!(figures.add(&message(b"b", b"12"), Some(&paid)), 1);
        figures.add(&message(b"a", b""), None);
        let line = figures.second(1).unwrap();
        assert!(line.contains("3/s") && line.contains("2 B each"), "{line}");
        assert!(line.contains("2 keys") && line.contains("Paid 2, without a type 1"), "{line}");
        assert!(line.contains("1 undecodable"), "{line}");
        assert_eq!(figures.second(2), None);
        assert_eq!(figures.second(10).unwrap(), "silent; 3 messages so far");
    }

    #[test]
    fn types_and_keys_are_bounded() {
        let mut figures = Figures::default();
        for number in 0..KEYS_MAX + 10 {
            let name = format!("T{number}");
            let decoded = Decoded { event_type: Some(name.clone()), ..Decoded::default() };
            figures.add(&message(name.as_bytes(), b""), Some(&decoded));
        }
        let line = figures.second(1).unwrap();
        assert!(line.contains("more than 100000 keys"), "{line}");
        assert!(line.contains("other "), "{line}");
    }
}
