//! Where a command writes to: a file, or standard output.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{ErrorKind, IsTerminal, Seek, Write},
    path::Path,
};

use crate::errors::UsageError;

/// Clears a terminal.
const CLEAR: &[u8] = b"\x1b[2J\x1b[0;0H";

/// An open output.
pub(crate) struct Output {
    name: OsString,
    stream: Stream,
}

enum Stream {
    File(File),
    Stdout(std::io::Stdout),
}

/// Whether there is still anybody who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// There is, as far as can be told.
    Present,
    /// It has closed its end: what else is written is lost.
    Gone,
}

impl Output {
    /// Creates the file, or empties it; `stdout` is a word for standard output.
    pub(crate) fn open(name: &OsStr) -> Result<Self, UsageError> {
        let stream = if name == "stdout" {
            Stream::Stdout(std::io::stdout())
        } else {
            let created = File::create(Path::new(name));
            Stream::File(created.map_err(|error| UsageError::file("open", name, &error))?)
        };
        Ok(Self { name: name.to_os_string(), stream })
    }

    /// Writes all of it, and hands it on at once.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<Reader, UsageError> {
        let stream: &mut dyn Write = match &mut self.stream {
            Stream::File(file) => file,
            Stream::Stdout(stdout) => stdout,
        };
        match stream.write_all(bytes).and_then(|()| stream.flush()) {
            Ok(()) => Ok(Reader::Present),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
            Err(error) => Err(UsageError::file("write", &self.name, &error)),
        }
    }

    /// Clears the screen, if there is one, and empties the file.
    pub(crate) fn clear(&mut self) -> Result<Reader, UsageError> {
        match &mut self.stream {
            Stream::Stdout(stdout) if stdout.is_terminal() => self.write(CLEAR),
            Stream::File(file) => {
                // What is no plain file, such as a pipe with a name, can't be taken back.
                let is_plain = file.metadata().is_ok_and(|known| known.is_file());
                let emptied = match is_plain {
                    true => file.set_len(0).and_then(|()| file.rewind()),
                    false => Ok(()),
                };
                emptied.map_err(|error| UsageError::file("write", &self.name, &error))?;
                Ok(Reader::Present)
            }
            Stream::Stdout(_) => Ok(Reader::Present),
        }
    }
}
