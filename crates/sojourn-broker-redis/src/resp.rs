//! RESP2, the protocol of Redis: where an answer ends, its parts read in place, commands written.
//!
//! An answer is a tree of values, but its end is found by counting: an array of n adds n values to
//! be read, every value takes one away. So an answer that comes in pieces is looked at once, and
//! nothing is built from it: whoever expects a shape walks over it with a [`Cursor`].

/// Longest line: type, number, simple text or error.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Bytes that are no RESP2, or too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Finds the end of an answer that comes in pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner {
    /// Bytes looked at.
    at: usize,
    /// Values that are still to come.
    values_left: usize,
    bytes_max: usize,
}

impl Scanner {
    /// For an answer of at most so many bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { at: 0, values_left: 1, bytes_max }
    }

    /// Length of the answer that `bytes` begin with; `None` while some of it is missing. Called
    /// again with the same bytes and more behind them.
    pub(crate) fn end(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        while self.values_left > 0 {
            let Some((token, length)) = header(bytes.get(self.at..).unwrap_or_default())? else {
                return Ok(None);
            };
            let mut next = self.at + length;
            match token {
                Header::Array(values) => {
                    // Every value is at least four bytes long.
                    if values > self.bytes_max / 4 {
                        return Err(Malformed("an answer is too large"));
                    }
                    self.values_left += values;
                }
                Header::Bulk(length) => {
                    if length > self.bytes_max {
                        return Err(Malformed("an answer is too large"));
                    }
                    next += length + 2;
                }
                Header::Line(_) | Header::Nil => {}
            }
            if next > self.bytes_max || self.values_left > self.bytes_max {
                return Err(Malformed("an answer is too large"));
            }
            if next > bytes.len() {
                return Ok(None);
            }
            if matches!(token, Header::Bulk(_)) && &bytes[next - 2..next] != b"\r\n" {
                return Err(Malformed("a text that is longer than it says"));
            }
            self.at = next;
            self.values_left -= 1;
        }
        Ok(Some(self.at))
    }
}

/// A value's first line.
enum Header {
    /// Simple text, error or integer: all there is.
    Line(u8),
    Nil,
    /// So many bytes follow.
    Bulk(usize),
    /// So many values follow.
    Array(usize),
}

/// The first line of a value and its length; `None`: it is not all there.
fn header(bytes: &[u8]) -> Result<Option<(Header, usize)>, Malformed> {
    let Some(kind) = bytes.first().copied() else {
        return Ok(None);
    };
    if !b"+-:$*".contains(&kind) {
        return Err(Malformed("this is not the protocol of Redis"));
    }
    let head = &bytes[..bytes.len().min(LINE_BYTES_MAX)];
    let Some(end) = head.windows(2).position(|two| two == b"\r\n") else {
        return match head.len() < LINE_BYTES_MAX {
            true => Ok(None),
            false => Err(Malformed("a line is too long")),
        };
    };
    let line = &bytes[1..end];
    let header = match kind {
        b'$' | b'*' if line == b"-1" => Header::Nil,
        b'$' => Header::Bulk(length(line)?),
        b'*' => Header::Array(length(line)?),
        b':' if number(line).is_none() => return Err(Malformed("a number is none")),
        kind => Header::Line(kind),
    };
    Ok(Some((header, end + 2)))
}

fn length(digits: &[u8]) -> Result<usize, Malformed> {
    let length = number(digits).and_then(|length| usize::try_from(length).ok());
    length.ok_or(Malformed("a length is none"))
}

fn number(digits: &[u8]) -> Option<i64> {
    let (negative, digits) = match digits {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number: i64 = 0;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(if negative { -number } else { number })
}

/// One value, or an array's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// The values that follow belong to it.
    Array(usize),
    Bulk(&'a [u8]),
    Simple(&'a [u8]),
    Error(&'a [u8]),
    Integer(i64),
    Nil,
}

/// Walks over a whole answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
}

/// Of an answer that has another shape than the command's.
const UNEXPECTED: Malformed = Malformed("an answer has another shape than was asked for");

impl<'a> Cursor<'a> {
    /// At the beginning of an answer.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next value; an array's values come after it.
    pub(crate) fn token(&mut self) -> Result<Token<'a>, Malformed> {
        let (header, length) = header(self.bytes)?.ok_or(UNEXPECTED)?;
        let (head, rest) = self.bytes.split_at(length);
        let line = &head[1..length - 2];
        self.bytes = rest;
        Ok(match header {
            Header::Nil => Token::Nil,
            Header::Array(values) => Token::Array(values),
            Header::Bulk(length) => {
                let bulk = rest.get(..length).ok_or(UNEXPECTED)?;
                self.bytes = rest.get(length + 2..).ok_or(UNEXPECTED)?;
                Token::Bulk(bulk)
            }
            Header::Line(b'+') => Token::Simple(line),
            Header::Line(b'-') => Token::Error(line),
            Header::Line(_) => Token::Integer(number(line).ok_or(UNEXPECTED)?),
        })
    }

    /// How many values an array has that must come next.
    pub(crate) fn array(&mut self) -> Result<usize, Malformed> {
        match self.token()? {
            Token::Array(values) => Ok(values),
            _ => Err(UNEXPECTED),
        }
    }

    /// A text that must come next.
    pub(crate) fn text(&mut self) -> Result<&'a [u8], Malformed> {
        match self.token()? {
            Token::Bulk(text) | Token::Simple(text) => Ok(text),
            _ => Err(UNEXPECTED),
        }
    }

    /// A number; `None` where another value comes, which is passed over.
    pub(crate) fn number(&mut self) -> Result<Option<u64>, Malformed> {
        let mut ahead = *self;
        match ahead.token()? {
            Token::Integer(number) => {
                *self = ahead;
                Ok(u64::try_from(number).ok())
            }
            Token::Bulk(text) | Token::Simple(text) => {
                *self = ahead;
                Ok(number(text).and_then(|number| u64::try_from(number).ok()))
            }
            _ => self.skip().map(|()| None),
        }
    }

    /// Passes over the next value with all that belongs to it.
    pub(crate) fn skip(&mut self) -> Result<(), Malformed> {
        let mut left: usize = 1;
        while left > 0 {
            left -= 1;
            if let Token::Array(values) = self.token()? {
                left = left.checked_add(values).ok_or(UNEXPECTED)?;
            }
        }
        Ok(())
    }

    /// Whether nothing is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Appends a command.
pub(crate) fn write_command(output: &mut Vec<u8>, arguments: &[&[u8]]) {
    write_begin(output, arguments.len());
    for argument in arguments {
        write_argument(output, argument);
    }
}

/// Begins a command of so many arguments, its name among them.
pub(crate) fn write_begin(output: &mut Vec<u8>, arguments: usize) {
    write_header(output, b'*', arguments);
}

/// Appends an argument.
pub(crate) fn write_argument(output: &mut Vec<u8>, argument: &[u8]) {
    write_header(output, b'$', argument.len());
    output.extend_from_slice(argument);
    output.extend_from_slice(b"\r\n");
}

fn write_header(output: &mut Vec<u8>, kind: u8, number: usize) {
    output.push(kind);
    output.extend_from_slice(number.to_string().as_bytes());
    output.extend_from_slice(b"\r\n");
}

#[cfg(test)]
#[path = "resp_tests.rs"]
mod tests;
