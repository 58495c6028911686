//! Where an output's lines go: as they are, or compressed, by the file's name.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Takes an output's bytes; compresses them if the file's name ends in `.gz`.
#[derive(Debug)]
pub enum LineSink<W: Write> {
    /// As they are.
    Plain(W),
    /// As a gzip file.
    Gzip(GzEncoder<W>),
}

impl<W: Write> LineSink<W> {
    /// For a file of this name.
    pub fn new(file_name: &str, inner: W) -> Self {
        if file_name.ends_with(".gz") {
            Self::Gzip(GzEncoder::new(inner, Compression::default()))
        } else {
            Self::Plain(inner)
        }
    }

    /// Writes some lines.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&mut self, lines: &str) -> io::Result<()> {
        match self {
            Self::Plain(inner) => inner.write_all(lines.as_bytes()),
            Self::Gzip(encoder) => encoder.write_all(lines.as_bytes()),
        }
    }

    /// Hands on what was written, so that whoever reads the file meanwhile finds it.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(inner) => inner.flush(),
            Self::Gzip(encoder) => encoder.flush(),
        }
    }

    /// Writes what is still held back, and gives the file back. Without it a compressed file is
    /// cut short.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(self) -> io::Result<W> {
        let mut inner = match self {
            Self::Plain(inner) => inner,
            Self::Gzip(encoder) => encoder.finish()?,
        };
        inner.flush()?;
        Ok(inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn names_say_whether_to_compress() {
        for name in ["a.json", "a.json.gz"] {
            let mut sink = LineSink::new(name, Vec::new());
            sink.write("one\n").unwrap();
            sink.write("two\n").unwrap();
            let bytes = sink.finish().unwrap();
            let mut text = String::new();
            if name.ends_with("gz") {
                GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
            } else {
                text = String::from_utf8(bytes).unwrap();
            }
            assert_eq!(text, "one\ntwo\n");
        }
    }
}
