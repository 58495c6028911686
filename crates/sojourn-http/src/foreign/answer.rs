//! HTTP/1.1 answers and coded bodies.

use crate::codec::{Body, Coding, KnownHeads, Piece, ResponseParser};
use crate::{BodyPolicy, CodecError};

/// An answer as its pieces joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Status, framing, coding and whether the connection lives on, as debug text.
    pub head: Option<String>,
    /// The head's bytes.
    pub head_bytes: Vec<u8>,
    /// The body, still coded.
    pub body: Vec<u8>,
    /// How many bytes behind the answer do not belong to it.
    pub bytes_left: usize,
}

/// Reads one answer that comes in these portions and then ends. `head_only`: to a HEAD request.
pub fn read_answer<'a>(
    portions: impl IntoIterator<Item = &'a [u8]>,
    head_only: bool,
) -> Result<Answer, CodecError> {
    let mut parser = ResponseParser::new(head_only, true);
    let mut known = KnownHeads::default();
    let mut answer = Answer::default();
    let mut is_done = false;
    for portion in portions {
        let mut input = portion;
        while !is_done {
            match parser.next(&mut input, &mut known)? {
                Piece::Body(bytes) => answer.body.extend_from_slice(bytes),
                Piece::Done => is_done = true,
                Piece::Head(head) => answer.head = Some(format!("{head:?}")),
                Piece::More => break,
            }
        }
        answer.bytes_left += input.len();
    }
    if !is_done {
        parser.end()?;
    }
    answer.head_bytes = parser.take_head();
    Ok(answer)
}

/// How a body is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// zlib, or bare deflate.
    Deflate,
    /// gzip.
    Gzip,
    /// As it is.
    Identity,
}

/// Decodes a body that comes in these portions. At most `bytes_max` are kept: if there are more
/// they are only counted when `truncates`, else refused. Returns what is kept and how many bytes
/// there were; errs in words.
pub fn read_content<'a>(
    content: Content,
    portions: impl IntoIterator<Item = &'a [u8]>,
    bytes_max: usize,
    truncates: bool,
) -> Result<(Vec<u8>, u64), String> {
    let mut body = Body::new(if truncates {
        BodyPolicy::Truncate { bytes_max }
    } else {
        BodyPolicy::Keep { bytes_max }
    });
    body.set_coding(match content {
        Content::Deflate => Coding::Deflate,
        Content::Gzip => Coding::Gzip,
        Content::Identity => Coding::Identity,
    });
    for portion in portions {
        body.push(portion).map_err(|error| error.to_string())?;
    }
    body.finish().map_err(|error| error.to_string())
}
