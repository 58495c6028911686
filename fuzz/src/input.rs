//! What a target is given.

/// An input, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Options of the target: the first byte.
    pub options: u8,
    /// How the bytes are cut: the second byte.
    cut: u8,
    /// The foreign bytes.
    pub bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// Takes an input apart; one that is too short has zeros.
    pub fn new(data: &'a [u8]) -> Self {
        let (control, bytes) = data.split_at(data.len().min(2));
        let byte = |at: usize| control.get(at).copied().unwrap_or(0);
        Self { options: byte(0), cut: byte(1), bytes }
    }

    /// Whether option `number` (0 to 7) is chosen.
    pub fn has(&self, number: u8) -> bool {
        self.options >> number & 1 != 0
    }

    /// A length of portions from one byte up.
    pub fn portion(&self) -> usize {
        usize::from(self.cut) + 1
    }

    /// The bytes in portions: two of them, or many of the same length.
    pub fn portions(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (first, rest) = if self.cut < 128 {
            self.bytes.split_at(0)
        } else {
            // One cut, after a share of the length.
            let share = self.bytes.len() * usize::from(self.cut - 128) / 128;
            self.bytes.split_at(share)
        };
        let length = if self.cut < 128 { usize::from(self.cut) + 1 } else { usize::MAX };
        [first].into_iter().filter(|first| !first.is_empty()).chain(rest.chunks(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_join_to_the_bytes() {
        let bytes: Vec<u8> = (0..200).collect();
        for cut in 0..=255 {
            let data = [&[0, cut], bytes.as_slice()].concat();
            let input = Input::new(&data);
            assert_eq!(input.portions().collect::<Vec<_>>().concat(), bytes, "{cut}");
            assert!(input.portions().all(|portion| !portion.is_empty()), "{cut}");
        }
        assert_eq!(Input::new(b"\x80\x02abcd").portions().count(), 2);
        assert!(Input::new(b"\x80").has(7) && !Input::new(b"").has(7));
    }
}
