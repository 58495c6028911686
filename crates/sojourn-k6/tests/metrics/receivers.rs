//! What outputs send to receivers, of samples that the real k6 wrote: lines of InfluxDB and StatsD,
//! series of Prometheus, and what OpenTelemetry's figures are made of.
//!
//! `GOLDEN=write cargo test -p sojourn-k6 receivers` writes the files anew: look at what changed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sojourn_k6::metrics::{MetricKind, Sample, Sink};
use sojourn_k6::output::{
    FieldKind, InfluxDbLines, InfluxDbOptions, NativeTally, RemoteWriteOptions, Series, SeriesBook,
    StatsdLines, StatsdOptions, Tally, native_name, samples_of,
};

use super::golden::Run;

/// Scripts whose samples have every kind of metric, and tags and names of every kind.
const SCRIPTS: [&str; 2] = ["kinds", "names"];

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn run(script: &str) -> Run {
    Run::read(&golden().join("metrics").join(script).join("full"))
}

fn environment(variables: &[(&str, &str)]) -> sojourn_k6::options::Environment {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Holds a text against its file.
fn check(script: &str, output: &str, found: &str) {
    let path = golden().join("receivers").join(format!("{script}-{output}.txt"));
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, found).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path);
    let expected = expected.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for (at, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{}, line {}", path.display(), at + 1);
    }
    assert_eq!(found.len(), expected.len(), "{}", path.display());
}

/// A series by its metric and its tags.
fn named<A>(name: &str, series: &Series<A>) -> String {
    let mut tags: Vec<String> =
        series.tags.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
    tags.sort();
    format!("{name} {{{}}}", tags.join(", "))
}

#[test]
fn influxdb_gets_these_lines() {
    for script in SCRIPTS {
        let run = run(script);
        let options = InfluxDbOptions::read("http://h/db", &environment(&[])).unwrap();
        let fields: Vec<(String, FieldKind)> = options.fields;
        // As the sender does it, but that a line end is seen.
        let escaped = |text: &str| {
            let text = text.replace(',', "\\,").replace(' ', "\\ ").replace('=', "\\=");
            text.replace(|c: char| c.is_control(), "_")
        };
        for (precision_ns, name) in [(1, "influxdb"), (1_000_000, "influxdb-ms")] {
            let mut lines = InfluxDbLines::new(fields.clone(), precision_ns, escaped);
            let mut out = String::new();
            lines.push(&mut out, &run.samples, &run.registry);
            assert_eq!(out.lines().count() as u64, run.samples.len() as u64 - lines.skipped());
            check(script, name, &out);
        }
    }
}

#[test]
fn statsd_gets_these_lines() {
    for script in SCRIPTS {
        let run = run(script);
        for (tags, name) in [("false", "statsd"), ("true", "statsd-tags")] {
            let variables = environment(&[("K6_STATSD_ENABLE_TAGS", tags)]);
            let lines = StatsdLines::new(&StatsdOptions::read("h:1", &variables).unwrap());
            let lines = run.samples.iter().filter_map(|it| lines.line(it, &run.registry));
            check(script, name, &lines.map(|line| line + "\n").collect::<String>());
        }
    }
}

#[test]
fn prometheus_gets_these_series() {
    for script in SCRIPTS {
        let run = run(script);
        let variables =
            environment(&[("K6_PROMETHEUS_RW_TREND_STATS", "count,sum,min,avg,med,p(99.9),max")]);
        let options = RemoteWriteOptions::read("prometheus-rw", "", &variables).unwrap();
        let (mut book, mut natives) = (SeriesBook::<Sink>::default(), SeriesBook::default());
        for sample in &run.samples {
            assert!(book.add(sample));
            if sample.metric.kind() == MetricKind::Trend {
                assert!(natives.add(sample));
            }
        }
        let mut out = String::new();
        for series in book.iter() {
            let metric = run.registry.get(series.metric).unwrap();
            for sample in samples_of(metric, series, &options.stats) {
                // Writing to a text does not fail.
                writeln!(out, "{} {}", named(&sample.name, series), sample.value).unwrap();
            }
        }
        for series in natives.iter() {
            let name = native_name(run.registry.get(series.metric).unwrap());
            let NativeTally { count, zeros, positive, negative, .. } = &series.total;
            let found = format!("{count}, {zeros} {positive:?} {negative:?}");
            writeln!(out, "{} {found}", named(&name, series)).unwrap();
        }
        check(script, "prometheus", &out);
    }
}

#[test]
fn opentelemetry_gets_these_figures() {
    for script in SCRIPTS {
        let run = run(script);
        let mut book = SeriesBook::<Tally>::default();
        run.samples.iter().for_each(|sample: &Sample| assert!(book.add(sample)));
        let mut out = String::new();
        for series in book.iter() {
            let metric = run.registry.get(series.metric).unwrap();
            writeln!(out, "{} {:?}", named(&metric.name, series), series.total).unwrap();
        }
        check(script, "opentelemetry", &out);
    }
}
