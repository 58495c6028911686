//! `sojourn encode`: results of an attack in another encoding.

use std::ffi::OsString;

use sojourn_record::results::{Detail, Encoder, Encoding};

use crate::{
    errors::UsageError,
    results::{self, Output, Reader},
};

/// What is written is handed on in pieces of so many bytes …
const PIECE: usize = 64 << 10;
/// … or after this time, so that a slow stream flows all the same.
const PATIENCE_NS: u64 = 100_000_000;

/// Results of an attack in another encoding
///
/// Reads results in any encoding (gob, JSON, CSV, told apart by themselves) and writes them in one.
/// Several files are merged by time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn encode results.bin | jq -r 'select(.code != 200) | .url'
  sojourn encode -to csv results.bin > results.csv
  sojourn encode -to gob -output all.bin monday.bin tuesday.json

Flags may have one dash or two. A failure is one line on standard error and exit code 1.")]
pub(crate) struct Encode {
    /// Encoding to write: json, csv or gob
    #[arg(long, value_name = "ENCODING", default_value = "json")]
    to: String,
    /// Where to write
    #[arg(long, short, value_name = "FILE", default_value = "stdout")]
    output: OsString,
    /// Files with results [default: stdin]
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
}

/// Encodes.
pub(crate) fn run(command: &Encode) -> Result<u8, UsageError> {
    encode(command).map(|()| 0)
}

fn encode(command: &Encode) -> Result<(), UsageError> {
    let encoding = Encoding::of_name(&command.to)
        .ok_or_else(|| UsageError::runtime(format!("encode: unknown encoding {:?}", command.to)))?;
    let mut inputs = results::open(&command.files, Detail::Everything, PATIENCE_NS)?;
    let mut output = Output::open(&command.output)?;
    let (mut encoder, mut piece) = (Encoder::new(encoding), Vec::new());
    loop {
        let is_due = match inputs.reader.advance() {
            Ok(Some(_)) => {
                encoder.encode(&inputs.reader.current(), &mut piece);
                piece.len() >= PIECE
            }
            Ok(None) => break,
            Err(_timeout) => true,
        };
        if is_due {
            if output.write(&piece)? == Reader::Gone {
                return Ok(());
            }
            piece.clear();
        }
    }
    output.write(&piece)?;
    inputs.failures().first().map_or(Ok(()), |error| Err(UsageError::runtime(error.to_string())))
}
