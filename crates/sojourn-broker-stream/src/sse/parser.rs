//! From bytes to events, as the HTML standard says (9.2.5 and 9.2.6).

use memchr::memchr2;

/// The longest event or line taken, bytes.
pub(crate) const EVENT_BYTES_MAX: usize = 16 << 20;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    /// Its name; `message` where it gives none.
    pub(crate) name: &'a [u8],
    /// The last id that was given, by this event or an earlier one; empty: none.
    pub(crate) id: &'a [u8],
    /// Its lines of data, joined by line feeds.
    pub(crate) data: &'a [u8],
}

/// An event or a line is longer than [`EVENT_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Reads a stream in portions of any size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parser {
    /// A line that is not whole yet.
    line: Vec<u8>,
    /// The first line has been read: a byte order mark is no mark any more.
    began: bool,
    /// The last line ended with a carriage return, which a line feed may belong to.
    after_return: bool,
    name: Vec<u8>,
    data: Vec<u8>,
    /// The last id given, and the one that counts since the last event.
    id_given: Vec<u8>,
    id: Vec<u8>,
    retry_ms: Option<u64>,
}

impl Parser {
    /// Of a stream after one in which this id counted.
    pub(crate) fn after(id: &[u8]) -> Self {
        Self { id_given: id.to_vec(), id: id.to_vec(), ..Self::default() }
    }

    /// The id of the last event, for `Last-Event-ID`; empty: none.
    pub(crate) fn last_id(&self) -> &[u8] {
        &self.id
    }

    /// How long to wait before connecting again, if the stream has said so, milliseconds.
    pub(crate) fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Takes the next bytes and hands over the events that they complete.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        each: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        if !bytes.is_empty() && std::mem::take(&mut self.after_return) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            if self.line.is_empty() {
                self.take_line(&bytes[..end], each)?;
            } else {
                self.keep(&bytes[..end])?;
                let mut line = std::mem::take(&mut self.line);
                self.take_line(&line, each)?;
                line.clear();
                self.line = line;
            }
            let is_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if is_return {
                match bytes.split_first() {
                    Some((b'\n', rest)) => bytes = rest,
                    Some(_) => {}
                    None => self.after_return = true,
                }
            }
        }
        self.keep(bytes)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > EVENT_BYTES_MAX {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take_line(
        &mut self,
        mut line: &[u8],
        each: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        if !std::mem::replace(&mut self.began, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(each);
            return Ok(());
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, rest) = line.split_at(colon);
        let value = rest.strip_prefix(b":").unwrap_or(rest);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"data" => {
                if self.data.len() + value.len() + 1 > EVENT_BYTES_MAX {
                    return Err(TooLong);
                }
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"id" if !value.contains(&0) => {
                self.id_given.clear();
                self.id_given.extend_from_slice(value);
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).unwrap_or_default();
                self.retry_ms = Some(digits.parse().unwrap_or(u64::MAX));
            }
            // A comment, or a field that nobody knows.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, each: &mut dyn FnMut(Event<'_>)) {
        self.id.clone_from(&self.id_given);
        if let Some((_, data)) = self.data.split_last() {
            let name: &[u8] = if self.name.is_empty() { b"message" } else { &self.name };
            each(Event { name, id: &self.id, data });
        }
        self.data.clear();
        self.name.clear();
    }
}
