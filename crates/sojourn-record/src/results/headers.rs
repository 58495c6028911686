//! The headers of a response, in one buffer that is used again for every record.

use std::ops::Range;

/// Most header values of one response: far above what servers send, so that a damaged file cannot
/// cost more than a moment.
pub const HEADERS_MAX: usize = 10_000;

/// Names and values, sorted by name; values of one name keep their order.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    text: Vec<u8>,
    entries: Vec<Entry>,
}

/// Where a name and one of its values lie in the text.
#[derive(Clone, Debug)]
struct Entry {
    name: Range<usize>,
    value: Range<usize>,
}

impl Headers {
    /// Forgets all, keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
    }

    /// Adds a value under a name as it is. Returns false, and does nothing, when there are
    /// [`HEADERS_MAX`].
    pub fn push(&mut self, name: &[u8], value: &[u8]) -> bool {
        if self.entries.len() >= HEADERS_MAX {
            return false;
        }
        let start = self.text.len();
        self.text.extend_from_slice(name);
        self.add(start, value);
        true
    }

    /// Adds a value under the name's canonical form, `Content-Type` for `content-type`, as results
    /// have it. A name that is no token stays as it is. Returns false, and does nothing, when there
    /// are [`HEADERS_MAX`].
    pub fn push_canonical(&mut self, name: &[u8], value: &[u8]) -> bool {
        if self.entries.len() >= HEADERS_MAX {
            return false;
        }
        let start = self.text.len();
        self.text.extend_from_slice(name);
        if name.iter().all(|byte| is_token(*byte)) {
            let mut is_first = true;
            for byte in &mut self.text[start..] {
                *byte =
                    if is_first { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
                is_first = *byte == b'-';
            }
        }
        self.add(start, value);
        true
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// (name, value), sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|entry| self.pair(entry))
    }

    /// (name, its values), sorted by name.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u8], Values<'_>)> {
        self.entries.chunk_by(|a, b| self.text[a.name.clone()] == self.text[b.name.clone()]).map(
            |entries| (self.pair(&entries[0]).0, Values { headers: self, entries: entries.iter() }),
        )
    }

    fn pair(&self, entry: &Entry) -> (&[u8], &[u8]) {
        (&self.text[entry.name.clone()], &self.text[entry.value.clone()])
    }

    /// Files a value under the name that stands at `start`, the end of the text.
    fn add(&mut self, start: usize, value: &[u8]) {
        let name = start..self.text.len();
        self.text.extend_from_slice(value);
        let text = &self.text;
        let at =
            self.entries.partition_point(|entry| text[entry.name.clone()] <= text[name.clone()]);
        let value = name.end..self.text.len();
        self.entries.insert(at, Entry { name, value });
    }
}

impl PartialEq for Headers {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Headers {}

/// The values of one name.
#[derive(Clone, Debug)]
pub(super) struct Values<'a> {
    headers: &'a Headers,
    entries: std::slice::Iter<'a, Entry>,
}

impl<'a> Iterator for Values<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.entries.next().map(|entry| self.headers.pair(entry).1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl ExactSizeIterator for Values<'_> {}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_values_keep_their_order() {
        let mut headers = Headers::default();
        for (name, value) in [("b", "2"), ("a", "1"), ("b", "0"), ("a", "9"), ("c", "")] {
            assert!(headers.push(name.as_bytes(), value.as_bytes()));
        }
        let groups: Vec<(&[u8], Vec<&[u8]>)> =
            headers.groups().map(|(name, values)| (name, values.collect())).collect();
        let expected: [(&[u8], Vec<&[u8]>); 3] =
            [(b"a", vec![b"1", b"9"]), (b"b", vec![b"2", b"0"]), (b"c", vec![b""])];
        assert_eq!(groups, expected);
        headers.clear();
        assert!(headers.is_empty());
    }

    #[test]
    fn names_of_tokens_get_their_canonical_form() {
        let mut headers = Headers::default();
        for name in ["content-TYPE", "x-a--b", "etag", "not a token", "ümlaut"] {
            headers.push_canonical(name.as_bytes(), b"");
        }
        let names: Vec<&[u8]> = headers.iter().map(|(name, _)| name).collect();
        let expected: [&[u8]; 5] =
            [b"Content-Type", b"Etag", b"X-A--B", b"not a token", "ümlaut".as_bytes()];
        assert_eq!(names, expected);
    }

    #[test]
    fn there_is_a_most() {
        let mut headers = Headers::default();
        let added = (0..HEADERS_MAX + 5).filter(|_| headers.push(b"a", b"b")).count();
        assert_eq!((added, headers.len()), (HEADERS_MAX, HEADERS_MAX));
        assert!(!headers.push_canonical(b"a", b"b"));
    }
}
