//! Samples to a file, as they come.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::tz::TimeZone;
use sojourn_k6::metrics::{Registry, Sample, SystemTags};
use sojourn_k6::output::{CsvLines, JsonLines, TimeFormat};

/// What an output writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON object a line.
    Json,
    /// Values with commas between.
    Csv(TimeFormat),
}

/// A file, or standard output, that samples go to.
pub(super) struct FileOutput {
    lines: Lines,
    to: Box<dyn Write + Send>,
    /// What could not be written, told at the end.
    failure: Option<io::Error>,
}

enum Lines {
    Json(JsonLines),
    Csv(CsvLines),
}

impl FileOutput {
    /// Writes to a file (compressed where its name ends in `.gz`), or with `-` to standard output.
    /// Fails when it can't be created.
    pub(super) fn create(format: Format, path: &str, tags: SystemTags) -> io::Result<Self> {
        let to: Box<dyn Write + Send> = if path.is_empty() || path == "-" {
            Box::new(io::stdout())
        } else {
            let file = BufWriter::new(std::fs::File::create(Path::new(path))?);
            if path.ends_with(".gz") {
                Box::new(GzEncoder::new(file, Compression::default()))
            } else {
                Box::new(file)
            }
        };
        let mut output = match format {
            Format::Json => {
                let lines = Lines::Json(JsonLines::new(TimeZone::system()));
                Self { lines, to, failure: None }
            }
            Format::Csv(time) => {
                let csv = CsvLines::new(tags, time, TimeZone::system());
                let mut heading = String::new();
                csv.push_heading(&mut heading);
                let mut output = Self { lines: Lines::Csv(csv), to, failure: None };
                output.put(&heading);
                output
            }
        };
        output.flush();
        Ok(output)
    }

    pub(super) fn write(
        &mut self,
        samples: &[Sample],
        registry: &Registry,
        thresholds: &sojourn_k6::thresholds::Thresholds,
    ) {
        let mut text = String::new();
        match &mut self.lines {
            Lines::Json(json) => json.push(&mut text, samples, registry, thresholds),
            Lines::Csv(csv) => csv.push(&mut text, samples, registry),
        }
        self.put(&text);
        self.flush();
    }

    fn put(&mut self, text: &str) {
        if self.failure.is_none() {
            self.failure = self.to.write_all(text.as_bytes()).err();
        }
    }

    fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.to.flush().err();
        }
    }

    /// What could not be written.
    pub(super) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}
