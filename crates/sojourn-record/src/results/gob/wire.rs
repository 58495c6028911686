//! Reading the elements that everything else is made of. `None` is always: these bytes are not it.

use std::ops::Range;

/// Bytes of a message being read, and how far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Wire<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// How far it is read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// An unsigned integer: a byte below 128, or the negated count of the bytes that follow.
    #[inline]
    pub(super) fn uint(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        self.at += 1;
        if first < 128 {
            return Some(u64::from(first));
        }
        let count = usize::from(first.wrapping_neg());
        let bytes = self.bytes.get(self.at..self.at + count).filter(|bytes| bytes.len() <= 8)?;
        self.at += count;
        Some(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// A signed integer: its sign is the last bit.
    #[inline]
    pub(super) fn int(&mut self) -> Option<i64> {
        let value = self.uint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A length and so many bytes: where they are.
    #[inline]
    pub(super) fn text(&mut self) -> Option<Range<usize>> {
        let length = usize::try_from(self.uint()?).ok()?;
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        let range = self.at..end;
        self.at = end;
        Some(range)
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        &self.bytes[range]
    }

    /// The fields of a struct, each by its number from 0.
    pub(super) fn fields(
        &mut self,
        mut read: impl FnMut(u64, &mut Self) -> Option<()>,
    ) -> Option<()> {
        let mut next = 0u64;
        loop {
            let delta = self.uint()?;
            if delta == 0 {
                return Some(());
            }
            next = next.checked_add(delta)?;
            read(next - 1, self)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_the_format_has_them() {
        let uint = |bytes: &[u8]| Wire::new(bytes, 0).uint();
        assert_eq!(uint(&[7]), Some(7));
        assert_eq!(uint(&[0xff, 128]), Some(128));
        assert_eq!(uint(&[0xfe, 1, 0]), Some(256));
        assert_eq!(uint(&[0xf8, 255, 255, 255, 255, 255, 255, 255, 255]), Some(u64::MAX));
        for bad in [&[][..], &[0xff], &[0xfe, 1], &[0xf7, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[0x80]] {
            assert_eq!(uint(bad), None, "{bad:?}");
        }
        let int = |bytes: &[u8]| Wire::new(bytes, 0).int();
        assert_eq!(int(&[0]), Some(0));
        assert_eq!(int(&[1]), Some(-1));
        assert_eq!(int(&[0xff, 0xc8]), Some(100));
        assert_eq!(int(&[0xf8, 255, 255, 255, 255, 255, 255, 255, 255]), Some(i64::MIN));
    }

    #[test]
    fn a_length_beyond_the_end_is_no_text() {
        assert_eq!(Wire::new(b"\x02ab", 0).text(), Some(1..3));
        assert_eq!(Wire::new(b"\x03ab", 0).text(), None);
        assert_eq!(Wire::new(b"\xf8\xff\xff\xff\xff\xff\xff\xff\xffab", 0).text(), None);
    }
}
