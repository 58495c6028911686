//! A message as it came off the wire.

/// One received message, borrowed from the connector.
#[derive(Clone, Debug)]
pub struct RawMessage<'a> {
    /// When the receive callback had it, CLOCK_MONOTONIC nanoseconds, before any decoding.
    pub stamp_ns: u64,
    /// Topic, subject, exchange, path: the name within the channel.
    pub topic: &'a str,
    /// The message key, where the broker has one.
    pub key: Option<&'a [u8]>,
    /// Headers in order. Names as sent.
    pub headers: Vec<(&'a str, &'a [u8])>,
    /// The payload.
    pub payload: &'a [u8],
    /// Where it lies in the broker, where that has meaning: used to drop our own re-reads.
    pub position: Option<Position>,
}

/// A message's place in its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Partition (with its topic's number in the upper bits, so that it is unique in the tap).
    pub partition: u64,
    /// Offset; later messages have greater ones.
    pub offset: u64,
}

impl RawMessage<'_> {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers
            .iter()
            .find(|(header, _)| header.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }
}
