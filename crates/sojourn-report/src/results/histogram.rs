//! Latencies in buckets, and their layout.

use std::fmt::Write;

use super::{duration, layout::columns};

/// Columns that a bar of everything has.
const BAR_MAX: f64 = 75.0;

/// Lower bounds and how many latencies lie from each to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Nanoseconds.
    bounds_ns: Vec<i64>,
    counts: Vec<u64>,
}

/// A text that names no buckets.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// It is no list in brackets.
    #[error("bad buckets: {0}")]
    List(String),
    /// A bound is no duration.
    #[error("{0}")]
    Bound(String),
}

impl Buckets {
    /// Reads `[0,1ms,10ms]`. A bound of 0 is put in front of a first one above it.
    pub fn parse(text: &str) -> Result<Self, BucketError> {
        let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let list = list.ok_or_else(|| {
            BucketError::List(if text.is_empty() { "''".to_owned() } else { text.to_owned() })
        })?;
        let mut bounds_ns = Vec::new();
        for bound in list.split(',') {
            let bound_ns = duration::parse(bound.trim()).map_err(BucketError::Bound)?;
            if bounds_ns.is_empty() && bound_ns > 0 {
                bounds_ns.push(0);
            }
            bounds_ns.push(bound_ns);
        }
        Ok(Self { counts: vec![0; bounds_ns.len()], bounds_ns })
    }

    /// Counts a latency into the first bucket that holds it, else into the last.
    pub fn add(&mut self, latency_ns: i64) {
        self.add_n(latency_ns, 1);
    }

    /// Counts so many of them.
    pub(super) fn add_n(&mut self, latency_ns: i64, n: u64) {
        let holds = |pair: &[i64]| pair[0] <= latency_ns && latency_ns < pair[1];
        let last = self.counts.len().saturating_sub(1);
        let index = self.bounds_ns.windows(2).position(holds).unwrap_or(last);
        if let Some(count) = self.counts.get_mut(index) {
            *count += n;
        }
    }

    /// (lower bound in nanoseconds, latencies in the bucket), in the order given.
    pub fn iter(&self) -> impl Iterator<Item = (i64, u64)> {
        self.bounds_ns.iter().copied().zip(self.counts.iter().copied())
    }
}

impl Buckets {
    /// `[1ms, 2ms]` and how many, in the order given.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (String, u64)> {
        let uppers = self.bounds_ns.iter().skip(1).map(|ns| duration::print(*ns));
        let uppers = uppers.chain(["+Inf".to_owned()]);
        self.iter().zip(uppers).map(|((lower_ns, count), upper)| {
            (format!("[{}, {upper}]", duration::print(lower_ns)), count)
        })
    }
}

/// The layout for a terminal.
pub(super) fn print(buckets: &Buckets) -> String {
    let total: u64 = buckets.counts.iter().sum();
    let uppers = buckets.bounds_ns.iter().skip(1).map(|ns| format!("{}]", duration::print(*ns)));
    let mut rows = vec![["Bucket", "", "#", "%", "Histogram"].map(str::to_owned)];
    for ((lower_ns, count), upper) in buckets.iter().zip(uppers.chain(["+Inf]".to_owned()])) {
        let ratio = if total == 0 { 0.0 } else { count as f64 / total as f64 };
        rows.push([
            format!("[{},", duration::print(lower_ns)),
            upper,
            count.to_string(),
            format!("{:.2}%", ratio * 100.0),
            "#".repeat((ratio * BAR_MAX) as usize),
        ]);
    }
    let mut out = String::new();
    for line in columns(&rows) {
        // A String takes whatever is written to it.
        let _written = writeln!(out, "{line}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(text: &str) -> Result<Vec<i64>, String> {
        Buckets::parse(text).map(|buckets| buckets.bounds_ns).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_are_read_or_refused_in_vegetas_words() {
        assert_eq!(bounds("[0,1ms]"), Ok(vec![0, 1_000_000]));
        assert_eq!(bounds("[ 1ms , 2ms ]"), Ok(vec![0, 1_000_000, 2_000_000]));
        assert_eq!(bounds("[-5ms]"), Ok(vec![-5_000_000]));
        for (text, expected) in [
            ("", "bad buckets: ''"),
            ("0,1ms", "bad buckets: 0,1ms"),
            ("[1ms", "bad buckets: [1ms"),
            ("[]", "time: invalid duration \"\""),
            ("[x]", "time: invalid duration \"x\""),
        ] {
            assert_eq!(bounds(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_bucket_begins_with_its_bound_and_the_last_is_open() {
        let mut buckets = Buckets::parse("[1ns,10ns]").unwrap();
        for latency in [0, 1, 9, 10, 11, i64::MAX, -1] {
            buckets.add(latency);
        }
        assert_eq!(buckets.iter().collect::<Vec<_>>(), [(0, 1), (1, 2), (10, 4)]);
    }

    #[test]
    fn an_empty_histogram_has_no_bars() {
        let text = print(&Buckets::parse("[0]").unwrap());
        assert_eq!(text, "Bucket         #  %      Histogram\n[0s,    +Inf]  0  0.00%  \n");
    }
}
