//! InfluxDB's line protocol over HTTP, for servers of versions 1 and 2.
//!
//! <https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/>

use std::{fmt::Write, time::Duration};

use sojourn_clock::now_ns;
use url::Url;

use crate::{
    failure::{Failure, Took},
    frame::{Frame, Point, QUANTILES, Value},
    http::Poster,
    outlet::Output,
    target::Run,
};

/// Writes lines to a server.
pub struct LineWriter {
    poster: Poster,
    write: Url,
    /// Where a database is made; of version 1.
    create: Option<Url>,
}

impl LineWriter {
    /// A server of version 1; the database is made if it is not there. `query` is what the URL says
    /// besides: `precision`, `rp`, `consistency`.
    pub fn version_1(poster: Poster, database: &str, query: &[(&str, &str)]) -> Self {
        let mut write = poster.url("/write");
        write.query_pairs_mut().append_pair("db", database).extend_pairs(query);
        let mut create = poster.url("/query");
        let quoted = database.replace('\\', "\\\\").replace('"', "\\\"");
        create.query_pairs_mut().append_pair("q", &format!("CREATE DATABASE \"{quoted}\""));
        Self { poster, write, create: Some(create) }
    }

    /// Writes lines.
    ///
    /// # Errors
    /// The server does not take them.
    pub fn write(&self, lines: &str, timeout: Duration) -> Result<(), Failure> {
        let until_ns = now_ns() + timeout.as_nanos() as u64;
        let headers = [("content-type", "text/plain; charset=utf-8")];
        let sent = self.poster.post(&self.write, &headers, lines.as_bytes(), timeout);
        let sent = match (sent, &self.create) {
            (Err(Failure::Never(words)), Some(create)) if words.contains("database not found") => {
                let left = || Duration::from_nanos(until_ns.saturating_sub(now_ns()).max(1));
                self.poster.post(create, &[], &[], left())?;
                self.poster.post(&self.write, &headers, lines.as_bytes(), left())
            }
            (sent, _) => sent,
        };
        sent.map(drop)
    }
}

/// The server.
pub(crate) struct InfluxDb {
    writer: LineWriter,
    /// Tags of every line.
    tags: String,
}

impl InfluxDb {
    /// A server of version 1; the database is made if it is not there.
    pub(crate) fn version_1(poster: Poster, database: &str, run: &Run) -> Self {
        let writer = LineWriter::version_1(poster, database, &[("precision", "ns")]);
        Self { writer, tags: tags_of(run) }
    }

    /// A server of version 2 or later.
    pub(crate) fn version_2(poster: Poster, org: &str, bucket: &str, run: &Run) -> Self {
        let mut write = poster.url("/api/v2/write");
        write
            .query_pairs_mut()
            .append_pair("org", org)
            .append_pair("bucket", bucket)
            .append_pair("precision", "ns");
        Self { writer: LineWriter { poster, write, create: None }, tags: tags_of(run) }
    }
}

impl Output for InfluxDb {
    fn send(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure> {
        let mut body = String::new();
        for point in frame.changed() {
            write_line(point, frame.unix_ns, &self.tags, &mut body);
        }
        self.writer.write(&body, timeout).map(|()| Took::All)
    }
}

fn tags_of(run: &Run) -> String {
    let tag = |name: &str, value: &str| match value {
        // A tag without a value is none.
        "" => String::new(),
        value => format!(",{name}={}", escaped(value)),
    };
    tag("plan", &run.plan) + &tag("run", &run.id)
}

fn write_line(point: &Point, unix_ns: u64, tags: &str, out: &mut String) {
    let series = &point.series;
    let mut fields = Vec::new();
    match &point.value {
        Value::Count { added, total } => {
            fields.extend([format!("added={added}i"), format!("total={total}i")]);
        }
        Value::Level(level) => {
            let level = series.scaled(*level);
            if level.is_finite() {
                fields.push(format!("value={level}"));
            }
        }
        Value::Spread { second: Some(second), total } => {
            let scaled = |value: u64| series.scaled(value as f64);
            fields.push(format!("added={}i", second.count));
            fields.push(format!("total={}i", total.count));
            fields.push(format!("sum={}", series.scaled(second.sum)));
            fields.push(format!("min={}", scaled(second.min)));
            for ((_, name), value) in QUANTILES.iter().zip(&second.quantiles) {
                fields.push(format!("{name}={}", scaled(*value)));
            }
            fields.push(format!("max={}", scaled(second.max)));
        }
        Value::Spread { second: None, .. } => {}
    }
    if fields.is_empty() {
        return;
    }
    out.push_str(&series.exported.name);
    out.push_str(tags);
    for (name, value) in &series.labels {
        // A tag without a value is none.
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ignored = write!(out, ",{name}={}", escaped(value));
        }
    }
    let _ignored = writeln!(out, " {} {unix_ns}", fields.join(","));
}

/// A tag's key or value: no line end, and commas, equals signs and spaces escaped.
pub fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            ',' | '=' | ' ' => out.extend(['\\', c]),
            // One at the end would escape what follows.
            '\\' => out.push('/'),
            c if c.is_control() => out.push('_'),
            c => out.push(c),
        }
    }
    out
}
