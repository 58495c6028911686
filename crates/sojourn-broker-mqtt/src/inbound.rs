//! What has come and is not read yet.

use std::io::{self, Read};

use crate::codec::{self, Malformed};

/// What one reading takes at most, bytes.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;
/// A buffer that grew beyond this for one message is given back when it is empty.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// Bytes in the order received. It grows to hold one whole packet, whose length the codec bounds,
/// and a chunk.
#[derive(Debug, Default)]
pub(crate) struct Inbound {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inbound {
    /// Reads what there is room for; 0 at the end of the stream.
    pub(crate) fn fill(&mut self, source: &mut impl Read) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEPT_BYTES_MAX {
                self.bytes = Vec::new();
            }
        }
        if self.bytes.len() - self.end < CHUNK_BYTES {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let wanted = self.end + CHUNK_BYTES;
            if self.bytes.len() < wanted {
                self.bytes.resize(wanted.max(2 * self.bytes.len()), 0);
            }
        }
        let until = self.end + CHUNK_BYTES;
        let count = source.read(&mut self.bytes[self.end..until])?;
        self.end += count;
        Ok(count)
    }

    /// All that is there.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Forgets the first bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Takes the first packet of one of these types out, with its fixed header; others stay.
    pub(crate) fn take_first(&mut self, kinds: &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
        let mut place = 0;
        while let Some(found) = codec::frame(&self.bytes()[place..])? {
            let length = found.length;
            if kinds.contains(&found.kind()) {
                let begin = self.start + place;
                let packet = self.bytes[begin..begin + length].to_vec();
                self.bytes.copy_within(begin + length..self.end, begin);
                self.end -= length;
                return Ok(Some(packet));
            }
            place += length;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_taken_out_from_among_others() {
        let ping = [0xd0, 0];
        let ack = [0x40, 2, 0, 1];
        let mut inbound = Inbound::default();
        let all = [&ping[..], &ack, &ping, &ack[..3]].concat();
        assert_eq!(inbound.fill(&mut all.as_slice()).unwrap(), all.len());
        assert_eq!(inbound.take_first(&[4]).unwrap(), Some(ack.to_vec()));
        assert_eq!(inbound.take_first(&[4]).unwrap(), None);
        assert_eq!(inbound.bytes(), [&ping[..], &ping, &ack[..3]].concat());
        inbound.consume(4);
        assert!(codec::frame(inbound.bytes()).unwrap().is_none());
        inbound.fill(&mut &ack[3..]).unwrap();
        assert_eq!(inbound.take_first(&[4]).unwrap(), Some(ack.to_vec()));
        assert!(inbound.bytes().is_empty());
    }

    #[test]
    fn many_chunks_of_one_packet_are_kept_in_order() {
        let payload: Vec<u8> = (0..1_000_000_u32).map(|byte| byte as u8).collect();
        let mut source = payload.as_slice();
        let mut inbound = Inbound::default();
        while inbound.fill(&mut source).unwrap() > 0 {}
        assert_eq!(inbound.bytes(), payload);
        inbound.consume(payload.len());
        assert!(inbound.bytes().is_empty());
    }
}
