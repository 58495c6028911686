//! Finding the end of a record in a text: a line break, outside of quotes where those count.

use super::{fault::Fault, source::Source};

/// Looks for line ends in a source, each byte once, however the bytes arrive.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Whether a line break between double quotes belongs to the record.
    are_quotes_respected: bool,
    /// How many of the available bytes were looked at without finding the end.
    scanned: usize,
    /// Whether that ended within quotes.
    is_quoted: bool,
}

impl Lines {
    pub(super) fn new(are_quotes_respected: bool) -> Self {
        Self { are_quotes_respected, ..Self::default() }
    }

    /// Waits for a whole line: how many of the available bytes it has, its line break among them.
    /// The last line may lack it. `None` at the end.
    pub(super) fn next(&mut self, source: &mut Source) -> Result<Option<usize>, Fault> {
        loop {
            let available = source.available();
            if let Some(length) = self.scan(available) {
                (self.scanned, self.is_quoted) = (0, false);
                return Ok(Some(length));
            }
            self.scanned = available.len();
            if !source.fill()? {
                let rest = source.available().len();
                return match rest {
                    0 => Ok(None),
                    _ if self.is_quoted => Err(Fault::CutOff),
                    _ => Ok(Some(rest)),
                };
            }
        }
    }

    fn scan(&mut self, available: &[u8]) -> Option<usize> {
        let mut at = self.scanned;
        if !self.are_quotes_respected {
            return memchr::memchr(b'\n', available.get(at..)?).map(|found| at + found + 1);
        }
        while let Some(found) = memchr::memchr2(b'\n', b'"', available.get(at..)?) {
            at += found + 1;
            if available[at - 1] == b'"' {
                self.is_quoted = !self.is_quoted;
            } else if !self.is_quoted {
                return Some(at);
            }
        }
        None
    }
}
