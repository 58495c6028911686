//! Results into bytes.

use super::{AttackResult, csv, gob, json};

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Comma-separated values, without a header line.
    Csv,
    /// Go's self-describing binary stream, what an attack writes.
    Gob,
    /// One JSON object a line.
    Json,
}

impl Encoding {
    /// By the name that the command line has for it.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "csv" => Some(Self::Csv),
            "gob" => Some(Self::Gob),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Writes results one after the other as one stream.
#[derive(Debug)]
pub struct Encoder {
    encoding: Encoding,
    is_begun: bool,
}

impl Encoder {
    /// An encoder at the start of a stream.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        Self { encoding, is_begun: false }
    }

    /// Appends one result, the first one together with what the stream begins with. The result is
    /// whole in `out` afterwards: what is flushed up to here can be read.
    pub fn encode(&mut self, result: &AttackResult<'_>, out: &mut Vec<u8>) {
        self.begin(out);
        match self.encoding {
            Encoding::Csv => csv::encode(result, out),
            Encoding::Gob => gob::encode(result, out),
            Encoding::Json => json::encode(result, out),
        }
    }

    /// Appends what a stream begins with, unless that has happened: an attack without a single
    /// result is then still a readable stream.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if !self.is_begun && self.encoding == Encoding::Gob {
            out.extend_from_slice(gob::PREFIX);
        }
        self.is_begun = true;
    }
}
