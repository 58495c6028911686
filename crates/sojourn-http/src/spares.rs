//! Buffers of answers that have been looked at, for the next ones.

/// Longest buffer kept, bytes.
const BYTES_MAX: usize = 64 * 1024;
/// Most bytes kept in all.
const ALL_BYTES_MAX: usize = 8 << 20;
/// Most buffers kept.
const COUNT_MAX: usize = 4 * 1024;

/// Empty buffers, the one that came last at hand first: it is still in the cache.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    buffers: Vec<Vec<u8>>,
    /// What they have room for, bytes.
    bytes: usize,
}

impl Spares {
    /// An empty buffer, with or without room.
    #[inline]
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let buffer = self.buffers.pop().unwrap_or_default();
        self.bytes -= buffer.capacity();
        buffer
    }

    /// Keeps a buffer within the bounds.
    #[inline]
    pub(crate) fn give(&mut self, mut buffer: Vec<u8>) {
        let capacity = buffer.capacity();
        let fits = self.buffers.len() < COUNT_MAX && self.bytes + capacity <= ALL_BYTES_MAX;
        if (1..=BYTES_MAX).contains(&capacity) && fits {
            buffer.clear();
            self.bytes += capacity;
            self.buffers.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_comes_back_empty_and_no_more_than_the_bounds_is_kept() {
        let mut spares = Spares::default();
        assert_eq!(spares.take().capacity(), 0);
        spares.give(b"answer".to_vec());
        let again = spares.take();
        assert_eq!((again.len(), again.capacity(), spares.bytes), (0, 6, 0));
        spares.give(Vec::new());
        spares.give(Vec::with_capacity(BYTES_MAX + 1));
        assert!(spares.buffers.is_empty());
        (0..200).for_each(|_| spares.give(Vec::with_capacity(BYTES_MAX)));
        assert_eq!((spares.buffers.len(), spares.bytes), (128, ALL_BYTES_MAX));
        (0..128).for_each(|_| assert_eq!(spares.take().capacity(), BYTES_MAX));
        (0..=COUNT_MAX).for_each(|_| spares.give(vec![1]));
        assert_eq!(spares.buffers.len(), COUNT_MAX);
    }
}
