//! The head of an answer out of its fields, RFC 9113 §8.

use crate::codec::head::{Coding, coding_of, fold_coding, parse_length, tokens};

use super::hpack::Fields;

/// Longest list of fields read, each counted with 32 bytes more. As long as a head of HTTP/1.1.
pub(super) const LIST_BYTES_MAX: usize = 64 * 1024;

/// What the head of an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Http2Head {
    /// Status code, 100 to 999.
    pub(crate) status: u16,
    /// How the body is coded.
    pub(crate) coding: Coding,
    /// The content-length, if it was given.
    pub(crate) length: Option<u64>,
}

/// What is wrong with a head or trailer; the fragment reads after "answered with ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) &'static str);

/// Reads a head or trailers field by field. What is wrong is remembered: the block must be decoded
/// to its end all the same, since later ones may build on its table.
#[derive(Debug)]
pub(super) struct HeadReader<'a> {
    status: Option<u16>,
    coding: Option<Coding>,
    length: Option<u64>,
    has_regular: bool,
    malformed: Option<Malformed>,
    is_trailer: bool,
    /// The head in the form of HTTP/1.1, if it is kept.
    text: &'a mut Vec<u8>,
    keeps_text: bool,
}

impl<'a> HeadReader<'a> {
    /// Writes the head to `text` if it is to be kept; a redirect's always is, for its location.
    pub(super) fn new(is_trailer: bool, text: &'a mut Vec<u8>, keeps_text: bool) -> Self {
        Self {
            status: None,
            coding: None,
            length: None,
            has_regular: false,
            malformed: None,
            is_trailer,
            text,
            keeps_text,
        }
    }

    /// Whether the head has been written down.
    pub(super) fn keeps_text(&self) -> bool {
        self.keeps_text
    }

    /// The head, when the whole block has been read.
    pub(super) fn finish(self) -> Result<Http2Head, Malformed> {
        if let Some(malformed) = self.malformed {
            return Err(malformed);
        }
        let status = match self.status {
            Some(status) => status,
            None if self.is_trailer => 0,
            None => return Err(Malformed("a head without a status")),
        };
        if self.keeps_text {
            self.text.extend_from_slice(b"\r\n");
        }
        Ok(Http2Head {
            status,
            coding: self.coding.unwrap_or(Coding::Identity),
            length: self.length,
        })
    }

    fn refuse(&mut self, what: &'static str) {
        self.malformed = self.malformed.or(Some(Malformed(what)));
    }

    fn check_name(&mut self, name: &[u8]) {
        if name.first() == Some(&b':') {
            if self.is_trailer {
                self.refuse("a status or another pseudo-header in its trailers");
            } else if name != b":status" {
                self.refuse("a pseudo-header that no answer may have");
            } else if self.has_regular {
                self.refuse("a status after other headers");
            }
            return;
        }
        self.has_regular = true;
        let is_name_byte = |byte: &u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
        if name.is_empty() || !name.iter().all(|byte| is_name_byte(byte) && *byte != b':') {
            self.refuse("a header name that HTTP/2 does not allow");
        }
        let is_forbidden = match name.len() {
            7 => name == b"upgrade",
            10 => matches!(name, b"connection" | b"keep-alive"),
            16 => name == b"proxy-connection",
            17 => name == b"transfer-encoding",
            _ => false,
        };
        if is_forbidden {
            self.refuse("a header about the connection, which HTTP/2 does not allow");
        }
    }

    fn status(&mut self, value: &[u8]) {
        let status = match value {
            [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] => {
                value.iter().fold(0, |status, digit| status * 10 + u16::from(digit - b'0'))
            }
            _ => return self.refuse("a status that is not three digits"),
        };
        if self.status.is_some() {
            return self.refuse("more than one status");
        }
        self.status = Some(status);
        self.keeps_text |= value[0] == b'3';
        if self.keeps_text {
            self.text.extend_from_slice(b"HTTP/2 ");
            self.text.extend_from_slice(value);
            self.text.extend_from_slice(b"\r\n");
        }
    }
}

impl Fields for HeadReader<'_> {
    fn wants(&mut self, name: &[u8]) -> bool {
        let is_wanted = self.keeps_text
            || match name.len() {
                7 => name == b":status",
                14 => name == b"content-length",
                16 => name == b"content-encoding",
                _ => false,
            };
        if !is_wanted {
            self.check_name(name);
        }
        is_wanted
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.check_name(name);
        if self.malformed.is_some() || self.is_trailer {
            return;
        }
        if name == b":status" {
            return self.status(value);
        }
        match name.len() {
            14 if name == b"content-length" => {
                let before = self.length;
                match parse_length(value) {
                    Ok(length) if before.is_none_or(|before| before == length) => {
                        self.length = Some(length);
                    }
                    _ => self.refuse("a content-length that is not one number below 2^63"),
                }
            }
            16 if name == b"content-encoding" => {
                for token in tokens(value) {
                    self.coding = fold_coding(self.coding, coding_of(token));
                }
            }
            _ => {}
        }
        if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return self.refuse("a header value with a line break in it");
        }
        if self.keeps_text {
            for part in [name, b": ", value, b"\r\n"] {
                self.text.extend_from_slice(part);
            }
        }
    }

    fn too_long(&mut self) {
        self.refuse("a head longer than 65536 bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs<'a> = &'a [(&'a str, &'a str)];

    fn read(pairs: Pairs<'_>, text: Option<&mut Vec<u8>>) -> Result<Http2Head, Malformed> {
        let mut unwanted = Vec::new();
        let keeps_text = text.is_some();
        let text = text.unwrap_or(&mut unwanted);
        let mut reader = HeadReader::new(false, text, keeps_text);
        for (name, value) in pairs {
            if reader.wants(name.as_bytes()) {
                reader.field(name.as_bytes(), value.as_bytes());
            }
        }
        reader.finish()
    }

    #[test]
    fn a_head_is_read_with_and_without_its_text() {
        let pairs = [
            (":status", "404"),
            ("content-length", "17"),
            ("content-encoding", "gzip"),
            ("x-a", "b: c"),
        ];
        let mut text = Vec::new();
        let head = read(&pairs, Some(&mut text)).expect("valid");
        assert_eq!(head, Http2Head { status: 404, coding: Coding::Gzip, length: Some(17) });
        assert_eq!(read(&pairs, None), Ok(head));
        let expected =
            "HTTP/2 404\r\ncontent-length: 17\r\ncontent-encoding: gzip\r\nx-a: b: c\r\n\r\n";
        assert_eq!(String::from_utf8(text).as_deref(), Ok(expected));
        // A redirect's is written whether it is wanted or not.
        let mut text = Vec::new();
        let mut reader = HeadReader::new(false, &mut text, false);
        for (name, value) in [(":status", "302"), ("location", "/x")] {
            assert!(reader.wants(name.as_bytes()));
            reader.field(name.as_bytes(), value.as_bytes());
        }
        reader.finish().expect("valid");
        assert_eq!(text, b"HTTP/2 302\r\nlocation: /x\r\n\r\n");
    }

    #[test]
    fn malformed_heads_are_refused() {
        let ok = (":status", "200");
        for pairs in [
            &[][..],
            &[("x", "y")],
            &[("x", "y"), ok],
            &[ok, ok],
            &[(":status", "20")],
            &[(":status", "0200")],
            &[(":status", "+20")],
            &[ok, (":path", "/")],
            &[ok, ("X", "y")],
            &[ok, ("", "y")],
            &[ok, ("x y", "z")],
            &[ok, ("x:", "z")],
            &[ok, ("connection", "close")],
            &[ok, ("transfer-encoding", "chunked")],
            &[ok, ("content-length", "1"), ("content-length", "2")],
            &[ok, ("content-length", "-1")],
            &[ok, ("x", "y\r\nz: a")],
            &[ok, ("x", "y\0")],
        ] {
            assert!(read(pairs, Some(&mut Vec::new())).is_err(), "{pairs:?}");
        }
        let mut text = Vec::new();
        let mut trailers = HeadReader::new(true, &mut text, false);
        trailers.field(b":status", b"200");
        assert!(trailers.finish().is_err());
    }
}
