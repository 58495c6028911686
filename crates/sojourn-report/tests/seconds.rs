//! The seconds of a run: CSV and histogram logs against the samples and the run file's own reading.

use std::{collections::BTreeMap, path::Path, time::Duration};

use base64::Engine as _;
use hdrhistogram::{
    Histogram,
    serialization::{
        Deserializer,
        interval_log::{IntervalLogIterator, LogEntry},
    },
};
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store};
use sojourn_record::{Identity, IntervalRow, RunFile, RunWriter};
use sojourn_report::render;

use crate::from_run;

const SECOND: u64 = 1_000_000_000;

/// A line of CSV by its columns.
type Line = BTreeMap<String, String>;

fn lines(csv: &str) -> Vec<Line> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let head = reader.headers().unwrap().clone();
    let line = |record: csv::StringRecord| {
        head.iter().map(str::to_owned).zip(record.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|record| line(record.unwrap())).collect()
}

/// What a report of seconds writes.
fn written(
    report: fn(&RunFile, &mut dyn std::io::Write) -> Result<(), render::RenderError>,
    run: &RunFile,
) -> String {
    let mut out = Vec::new();
    report(run, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn open(is_whole: bool, then: impl FnOnce(&RunFile)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sojourn");
    from_run::write(&path, is_whole);
    then(&RunFile::open(&path).unwrap());
}

/// The name of a line's series, by the columns of the names.
fn key_of(line: &Line) -> String {
    let mut tags: Vec<String> = ["journey", "stage", "step"]
        .iter()
        .filter(|name| !line[**name].is_empty())
        .map(|name| format!("{name}={}", line[*name]))
        .chain(line["tags"].split(';').filter(|tag| !tag.is_empty()).map(decoded))
        .collect();
    tags.sort();
    format!("{} {} {}", line["metric"], line["phase"], tags.join(","))
}

fn decoded(tag: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = tag.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte.unwrap()).to_digit(16).unwrap() as u8;
        let byte = if byte == b'%' { digit(rest.next()) * 16 + digit(rest.next()) } else { byte };
        bytes.push(byte);
    }
    String::from_utf8(bytes).unwrap()
}

fn name_of(key: &SeriesKey) -> String {
    let phase = match key.phase {
        SeriesPhase::WarmUp => "warm-up",
        SeriesPhase::Steady => "steady",
        SeriesPhase::Any => "any",
    };
    let tags: Vec<String> =
        key.tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {phase} {}", key.metric, tags.join(","))
}

#[test]
fn lines_are_the_run_files_own_intervals() {
    for is_whole in [true, false] {
        open(is_whole, |run| {
            let lines = lines(&written(render::csv, run));
            let mut rows = 0;
            for interval in &run.intervals {
                for (key, row) in &interval.rows {
                    let name = name_of(key);
                    let of_row = |line: &&Line| {
                        line["start_s"].parse::<f64>() == Ok(interval.start_ns as f64 / 1e9)
                            && key_of(line) == name
                    };
                    let found: Vec<&Line> = lines.iter().filter(of_row).collect();
                    assert_eq!(found.len(), 1, "{name} at {}", interval.start_ns);
                    same(found[0], key, row);
                    rows += 1;
                }
            }
            assert!(rows > 100, "{rows}");
            assert_eq!(lines.len(), rows);
        });
    }
}

/// One line against the run file's reading of the same second.
fn same(line: &Line, key: &SeriesKey, row: &IntervalRow) {
    let is = |column: &str, value: String| assert_eq!(line[column], value, "{column} of {key}");
    match row {
        IntervalRow::Counter(count) => {
            is("count", count.to_string());
            is("per_s", count.to_string());
            is("max_ns", String::new());
        }
        IntervalRow::Gauge([last, min, max]) => {
            is("last", last.to_string());
            is("min", min.to_string());
            is("max", max.to_string());
            is("count", String::new());
        }
        IntervalRow::Rate(yes, no) => is("count", (yes + no).to_string()),
        IntervalRow::Trend { count, min, p50, p95, p99, max, sum } => {
            is("count", count.to_string());
            let mean = (*sum as f64 / *count as f64).to_string();
            if key.metric.ends_with("_bytes") {
                is("min", min.to_string());
                is("mean", mean);
                is("max", max.to_string());
                return;
            }
            is("min_ns", min.to_string());
            is("mean_ns", mean);
            is("p50_ns", p50.to_string());
            is("p95_ns", p95.to_string());
            is("p99_ns", p99.to_string());
            is("max_ns", max.to_string());
        }
    }
}

/// A run of three seconds with these samples of one hop, whose names need care.
fn write_samples(path: &Path, samples: &[Vec<u64>]) {
    let identity = Identity { start_unix_ns: 1_795_230_911 * SECOND, ..Identity::default() };
    let mut run = RunWriter::create(path, &identity).unwrap();
    let mut recorder = Recorder::new(0);
    let mut store = Store::new();
    let tags = [("journey", "a, b;c=d%"), ("reason", "é \"x\"\n"), ("stage", "s")];
    let key = SeriesKey::new("stage.hop", &tags, SeriesPhase::Steady);
    let hop = recorder.series(Kind::Trend, key);
    for (second, samples) in (0..).zip(samples) {
        samples.iter().for_each(|&sample| recorder.record(hop, sample));
        let mut snapshot = recorder.take((second + 1) * SECOND, None);
        snapshot.start_ns = second * SECOND;
        store.apply(&snapshot).unwrap();
        run.interval(std::slice::from_ref(&snapshot)).unwrap();
    }
}

/// Samples over nine decades, in no order.
fn samples() -> Vec<Vec<u64>> {
    let sample = |n: u64| 10_u64.pow((n % 9) as u32 + 1) + n.wrapping_mul(7_919) % 9_973;
    [900, 1, 0, 137].map(|count: u64| (0..count).map(|n| sample(n * n)).collect()).to_vec()
}

/// Nearest rank, on the samples themselves.
fn quantile(samples: &[u64], q: f64) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted[((q * sorted.len() as f64).ceil() as usize).max(1) - 1]
}

fn close(measured: u64, truth: u64, what: &str) {
    let error = measured.abs_diff(truth) as f64 / truth as f64;
    assert!(error <= 0.001, "{what}: {measured} instead of {truth}");
}

fn with_samples(then: impl FnOnce(&RunFile, &[Vec<u64>])) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sojourn");
    let samples = samples();
    write_samples(&path, &samples);
    then(&RunFile::open(&path).unwrap(), &samples);
}

#[test]
fn quantiles_of_csv_are_those_of_the_samples() {
    with_samples(|run, samples| {
        let csv = written(render::csv, run);
        let lines = lines(&csv);
        let filled: Vec<_> =
            (0..).zip(samples).filter(|(_, samples)| !samples.is_empty()).collect();
        assert_eq!(lines.len(), filled.len());
        for (line, (second, samples)) in lines.iter().zip(filled) {
            let of = |column: &str| line[column].parse::<u64>().unwrap();
            assert_eq!(line["journey"], "a, b;c=d%");
            assert_eq!(decoded(&line["tags"]), "reason=é \"x\"\n");
            assert_eq!(line["start_s"], format!("{second}.000000000"));
            assert_eq!(line["time"], format!("2026-11-21T03:15:{}.000000000Z", 11 + second));
            assert_eq!(of("count"), samples.len() as u64);
            assert_eq!(of("min_ns"), *samples.iter().min().unwrap());
            assert_eq!(of("max_ns"), *samples.iter().max().unwrap());
            for (column, q) in
                [("p50_ns", 0.5), ("p90_ns", 0.9), ("p95_ns", 0.95), ("p99_ns", 0.99)]
            {
                close(of(column), quantile(samples, q), column);
            }
        }
    });
}

/// The histograms of a log: (start, length, tag, histogram).
fn read_log(log: &str) -> Vec<(Duration, Duration, String, Histogram<u64>)> {
    let mut decoder = Deserializer::new();
    IntervalLogIterator::new(log.as_bytes())
        .filter_map(|entry| match entry.unwrap() {
            LogEntry::Interval(entry) => Some(entry),
            LogEntry::StartTime(time) | LogEntry::BaseTime(time) => {
                assert_eq!(time.as_secs(), 1_795_230_911);
                None
            }
        })
        .map(|entry| {
            let engine = base64::engine::general_purpose::STANDARD;
            let bytes = engine.decode(entry.encoded_histogram()).unwrap();
            let histogram: Histogram<u64> = decoder.deserialize(&mut &bytes[..]).unwrap();
            let tag = entry.tag().unwrap().as_str().to_owned();
            assert!((entry.max() * 1e6 - histogram.max() as f64).abs() <= 1_000.0);
            (entry.start_timestamp(), entry.duration(), tag, histogram)
        })
        .collect()
}

#[test]
fn a_histogram_log_has_the_samples() {
    with_samples(|run, samples| {
        let log = written(render::hlog, run);
        assert!(
            log.starts_with("#[Histogram log format version 1.3]\n#[StartTime: 1795230911.000 ")
        );
        let read = read_log(&log);
        let filled: Vec<_> =
            (0..).zip(samples).filter(|(_, samples)| !samples.is_empty()).collect();
        assert_eq!(read.len(), filled.len());
        for ((start, length, tag, histogram), (second, samples)) in read.iter().zip(filled) {
            assert_eq!((*start, *length), (Duration::from_secs(second), Duration::from_secs(1)));
            assert_eq!(tag, "stage.hop;journey=a%2C%20b%3Bc%3Dd%25;reason=é%20\"x\"%0A;stage=s");
            assert_eq!(histogram.len(), samples.len() as u64);
            for q in [0.0, 0.5, 0.9, 0.99, 1.0] {
                close(histogram.value_at_quantile(q), quantile(samples, q), "a quantile");
            }
        }
    });
}

/// A writer that takes so many bytes and then is full.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::Error::other("no room"));
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Which shows too that they are not held back until the end.
#[test]
fn reports_of_seconds_say_that_they_could_not_be_written() {
    open(true, |run| {
        for report in [render::csv, render::hlog] {
            let error = report(run, &mut Full(10_000)).unwrap_err().to_string();
            assert!(error.contains("no room"), "{error}");
        }
    });
}

#[test]
fn a_histogram_log_has_every_second_and_series_of_times() {
    open(true, |run| {
        let read = read_log(&written(render::hlog, run));
        let mut expected = Vec::new();
        for interval in &run.intervals {
            for (key, row) in &interval.rows {
                let IntervalRow::Trend { count, p50, max, .. } = row else { continue };
                if !key.metric.ends_with("_bytes") {
                    expected.push((interval.start_ns, *count, *p50, *max));
                }
            }
        }
        assert!(expected.len() > 50);
        assert_eq!(read.len(), expected.len());
        for ((start, _, tag, histogram), (start_ns, count, p50, max)) in read.iter().zip(expected) {
            assert_eq!(start.as_nanos(), u128::from(start_ns));
            assert_eq!(histogram.len(), count, "{tag}");
            close(histogram.value_at_quantile(0.5), p50, tag);
            close(histogram.max(), max, tag);
        }
        let is_warm_up = |tag: &str| tag.ends_with(";phase=warm-up");
        assert!(read.iter().any(|(_, _, tag, _)| is_warm_up(tag)));
    });
}
