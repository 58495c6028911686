//! A line of JSON for each point and each kept journey, into a file.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    time::Duration,
};

use serde_json::{Map, Value as Json, json};

use crate::{
    failure::{Failure, Took},
    frame::{Frame, Point, QUANTILES, Value},
    outlet::Output,
    target::Run,
};

/// The file. Each second is written out, so that a reader may follow.
pub(crate) struct Ndjson {
    file: BufWriter<File>,
    run: String,
}

impl Ndjson {
    pub(crate) fn create(path: &Path, run: &Run) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| format!("cannot write it: {error}"))?;
        Ok(Self { file: BufWriter::new(file), run: run.id.clone() })
    }

    fn write(&mut self, lines: impl Iterator<Item = Json>) -> Result<Took, Failure> {
        let failed = |error: std::io::Error| Failure::Never(error.to_string());
        for line in lines {
            writeln!(self.file, "{line}").map_err(failed)?;
        }
        self.file.flush().map_err(failed)?;
        Ok(Took::All)
    }
}

impl Output for Ndjson {
    fn carries_journeys(&self) -> bool {
        true
    }

    fn send(&mut self, frame: &Frame, _: Duration) -> Result<Took, Failure> {
        let run = self.run.clone();
        self.write(frame.changed().map(|point| line(point, frame.unix_ns, &run)))
    }

    fn send_journeys(&mut self, frame: &Frame, _: Duration) -> Result<Took, Failure> {
        let run = self.run.clone();
        let start = time(frame.start_unix_ns);
        self.write(
            frame
                .journeys
                .iter()
                .map(|journey| json!({ "run": run, "start": start, "journey": journey })),
        )
    }
}

fn line(point: &Point, unix_ns: u64, run: &str) -> Json {
    let series = &point.series;
    let mut line = Map::new();
    line.insert("time".to_owned(), time(unix_ns).into());
    line.insert("run".to_owned(), run.into());
    line.insert("metric".to_owned(), series.exported.name.clone().into());
    let labels: Map<_, _> =
        series.labels.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    line.insert("labels".to_owned(), labels.into());
    let mut put = |name: &str, value: Json| line.insert(name.to_owned(), value);
    match &point.value {
        Value::Count { added, total } => {
            put("added", (*added).into());
            put("total", (*total).into());
        }
        Value::Level(level) => {
            put("value", series.scaled(*level).into());
        }
        Value::Spread { second, total } => {
            put("total", total.count.into());
            if let Some(second) = second {
                put("added", second.count.into());
                put("sum", series.scaled(second.sum).into());
                put("min", series.scaled(second.min as f64).into());
                for ((_, name), value) in QUANTILES.iter().zip(&second.quantiles) {
                    put(name, series.scaled(*value as f64).into());
                }
                put("max", series.scaled(second.max as f64).into());
            }
        }
    }
    line.into()
}

/// RFC 3339, with microseconds.
fn time(unix_ns: u64) -> String {
    let instant = jiff::Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default();
    format!("{instant:.6}")
}
