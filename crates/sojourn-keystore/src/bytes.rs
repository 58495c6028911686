//! Bytes taken from the front, as Java's `DataInput` and as DER have them. `None`: there are not as
//! many.

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*taken))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*taken))
    }

    /// Bytes behind their count.
    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// A text in Java's own UTF-8, in which each half of a surrogate pair is written by itself.
    pub(crate) fn text(&mut self) -> Option<String> {
        let length = self.u16()?;
        let mut bytes = Self(self.take(usize::from(length))?);
        let mut units = Vec::with_capacity(bytes.0.len());
        while let Some([first]) = bytes.take(1) {
            let first = u16::from(*first);
            units.push(match first {
                0x00..=0x7F => first,
                0xC0..=0xDF => (first & 0x1F) << 6 | bytes.six()?,
                0xE0..=0xEF => (first & 0x0F) << 12 | bytes.six()? << 6 | bytes.six()?,
                _ => return None,
            });
        }
        Some(String::from_utf16_lossy(&units))
    }

    /// The six bits of a byte that continues a character.
    fn six(&mut self) -> Option<u16> {
        let [byte] = self.take(1)? else { return None };
        (byte & 0xC0 == 0x80).then_some(u16::from(byte & 0x3F))
    }

    /// The content of a DER element with this tag.
    pub(crate) fn element(&mut self, tag: u8) -> Option<Self> {
        let [found, length] = *self.take(2)? else { return None };
        if found != tag {
            return None;
        }
        let length = match length {
            0x00..=0x7F => usize::from(length),
            // So many bytes of length follow; none, and more than four, are no length of ours.
            0x80 | 0x85.. => return None,
            _ => {
                let digits = self.take(usize::from(length & 0x7F))?;
                digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit))
            }
        };
        self.take(length).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_javas() {
        let text = |bytes: &[u8]| {
            let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
            Bytes(&[&length, bytes].concat()).text()
        };
        assert_eq!(text(b"client").as_deref(), Some("client"));
        assert_eq!(text("é€".as_bytes()).as_deref(), Some("é€"));
        // Each half of the pair by itself, and NUL as two bytes.
        assert_eq!(text(b"\xED\xA0\xBD\xED\xB8\x80\xC0\x80").as_deref(), Some("😀\0"));
        assert_eq!(text(b"\xC3"), None);
        assert_eq!(text(b"\xC3a"), None);
        assert_eq!(text(b"\xF0\x9F\x98\x80"), None);
        assert_eq!(Bytes(b"\0\x05abcd").text(), None);
    }

    #[test]
    fn elements_end_within_what_is_there() {
        let element = |bytes: &'static [u8]| Bytes(bytes).element(4).map(|content| content.0);
        assert_eq!(element(b"\x04\x02abc"), Some(&b"ab"[..]));
        assert_eq!(element(b"\x04\x81\x02ab"), Some(&b"ab"[..]));
        assert_eq!(element(b"\x04\x82\0\x01a"), Some(&b"a"[..]));
        for wrong in [&b"\x04\x03ab"[..], b"\x04\x80ab", b"\x04\x85\0\0\0\0\0", b"\x05\0", b"\x04"]
        {
            assert_eq!(element(wrong), None);
        }
        assert_eq!(element(b"\x04\x84\xFF\xFF\xFF\xFFab"), None);
    }
}
