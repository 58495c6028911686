//! Reading targets one after the other, from a file or a stream.

use std::{
    io::{BufRead, ErrorKind, Read},
    sync::Arc,
};

use super::{
    http_targets, json_targets,
    target::{Target, TargetDefaults, TargetError, Wrong},
};

/// Longest line read, bytes: a JSON target has its body in it.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// How targets are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetFormat {
    /// `METHOD URL`, then headers, then `@file` for the body, then a blank line.
    #[default]
    Http,
    /// One JSON object a line.
    Json,
}

/// Reads the body files that targets name.
pub type BodyFiles<'a> = dyn FnMut(&str) -> std::io::Result<Vec<u8>> + Send + 'a;

/// Targets from text, one at a time.
pub struct TargetReader<'a, R> {
    pub(super) lines: Lines<R>,
    pub(super) defaults: TargetDefaults,
    pub(super) files: Box<BodyFiles<'a>>,
    format: TargetFormat,
    /// Nothing follows: the end, or an error.
    ended: bool,
}

impl<'a, R: BufRead> TargetReader<'a, R> {
    /// A reader; `name` is the file's, for messages.
    pub fn new(
        name: &str,
        input: R,
        format: TargetFormat,
        defaults: TargetDefaults,
        files: Box<BodyFiles<'a>>,
    ) -> Self {
        let lines = Lines { input, name: name.to_owned(), number: 0, next: None };
        Self { lines, defaults, files, format, ended: false }
    }

    /// A body file's contents.
    pub(super) fn body(&mut self, path: &str) -> Result<Arc<[u8]>, Wrong> {
        (self.files)(path)
            .map(Arc::from)
            .map_err(|error| (format!("bad body: {path}: {error}"), None))
    }
}

impl<R: BufRead> Iterator for TargetReader<'_, R> {
    type Item = Result<Target, TargetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let target = match self.format {
            TargetFormat::Http => http_targets::next(self),
            TargetFormat::Json => json_targets::next(self),
        };
        self.ended = !matches!(target, Ok(Some(_)));
        target.transpose()
    }
}

/// Trimmed lines with their numbers, and one line of looking ahead.
pub(super) struct Lines<R> {
    input: R,
    name: String,
    number: u64,
    /// A line that was looked at and left.
    next: Option<String>,
}

impl<R: BufRead> Lines<R> {
    /// The next line, trimmed; `None` at the end.
    pub(super) fn take(&mut self) -> Result<Option<String>, TargetError> {
        if let Some(line) = self.next.take() {
            self.number += 1;
            return Ok(Some(line));
        }
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes);
        match read {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return self.take(),
            Err(error) => return Err(self.wrong((format!("cannot be read: {error}"), None))),
        }
        self.number += 1;
        if bytes.len() as u64 > LINE_BYTES_MAX {
            return Err(self.wrong((
                format!("a line of more than {} MB", LINE_BYTES_MAX >> 20),
                Some("put the body into a file and name it with @".to_owned()),
            )));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| self.wrong(("the line is not UTF-8 text".to_owned(), None)))?;
        Ok(Some(text.trim().to_owned()))
    }

    /// Puts the line back that was taken last.
    pub(super) fn put_back(&mut self, line: String) {
        self.number -= 1;
        self.next = Some(line);
    }

    /// An error at the line taken last.
    pub(super) fn wrong(&self, (message, hint): Wrong) -> TargetError {
        TargetError { file: self.name.clone(), line: self.number, message, hint }
    }
}
