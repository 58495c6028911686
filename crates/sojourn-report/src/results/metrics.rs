//! The figures of an attack, taken in one result at a time.

use std::collections::{BTreeMap, HashSet};

use sojourn_record::results::{AttackResult, Timestamp};

use super::{Buckets, digest::Digest};

/// Most distinct error texts that are listed. Texts may name a port, so a real attack can bring
/// tens of thousands.
pub const ERRORS_MAX: usize = 100_000;

/// Most bytes of the texts that are listed.
const ERROR_BYTES_MAX: usize = 64 << 20;

/// Figures in the making.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    requests: u64,
    successes: u64,
    latency_total_ns: i64,
    latency_min_ns: i64,
    latency_max_ns: i64,
    digest: Digest,
    bytes_in: u64,
    bytes_out: u64,
    codes: BTreeMap<u16, u64>,
    /// In the order of their first appearance, and for finding out whether they are known.
    errors: Vec<String>,
    known_errors: HashSet<Vec<u8>>,
    error_bytes: usize,
    errors_refused: u64,
    /// When the results of each input began and ended.
    spans: Vec<Option<Span>>,
    buckets: Option<Buckets>,
}

/// The time that results took, instants in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug)]
struct Span {
    earliest: Timestamp,
    latest: Timestamp,
    /// End of the response that ended last.
    end_unix_ns: i64,
}

/// The figures so far. Times are nanoseconds, fractions are of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Results taken in.
    pub requests: u64,
    /// Requests a second between the first start and the last.
    pub rate: f64,
    /// Successes a second between the first start and the last end.
    pub throughput: f64,
    /// From the first start to the last; without the time between inputs that do not overlap.
    pub duration_ns: i64,
    /// From the last start to the last end.
    pub wait_ns: i64,
    /// Sum of all latencies.
    pub latency_total_ns: i64,
    /// Mean latency.
    pub latency_mean_ns: i64,
    /// 50th, 90th, 95th and 99th percentile.
    pub latency_quantiles_ns: [i64; 4],
    /// Least latency, a stored 0 counting as none.
    pub latency_min_ns: i64,
    /// Greatest latency.
    pub latency_max_ns: i64,
    /// Bytes of response bodies, and their mean per request; `None`: not known.
    pub bytes_in: Option<(u64, f64)>,
    /// Bytes of request bodies, and their mean per request.
    pub bytes_out: Option<(u64, f64)>,
    /// Fraction of requests with a status from 200 to 399.
    pub success: f64,
    /// How many requests had which status, by its text.
    pub status_codes: Vec<(String, u64)>,
    /// Distinct error texts in the order of their first appearance.
    pub errors: Vec<String>,
    /// How many further texts there were that are not listed, repetitions counted.
    pub errors_refused: u64,
    /// First start.
    pub earliest: Timestamp,
    /// Last start.
    pub latest: Timestamp,
    /// Last end.
    pub end: Timestamp,
    /// How many latencies fell into which bucket, where there are buckets.
    pub buckets: Option<Buckets>,
    /// How many stretches of time the inputs make, of which none overlaps another.
    pub stretches: usize,
}

impl Metrics {
    /// No results yet; latencies will be counted into the buckets.
    #[must_use]
    pub fn new(buckets: Option<Buckets>) -> Self {
        Self { buckets, ..Self::default() }
    }

    /// Takes in a result of an input, which is any small number. Inputs matter only for whether
    /// they overlap in time.
    pub fn add(&mut self, input: usize, result: &AttackResult<'_>) {
        self.requests += 1;
        self.successes += u64::from(result.is_success());
        let latency_ns = result.latency_ns;
        self.latency_total_ns = self.latency_total_ns.saturating_add(latency_ns);
        self.latency_max_ns = self.latency_max_ns.max(latency_ns);
        if self.latency_min_ns == 0 || latency_ns < self.latency_min_ns {
            self.latency_min_ns = latency_ns;
        }
        self.digest.add(latency_ns);
        self.bytes_in = self.bytes_in.saturating_add(result.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(result.bytes_out);
        *self.codes.entry(result.code).or_default() += 1;
        if !result.error.is_empty() {
            self.add_error(result.error);
        }
        if result.timestamp.is_known() {
            self.add_time(input, result.timestamp, latency_ns);
        }
        if let Some(buckets) = &mut self.buckets {
            buckets.add(latency_ns);
        }
    }

    fn add_error(&mut self, error: &[u8]) {
        if self.known_errors.contains(error) {
            return;
        }
        let bytes = self.error_bytes + error.len();
        if self.errors.len() >= ERRORS_MAX || bytes > ERROR_BYTES_MAX {
            self.errors_refused += 1;
            return;
        }
        self.error_bytes = bytes;
        self.known_errors.insert(error.to_vec());
        self.errors.push(lossy(error));
    }

    fn add_time(&mut self, input: usize, timestamp: Timestamp, latency_ns: i64) {
        if self.spans.len() <= input {
            self.spans.resize(input + 1, None);
        }
        let end_unix_ns = timestamp.unix_ns.saturating_add(latency_ns);
        match &mut self.spans[input] {
            Some(span) => {
                if timestamp.unix_ns < span.earliest.unix_ns {
                    span.earliest = timestamp;
                }
                if timestamp.unix_ns > span.latest.unix_ns {
                    span.latest = timestamp;
                }
                span.end_unix_ns = span.end_unix_ns.max(end_unix_ns);
            }
            none => *none = Some(Span { earliest: timestamp, latest: timestamp, end_unix_ns }),
        }
    }

    /// The figures of what was taken in so far.
    pub fn figures(&mut self) -> Figures {
        let stretches = self.stretches();
        let sum = |length_ns: fn(&Span) -> i64| {
            stretches.iter().map(length_ns).fold(0, i64::saturating_add)
        };
        let duration_ns = sum(|span| span.latest.unix_ns.saturating_sub(span.earliest.unix_ns));
        let wait_ns = sum(|span| span.end_unix_ns.saturating_sub(span.latest.unix_ns));
        let latency_quantiles_ns = [0.5, 0.9, 0.95, 0.99].map(|q| self.quantile_ns(q));
        let mean = |total: u64| ratio(total as f64, self.requests);
        let latency_mean_ns = ratio(self.latency_total_ns as f64, self.requests) as i64;
        let mut figures = Figures {
            requests: self.requests,
            rate: self.requests as f64,
            throughput: self.successes as f64,
            duration_ns,
            wait_ns,
            latency_total_ns: self.latency_total_ns,
            latency_mean_ns,
            latency_quantiles_ns,
            latency_min_ns: self.latency_min_ns,
            latency_max_ns: self.latency_max_ns,
            bytes_in: Some((self.bytes_in, mean(self.bytes_in))),
            bytes_out: Some((self.bytes_out, mean(self.bytes_out))),
            success: mean(self.successes),
            status_codes: self.status_codes(),
            errors: self.errors.clone(),
            errors_refused: self.errors_refused,
            buckets: self.buckets.clone(),
            stretches: stretches.len(),
            ..Figures::default()
        };
        if duration_ns > 0 {
            figures.rate /= seconds(duration_ns);
            figures.throughput /= seconds(duration_ns.saturating_add(wait_ns));
        }
        if let (Some(first), Some(last)) = (stretches.first(), stretches.last()) {
            figures.earliest = first.earliest;
            figures.latest = last.latest;
            figures.end = Timestamp { unix_ns: last.end_unix_ns, ..last.latest };
        }
        figures
    }

    /// The latency below which the fraction `q` of all lies, whole nanoseconds; 0 without results.
    pub fn quantile_ns(&mut self, q: f64) -> i64 {
        self.digest.quantile(q).unwrap_or(0.0) as i64
    }

    /// How many results were taken in.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The buckets, where there are any.
    pub(super) fn buckets(&self) -> Option<&Buckets> {
        self.buckets.as_ref()
    }

    /// The inputs' spans, those that overlap as one, in order of time.
    fn stretches(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = self.spans.iter().flatten().copied().collect();
        spans.sort_by_key(|span| span.earliest.unix_ns);
        let mut stretches: Vec<Span> = Vec::new();
        for span in spans {
            match stretches.last_mut() {
                Some(last) if span.earliest.unix_ns <= last.end_unix_ns => {
                    if span.latest.unix_ns > last.latest.unix_ns {
                        last.latest = span.latest;
                    }
                    last.end_unix_ns = last.end_unix_ns.max(span.end_unix_ns);
                }
                _ => stretches.push(span),
            }
        }
        stretches
    }

    fn status_codes(&self) -> Vec<(String, u64)> {
        let mut codes: Vec<(String, u64)> =
            self.codes.iter().map(|(code, count)| (code.to_string(), *count)).collect();
        codes.sort();
        codes
    }
}

fn ratio(total: f64, requests: u64) -> f64 {
    if requests == 0 { 0.0 } else { total / requests as f64 }
}

/// Whole seconds and the rest apart, which rounds as Vegeta does.
fn seconds(ns: i64) -> f64 {
    (ns / 1_000_000_000) as f64 + (ns % 1_000_000_000) as f64 / 1e9
}

/// Text of bytes, each that is no UTF-8 as U+FFFD.
fn lossy(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{fffd}'));
    }
    text
}

#[cfg(test)]
mod tests;
