//! Where samples go while a test runs.
//!
//! `files` writes them as they come; the others are receivers: `sender` is the queue and the thread
//! of each, so that none makes the test wait, and `influxdb`, `remote_write`, `opentelemetry` and
//! `statsd` are what happens on that thread.

mod files;
mod influxdb;
mod opentelemetry;
mod remote_write;
mod sender;
mod statsd;
#[cfg(test)]
mod tests;

use std::io;

use sojourn_k6::metrics::{Registry, Sample, SystemTags};
use sojourn_k6::output::{
    InfluxDbOptions, OpenTelemetryOptions, RemoteWriteOptions, StatsdOptions,
};
use sojourn_k6::thresholds::Thresholds;

use files::FileOutput;
pub use files::Format;
use sender::{FLUSH_NS, Sender};

/// What samples go to.
pub struct Output(To);

enum To {
    File(FileOutput),
    Receiver(Sender),
}

impl Output {
    /// Writes to a file (compressed where its name ends in `.gz`), or with `-` to standard output.
    /// Fails when it can't be created.
    pub fn create(format: Format, path: &str, tags: SystemTags) -> io::Result<Self> {
        Ok(Self(To::File(FileOutput::create(format, path, tags)?)))
    }

    /// Sends samples to InfluxDB 1. The error says why that can't begin.
    pub fn influxdb(options: InfluxDbOptions) -> Result<Self, String> {
        let (shown, interval_ns) = (options.shown(), options.push_interval_ns);
        let sending = influxdb::InfluxDb::new(options)?;
        Self::receiver(shown, interval_ns, Box::new(sending))
    }

    /// Sends figures by Prometheus' remote write; `shown` is the output as texts have it. The error
    /// says why that can't begin.
    pub fn remote_write(shown: String, options: RemoteWriteOptions) -> Result<Self, String> {
        let interval_ns = options.push_interval_ns;
        let sending = remote_write::RemoteWrite::new(options)?;
        Self::receiver(shown, interval_ns, Box::new(sending))
    }

    /// Sends figures to OpenTelemetry, likewise.
    pub fn opentelemetry(shown: String, options: OpenTelemetryOptions) -> Result<Self, String> {
        let interval_ns = options.export_interval_ns;
        let sending = opentelemetry::OpenTelemetry::new(options)?;
        Self::receiver(shown, interval_ns, Box::new(sending))
    }

    /// Sends samples to StatsD, likewise.
    pub fn statsd(options: StatsdOptions) -> Result<Self, String> {
        let (shown, interval_ns) = (options.shown(), options.push_interval_ns);
        let sending = statsd::Statsd::new(options)?;
        Self::receiver(shown, interval_ns, Box::new(sending))
    }

    fn receiver(
        shown: String,
        interval_ns: u64,
        sending: Box<dyn sender::Sending>,
    ) -> Result<Self, String> {
        let sender = Sender::start(shown, interval_ns, sending);
        Ok(Self(To::Receiver(sender.map_err(|error| format!("no thread: {error}"))?)))
    }

    /// Never waits for a receiver.
    pub(super) fn write(
        &mut self,
        samples: &[Sample],
        registry: &Registry,
        thresholds: &Thresholds,
    ) {
        match &mut self.0 {
            To::File(file) => file.write(samples, registry, thresholds),
            To::Receiver(sender) => sender.give(samples, registry),
        }
    }
}

/// Gives all receivers the same time to take what is left; what did not arrive, a text each. So
/// many samples were refused before any output saw them.
pub(super) fn end(outputs: &mut [Output], refused: u64) -> Vec<String> {
    let mut failed = end_within(outputs, FLUSH_NS);
    if refused > 0 && !outputs.is_empty() {
        failed.push(format!(
            "{refused} samples came faster than outputs could take them; the summary has them"
        ));
    }
    failed
}

fn end_within(outputs: &mut [Output], flush_ns: u64) -> Vec<String> {
    let until_ns = sojourn_clock::now_ns() + flush_ns;
    for output in outputs.iter_mut() {
        if let To::Receiver(sender) = &mut output.0 {
            sender.begin_end(until_ns);
        }
    }
    let ended = outputs.iter_mut().flat_map(|output| match &mut output.0 {
        To::File(file) => file.end(),
        To::Receiver(sender) => sender.end(until_ns).into_iter().collect(),
    });
    ended.collect()
}
