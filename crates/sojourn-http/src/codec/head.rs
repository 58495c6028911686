//! The head of an answer: status, framing, whether the connection lives on.

use std::mem::MaybeUninit;

use super::CodecError;

/// Longest head read, status line and headers with their line ends.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Most headers in a head.
const HEADERS_MAX: usize = 128;

/// Lengths above this are absurd, and would overflow sums.
const LENGTH_MAX: u64 = i64::MAX as u64;

/// What a head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Status code.
    pub(crate) status: u16,
    /// Where the body ends.
    pub(crate) framing: Framing,
    /// How the body is coded.
    pub(crate) coding: Coding,
    /// The connection may carry another request.
    pub(crate) keep_alive: bool,
}

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// At the end of its last chunk and trailers.
    Chunked,
    /// After so many bytes; zero where there is no body.
    Length(u64),
    /// With the connection.
    UntilClose,
}

/// A body's content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// zlib, or bare deflate as some servers send.
    Deflate,
    /// gzip.
    Gzip,
    /// As it is.
    Identity,
    /// One we don't decode, or several.
    Unknown,
}

/// Parses a whole head at the beginning of `bytes` and says its length; `None` if it is not all
/// there. `head_only`: the answer to HEAD, which has no body.
pub(crate) fn parse_head(
    bytes: &[u8],
    head_only: bool,
) -> Result<Option<(Head, usize)>, CodecError> {
    if bytes.first().is_some_and(|first| *first != b'H') {
        return Err(CodecError::NotHttp);
    }
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        bytes,
        &mut headers,
    );
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() <= HEAD_BYTES_MAX => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(CodecError::HeadTooLong),
        Err(httparse::Error::Version) => return Err(CodecError::NotHttp),
        Err(error) => return Err(CodecError::Head(error)),
    };
    if length > HEAD_BYTES_MAX {
        return Err(CodecError::HeadTooLong);
    }
    let (Some(status), Some(minor)) = (response.code, response.version) else {
        return Err(CodecError::NotHttp);
    };
    let fields = Fields::read(response.headers)?;
    Ok(Some((fields.head(status, minor, head_only), length)))
}

/// The headers that framing depends on.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    transfer_encoding: bool,
    chunked_last: bool,
    close: bool,
    keep_alive: bool,
    coding: Option<Coding>,
}

impl Fields {
    fn read(headers: &[httparse::Header<'_>]) -> Result<Self, CodecError> {
        let mut fields = Self::default();
        for header in headers {
            // By length first: most headers are none of these.
            match header.name.len() {
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    for token in tokens(header.value) {
                        fields.close |= token.eq_ignore_ascii_case(b"close");
                        fields.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
                    }
                }
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    let length = parse_length(header.value)?;
                    if fields.length.is_some_and(|other| other != length) {
                        return Err(CodecError::ContentLength);
                    }
                    fields.length = Some(length);
                }
                16 if header.name.eq_ignore_ascii_case("content-encoding") => {
                    for token in tokens(header.value) {
                        fields.coding = fold_coding(fields.coding, coding_of(token));
                    }
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    fields.transfer_encoding = true;
                    for token in tokens(header.value) {
                        fields.chunked_last = token.eq_ignore_ascii_case(b"chunked");
                        if !fields.chunked_last {
                            // A transfer coding hides the content's own; rare enough to refuse.
                            fields.coding = Some(Coding::Unknown);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(fields)
    }

    fn head(&self, status: u16, minor: u8, head_only: bool) -> Head {
        // RFC 9112 §6.3, in its order.
        let framing = if head_only || matches!(status, 100..=199 | 204 | 304) {
            Framing::Length(0)
        } else if self.chunked_last {
            Framing::Chunked
        } else if self.transfer_encoding {
            Framing::UntilClose
        } else {
            self.length.map_or(Framing::UntilClose, Framing::Length)
        };
        let wants_to_live = !self.close && (minor >= 1 || self.keep_alive);
        // Both framings at once, or chunks in HTTP/1.0: read it, but trust the connection no more.
        let ambiguous = self.transfer_encoding && (self.length.is_some() || minor == 0);
        Head {
            status,
            framing,
            coding: self.coding.unwrap_or(Coding::Identity),
            keep_alive: wants_to_live
                && !ambiguous
                && status != 101
                && framing != Framing::UntilClose,
        }
    }
}

/// The words of a list header.
pub(super) fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// Codings one after the other; more than one is one that we don't decode.
pub(super) fn fold_coding(before: Option<Coding>, coding: Coding) -> Option<Coding> {
    match (before, coding) {
        (before, Coding::Identity) => before,
        (None, coding) => Some(coding),
        (Some(_), _) => Some(Coding::Unknown),
    }
}

/// A content coding by its name.
pub(super) fn coding_of(token: &[u8]) -> Coding {
    if token.eq_ignore_ascii_case(b"gzip") || token.eq_ignore_ascii_case(b"x-gzip") {
        Coding::Gzip
    } else if token.eq_ignore_ascii_case(b"deflate") {
        Coding::Deflate
    } else if token.eq_ignore_ascii_case(b"identity") {
        Coding::Identity
    } else {
        Coding::Unknown
    }
}

/// The number in a Content-Length.
pub(super) fn parse_length(value: &[u8]) -> Result<u64, CodecError> {
    let digits = value.trim_ascii();
    if digits.is_empty() {
        return Err(CodecError::ContentLength);
    }
    let mut length = 0_u64;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return Err(CodecError::ContentLength);
        }
        length = length
            .checked_mul(10)
            .and_then(|tens| tens.checked_add(u64::from(byte - b'0')))
            .filter(|length| *length <= LENGTH_MAX)
            .ok_or(CodecError::ContentLength)?;
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        parse_head(text.as_bytes(), false).expect("valid").expect("whole").0
    }

    #[test]
    fn keep_alive_follows_version_and_connection() {
        let check = |text: &str, keep_alive: bool| {
            assert_eq!(head(text).keep_alive, keep_alive, "{text:?}");
        };
        check("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", true);
        check("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false);
        check("HTTP/1.0 200 OK\r\ncontent-length: 0\r\nConnection: Keep-Alive\r\n\r\n", true);
        check("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: foo , CLOSE\r\n\r\n", false);
        check("HTTP/1.1 200 OK\r\n\r\n", false);
        check("HTTP/1.1 204 No Content\r\n\r\n", true);
        check("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n", false);
    }

    #[test]
    fn framing_follows_the_rfc() {
        let check = |text: &str, framing: Framing| {
            assert_eq!(head(text).framing, framing, "{text:?}");
        };
        check("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", Framing::Length(7));
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\ncontent-length: 7\r\n\r\n",
            Framing::Length(7),
        );
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\ncontent-length: 9\r\n\r\n",
            Framing::Chunked,
        );
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", Framing::UntilClose);
        check("HTTP/1.1 200 OK\r\n\r\n", Framing::UntilClose);
        check("HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n", Framing::Length(0));
    }

    #[test]
    fn absurd_lengths_are_refused() {
        for value in [
            "",
            "-1",
            "+1",
            "1 2",
            "5, 5",
            "0x10",
            "9223372036854775808",
            "99999999999999999999999",
        ] {
            let text = format!("HTTP/1.1 200 OK\r\ncontent-length: {value}\r\n\r\n");
            assert_eq!(
                parse_head(text.as_bytes(), false),
                Err(CodecError::ContentLength),
                "{value:?}"
            );
        }
        let differing = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n";
        assert_eq!(parse_head(differing, false), Err(CodecError::ContentLength));
    }

    #[test]
    fn codings_are_told_apart() {
        let check = |value: &str, coding: Coding| {
            let text = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {value}\r\n\r\n");
            assert_eq!(head(&text).coding, coding, "{value:?}");
        };
        check("gzip", Coding::Gzip);
        check("X-GZIP", Coding::Gzip);
        check("identity, deflate", Coding::Deflate);
        check("br", Coding::Unknown);
        check("gzip, gzip", Coding::Unknown);
        check("", Coding::Identity);
    }
}
