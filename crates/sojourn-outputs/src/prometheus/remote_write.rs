//! Remote write 1.0: protobuf messages, compressed by Snappy, posted.
//!
//! <https://prometheus.io/docs/specs/prw/remote_write_spec/>

use std::time::Duration;

use prost::Message;
use url::Url;

use super::{
    native_histogram::{Histogram, NativeHistogram},
    samples::samples,
};
use crate::{
    failure::{Failure, Took},
    frame::{Frame, Point},
    http::Poster,
    outlet::Output,
    target::Run,
};

/// Every so many seconds series are sent that did not change, so that none goes stale and each
/// window of ten seconds has two samples of each.
const REPEAT: u64 = 5;

/// The receiver.
pub(crate) struct RemoteWrite {
    poster: Poster,
    url: Url,
    run: Run,
    /// The latest instant that was sent.
    unix_ms: i64,
}

impl RemoteWrite {
    pub(crate) fn new(poster: Poster, run: &Run) -> Self {
        let url = poster.url("");
        Self { poster, url, run: run.clone(), unix_ms: 0 }
    }

    fn series(&self, point: &Point, unix_ms: i64, out: &mut Vec<Labelled>) {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        for sample in samples(point) {
            let name = format!("{}{}", point.series.exported.name, sample.suffix);
            let mut labels = vec![
                pair("__name__", &name),
                pair("plan", &self.run.plan),
                pair("run", &self.run.id),
            ];
            labels.extend_from_slice(&point.series.labels);
            labels.extend(sample.le.map(|le| pair("le", &le)));
            out.push(Labelled { labels, value: LabelledValue::Number(sample.value), unix_ms });
        }
    }
}

/// A series' sample of one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// Names and values, `__name__` among them, in any order; those without a value are left out.
    pub labels: Vec<(String, String)>,
    /// The sample.
    pub value: LabelledValue,
    /// When, milliseconds since the Unix epoch.
    pub unix_ms: i64,
}

/// What a sample says.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelledValue {
    /// A number.
    Number(f64),
    /// A distribution.
    Histogram(Box<NativeHistogram>),
}

/// What goes with a message's body.
pub const WRITE_HEADERS: [(&str, &str); 3] = [
    ("content-type", "application/x-protobuf"),
    ("content-encoding", "snappy"),
    ("x-prometheus-remote-write-version", "0.1.0"),
];

/// A message's body.
///
/// # Errors
/// It is too large to be compressed.
pub fn write_request(series: Vec<Labelled>) -> Result<Vec<u8>, Failure> {
    let timeseries = series.into_iter().map(TimeSeries::from).collect();
    let message = WriteRequest { timeseries }.encode_to_vec();
    let compressed = snap::raw::Encoder::new().compress_vec(&message);
    compressed.map_err(|error| Failure::Never(error.to_string()))
}

impl Output for RemoteWrite {
    fn send(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure> {
        let is_whole = frame.is_last || frame.number.is_multiple_of(REPEAT);
        let unix_ms = i64::try_from(frame.unix_ns / 1_000_000).unwrap_or(i64::MAX);
        // The run's last figures may follow in the same millisecond, which would be refused as the
        // same sample with another value.
        let unix_ms = unix_ms.max(self.unix_ms.saturating_add(1));
        let mut timeseries = Vec::new();
        for point in frame.points.iter().filter(|point| is_whole || point.is_changed) {
            self.series(point, unix_ms, &mut timeseries);
        }
        let body = write_request(timeseries)?;
        self.poster.post(&self.url, &WRITE_HEADERS, &body, timeout)?;
        self.unix_ms = unix_ms;
        Ok(Took::All)
    }
}

#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    histograms: Vec<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

impl From<Labelled> for TimeSeries {
    fn from(series: Labelled) -> Self {
        let label = |(name, value)| Label { name, value };
        let mut labels: Vec<_> = series.labels.into_iter().map(label).collect();
        // An empty label is none, and the specification asks for order.
        labels.retain(|label| !label.value.is_empty());
        labels.sort_by(|a, b| a.name.cmp(&b.name));
        let timestamp = series.unix_ms;
        let (samples, histograms) = match series.value {
            LabelledValue::Number(value) => (vec![Sample { value, timestamp }], Vec::new()),
            LabelledValue::Histogram(native) => (Vec::new(), vec![native.message(timestamp)]),
        };
        Self { labels, samples, histograms }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    #[prost(int64, tag = "2")]
    timestamp: i64,
}
