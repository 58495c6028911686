//! A row for each point, in a Parquet file.
//!
//! Written with the crate's columns, without Arrow: the columns are few and known.

use std::{fs::File, path::Path, sync::Arc, time::Duration};

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};
use serde_json::{Map, Value as Json};

use crate::{
    failure::{Failure, Took},
    frame::{Frame, Point, QUANTILES, Value},
    outlet::Output,
    target::Run,
};

/// Columns in the order in which they are written.
const SCHEMA: &str = "message sojourn {
    required int64 time (TIMESTAMP(NANOS,true));
    required binary run (STRING);
    required binary plan (STRING);
    required binary metric (STRING);
    required binary labels (JSON);
    optional binary phase (STRING);
    optional binary journey (STRING);
    optional binary stage (STRING);
    optional binary step (STRING);
    optional int64 added;
    optional int64 total;
    optional double value;
    optional double sum;
    optional double min;
    optional double p50;
    optional double p75;
    optional double p90;
    optional double p95;
    optional double p99;
    optional double max;
}";
/// Rows of a group: until then they are in memory.
const ROWS_MAX: usize = 20_000;

/// The file.
pub(crate) struct Parquet {
    /// Taken when it is closed or broken.
    writer: Option<SerializedFileWriter<File>>,
    rows: Vec<Row>,
    run: Run,
}

#[derive(Default)]
struct Row {
    time: i64,
    metric: String,
    labels: String,
    phase: Option<String>,
    journey: Option<String>,
    stage: Option<String>,
    step: Option<String>,
    added: Option<i64>,
    total: Option<i64>,
    /// The level, sum, minimum, quantiles and maximum.
    doubles: [Option<f64>; 4 + QUANTILES.len()],
}

impl Parquet {
    pub(crate) fn create(path: &Path, run: &Run) -> Result<Self, String> {
        let explain = |error: &dyn std::fmt::Display| format!("cannot write it: {error}");
        let file = File::create(path).map_err(|error| explain(&error))?;
        let schema = parse_message_type(SCHEMA).map_err(|error| explain(&error))?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties));
        let writer = Some(writer.map_err(|error| explain(&error))?);
        Ok(Self { writer, rows: Vec::new(), run: run.clone() })
    }

    /// Writes what is held as a group of rows.
    fn write_group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        let Some(writer) = &mut self.writer else {
            return Err(ParquetError::General("the file broke before".to_owned()));
        };
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = writer.next_row_group()?;
        let text = |value: &str| ByteArray::from(value);
        column::<Int64Type>(&mut group, rows.iter().map(|row| Some(row.time)), true)?;
        for same in [&self.run.id, &self.run.plan] {
            column::<ByteArrayType>(&mut group, rows.iter().map(|_| Some(text(same))), true)?;
        }
        let metrics = rows.iter().map(|row| Some(text(&row.metric)));
        column::<ByteArrayType>(&mut group, metrics, true)?;
        column::<ByteArrayType>(&mut group, rows.iter().map(|row| Some(text(&row.labels))), true)?;
        for label in [
            |row: &Row| row.phase.clone(),
            |row: &Row| row.journey.clone(),
            |row: &Row| row.stage.clone(),
            |row: &Row| row.step.clone(),
        ] {
            let labels = rows.iter().map(|row| label(row).as_deref().map(text));
            column::<ByteArrayType>(&mut group, labels, false)?;
        }
        column::<Int64Type>(&mut group, rows.iter().map(|row| row.added), false)?;
        column::<Int64Type>(&mut group, rows.iter().map(|row| row.total), false)?;
        for at in 0..4 + QUANTILES.len() {
            column::<DoubleType>(&mut group, rows.iter().map(|row| row.doubles[at]), false)?;
        }
        group.close()?;
        Ok(())
    }
}

impl Output for Parquet {
    fn send(&mut self, frame: &Frame, _: Duration) -> Result<Took, Failure> {
        if self.writer.is_none() {
            return Err(Failure::Never("the file broke before".to_owned()));
        }
        let time = i64::try_from(frame.unix_ns).unwrap_or(i64::MAX);
        self.rows.extend(frame.changed().map(|point| row(point, time)));
        if self.rows.len() >= ROWS_MAX
            && let Err(error) = self.write_group()
        {
            self.writer = None;
            return Err(Failure::Never(error.to_string()));
        }
        // A file without its end cannot be read: nothing is there for good before it is closed.
        Ok(Took::Held)
    }

    fn finish(&mut self, _: Duration) -> Result<(), Failure> {
        let failed = |error: ParquetError| Failure::Never(error.to_string());
        self.write_group().map_err(failed)?;
        match self.writer.take() {
            Some(writer) => writer.close().map(drop).map_err(failed),
            None => Err(Failure::Never("the file broke before".to_owned())),
        }
    }
}

/// Writes a column; its values are required, or may be absent.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = Option<T::T>>,
    is_required: bool,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has too few columns".to_owned()));
    };
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    let levels = (!is_required).then_some(levels.as_slice());
    column.typed::<T>().write_batch(&present, levels, None)?;
    column.close()
}

fn row(point: &Point, time: i64) -> Row {
    let series = &point.series;
    let labels: Map<_, _> = series
        .labels
        .iter()
        .map(|(name, value)| (name.clone(), Json::from(value.clone())))
        .collect();
    let label = |wanted: &str| {
        series.labels.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
    };
    let mut row = Row {
        time,
        metric: series.exported.name.clone(),
        labels: Json::from(labels).to_string(),
        phase: label("phase"),
        journey: label("journey"),
        stage: label("stage"),
        step: label("step"),
        ..Row::default()
    };
    let count = |count: u64| Some(i64::try_from(count).unwrap_or(i64::MAX));
    match &point.value {
        Value::Count { added, total } => (row.added, row.total) = (count(*added), count(*total)),
        Value::Level(level) => row.doubles[0] = Some(series.scaled(*level)),
        Value::Spread { second, total } => {
            row.total = count(total.count);
            if let Some(second) = second {
                row.added = count(second.count);
                let scaled = |value: u64| Some(series.scaled(value as f64));
                row.doubles[1] = Some(series.scaled(second.sum));
                row.doubles[2] = scaled(second.min);
                for (at, value) in second.quantiles.iter().enumerate() {
                    row.doubles[3 + at] = scaled(*value);
                }
                row.doubles[3 + QUANTILES.len()] = scaled(second.max);
            }
        }
    }
    row
}
