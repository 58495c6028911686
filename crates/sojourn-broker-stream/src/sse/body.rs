//! The answer's head, and its body without the framing of HTTP.

use sojourn_http::{Chunked, ChunkedPiece};

/// A head that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) location: Option<String>,
    pub(crate) body: Body,
    /// Bytes of the head, with its last line end.
    pub(crate) length: usize,
}

/// How a body is framed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// In chunks.
    Chunked(Chunked),
    /// So many bytes are still to come; `None`: until the connection ends.
    Plain(Option<u64>),
}

/// The longest head taken, bytes, and the most fields.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;
const FIELDS_MAX: usize = 128;

/// Reads a head; `None`: it is not there as a whole. Errs in words.
pub(crate) fn read_head(bytes: &[u8]) -> Result<Option<Head>, String> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut response = httparse::Response::new(&mut fields);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() > HEAD_BYTES_MAX => {
            return Err("a head of more than 64 KiB".to_owned());
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(format!("no HTTP: {error}")),
    };
    let field = |name: &str| {
        let found = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        found.map(|field| String::from_utf8_lossy(field.value).trim().to_owned())
    };
    if let Some(coding) = field("content-encoding")
        && !coding.eq_ignore_ascii_case("identity")
    {
        return Err(format!("a content coding that was not asked for: {coding}"));
    }
    let body = match field("transfer-encoding") {
        Some(coding) if coding.eq_ignore_ascii_case("chunked") => Body::Chunked(Chunked::default()),
        Some(coding) => return Err(format!("an unknown transfer coding: {coding}")),
        None => match field("content-length") {
            Some(length) => {
                let parsed = length.parse();
                Body::Plain(Some(parsed.map_err(|_| format!("a content length of {length}"))?))
            }
            None => Body::Plain(None),
        },
    };
    Ok(Some(Head {
        status: response.code.unwrap_or(0),
        content_type: field("content-type"),
        location: field("location"),
        body,
        length,
    }))
}

impl Body {
    /// Hands over what the next bytes hold of the body; whether it goes on. Errs in words.
    pub(crate) fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, BodyError<E>> {
        match self {
            Self::Chunked(chunked) => loop {
                let piece = chunked.next(&mut bytes);
                match piece.map_err(|error| BodyError::Framing(error.to_string()))? {
                    ChunkedPiece::Body(piece) => each(piece).map_err(BodyError::Content)?,
                    ChunkedPiece::Done => return Ok(false),
                    ChunkedPiece::More => return Ok(true),
                }
            },
            Self::Plain(None) => each(bytes).map(|()| true).map_err(BodyError::Content),
            Self::Plain(Some(left)) => {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= count as u64;
                each(&bytes[..count]).map(|()| *left > 0).map_err(BodyError::Content)
            }
        }
    }
}

/// Why a body can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyError<E> {
    /// Its framing.
    Framing(String),
    /// What it holds.
    Content(E),
}
