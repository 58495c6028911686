//! Bytes of an input, of which one record at a time is held.

use std::io::{ErrorKind, Read};

/// Most bytes of a record. Memory grows with what has really arrived, never with what a length
/// claims.
pub(super) const RECORD_BYTES_MAX: usize = 1 << 30;

/// Bytes asked for at once: enough that the calls cost nothing, few enough to stay in the cache.
const CHUNK: usize = 128 << 10;

/// An input and those of its bytes that are not used yet.
pub(super) struct Source {
    input: Box<dyn Read>,
    buffer: Vec<u8>,
    /// What is not used yet begins here …
    start: usize,
    /// … and ends here; the rest of the buffer is room.
    end: usize,
    is_ended: bool,
    /// While the encoding is not known, nothing is thrown away.
    is_kept: bool,
}

impl Source {
    pub(super) fn new(input: Box<dyn Read>) -> Self {
        Self { input, buffer: Vec::new(), start: 0, end: 0, is_ended: false, is_kept: true }
    }

    /// What is not used yet.
    pub(super) fn available(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The whole buffer, and where in it the unused begins. Places in it hold until the next
    /// [`Self::fill`].
    pub(super) fn buffer(&self) -> (&[u8], usize) {
        (&self.buffer[..self.end], self.start)
    }

    /// Counts so many of the available bytes as used.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Back to the first byte, which only works before [`Self::settle`].
    pub(super) fn rewind(&mut self) {
        self.start = 0;
    }

    /// From now on used bytes may be forgotten.
    pub(super) fn settle(&mut self) {
        self.is_kept = false;
    }

    /// Reads more; false at the end of the input. An error leaves all as it was, so that the call
    /// can be repeated.
    pub(super) fn fill(&mut self) -> std::io::Result<bool> {
        if self.is_ended {
            return Ok(false);
        }
        self.make_room()?;
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    self.is_ended = count == 0;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Room for a chunk: by moving what is unused to the front, else by growing.
    fn make_room(&mut self) -> std::io::Result<()> {
        if self.start > 0 && !self.is_kept {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            if self.buffer.len() >= RECORD_BYTES_MAX {
                let most = RECORD_BYTES_MAX >> 20;
                return Err(std::io::Error::other(format!("a record is longer than {most} MiB")));
            }
            self.buffer.resize((2 * self.buffer.len()).clamp(CHUNK, RECORD_BYTES_MAX), 0);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("available", &(self.end - self.start))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out its parts one by one; an empty one is an error.
    struct Parts(Vec<&'static [u8]>);

    impl Read for Parts {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let part = self.0.remove(0);
            if part.is_empty() {
                return Err(ErrorKind::TimedOut.into());
            }
            into[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn an_error_in_the_middle_loses_nothing() {
        let mut source = Source::new(Box::new(Parts(vec![b"ab", b"", b"cd"])));
        assert!(source.fill().unwrap());
        source.consume(1);
        assert_eq!(source.fill().unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(source.available(), b"b");
        source.rewind();
        source.settle();
        assert!(source.fill().unwrap());
        assert_eq!(source.available(), b"abcd");
        source.consume(3);
        assert!(!source.fill().unwrap() && !source.fill().unwrap());
        assert_eq!(source.available(), b"d");
        source.consume(9);
        assert_eq!(source.available(), b"");
    }

    #[test]
    fn memory_follows_what_arrives() {
        let mut source = Source::new(Box::new(std::io::repeat(7).take(5 * CHUNK as u64)));
        source.settle();
        while source.fill().unwrap() {}
        assert_eq!(source.available().len(), 5 * CHUNK);
        assert!(source.buffer.len() <= 8 * CHUNK);
    }
}
