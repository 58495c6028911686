//! Heads that have come lately: one that is the same to the byte says the same.
//!
//! What a server answers to the same request mostly begins as its last answer did, but for the
//! Date once a second. Parsing a head of five headers takes a third of all that a request costs
//! here; comparing it takes a fiftieth of that. Heads that differ each time cost a comparison that
//! ends at the first difference, and a copy.

use super::CodecError;
use super::head::{Head, parse_head};

/// Heads kept: answers of several kinds that come in turn mostly differ in length.
const PLACES: usize = 8;

/// A longer head is not kept.
const BYTES_MAX: usize = 1_024;

/// The heads of one client.
#[derive(Debug, Default)]
pub(crate) struct KnownHeads([Option<Known>; PLACES]);

/// A head and what it says.
#[derive(Debug)]
struct Known {
    bytes: Vec<u8>,
    head: Head,
    head_only: bool,
}

impl KnownHeads {
    /// As [`parse_head`], which only depends on the bytes up to the head's end.
    #[inline]
    pub(super) fn parse(
        &mut self,
        bytes: &[u8],
        head_only: bool,
    ) -> Result<Option<(Head, usize)>, CodecError> {
        let place = &mut self.0[bytes.len() % PLACES];
        match place {
            Some(known) if known.head_only == head_only && bytes.starts_with(&known.bytes) => {
                Ok(Some((known.head, known.bytes.len())))
            }
            _ => parse_anew(place, bytes, head_only),
        }
    }
}

/// Parses a head, and keeps it in this place.
fn parse_anew(
    place: &mut Option<Known>,
    bytes: &[u8],
    head_only: bool,
) -> Result<Option<(Head, usize)>, CodecError> {
    let parsed = parse_head(bytes, head_only)?;
    if let Some((head, length)) = parsed
        && length <= BYTES_MAX
    {
        let mut kept = place.take().map_or_else(Vec::new, |known| known.bytes);
        kept.clear();
        kept.extend_from_slice(&bytes[..length]);
        *place = Some(Known { bytes: kept, head, head_only });
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_what_would_be_parsed() {
        let mut known = KnownHeads::default();
        let heads = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nServer: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nServer: x\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConn: x\r\n\r\n",
            "HTTP/1.1 500 No\r\nConnection: close\r\nServer: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\nServer: x\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "SSH-2.0",
            "",
        ];
        // Each after each, and what follows a head does not matter.
        for (first, second) in heads.iter().flat_map(|first| heads.map(|second| (first, second))) {
            for after in ["", "hello", "HTTP/1.1 200 OK\r\n\r\n"] {
                for text in [*first, second] {
                    let bytes = [text, after].concat().into_bytes();
                    for head_only in [false, true] {
                        let parsed = known.parse(&bytes, head_only);
                        assert_eq!(parsed, parse_head(&bytes, head_only), "{text:?} {after:?}");
                    }
                }
            }
        }
        assert!(known.0.iter().flatten().count() > 1);
    }

    #[test]
    fn a_long_head_is_not_kept() {
        let mut known = KnownHeads::default();
        let long = format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "x".repeat(BYTES_MAX));
        assert!(known.parse(long.as_bytes(), false).is_ok_and(|parsed| parsed.is_some()));
        assert!(known.0.iter().all(Option::is_none));
    }
}
