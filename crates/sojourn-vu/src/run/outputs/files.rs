//! Samples to a file, as they come.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use jiff::tz::TimeZone;
use sojourn_k6::metrics::{Registry, Sample, SystemTags};
use sojourn_k6::output::{CsvLines, JsonLines, LineSink, TimeFormat};

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
    /// As messages name it.
    shown: String,
    lines: Lines,
    /// `None` once it has ended.
    to: Option<LineSink<Box<dyn Write + Send>>>,
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
        let (shown, inner): (_, Box<dyn Write + Send>) = if path.is_empty() || path == "-" {
            ("standard output", Box::new(io::stdout()))
        } else {
            (path, Box::new(BufWriter::new(std::fs::File::create(Path::new(path))?)))
        };
        let mut heading = String::new();
        let lines = match format {
            Format::Json => Lines::Json(JsonLines::new(TimeZone::system())),
            Format::Csv(time) => {
                let csv = CsvLines::new(tags, time, TimeZone::system());
                csv.push_heading(&mut heading);
                Lines::Csv(csv)
            }
        };
        let to = Some(LineSink::new(path, inner));
        let mut output = Self { shown: shown.to_owned(), lines, to, failure: None };
        output.put(&heading);
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
    }

    fn put(&mut self, text: &str) {
        if let (None, Some(to)) = (&self.failure, &mut self.to) {
            self.failure = to.write(text).and_then(|()| to.flush()).err();
        }
    }

    /// Writes what a compressed file ends with; what of all could not be written, a text each.
    pub(super) fn end(&mut self) -> Vec<String> {
        if let Some(to) = self.to.take() {
            let finished = to.finish().map(drop).err();
            self.failure = self.failure.take().or(finished);
        }
        let mut told: Vec<String> = Vec::new();
        let shown = &self.shown;
        told.extend(self.failure.as_ref().map(|error| format!("{shown}: {error}")));
        if let Lines::Json(json) = &self.lines
            && json.skipped() > 0
        {
            let count = json.skipped();
            told.push(format!(
                "{shown}: {count} infinite samples are left out, as JSON has no such number"
            ));
        }
        told
    }
}
