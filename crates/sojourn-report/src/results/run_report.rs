//! The same layouts for a run file, whose histograms tell more than records can: response time from
//! the scheduled instant, service time, blocked and lag side by side.
//!
//! "Latencies" are service times, which is what records have. Quantiles are of nearest rank on
//! merged histograms; the duration is the load's, and rates are per second of it.

use std::fmt::Write;

use sojourn_metrics::{Histogram, SeriesPhase, Store, names};
use sojourn_record::{RunFile, Summary, results::Timestamp};

use super::{Buckets, Figures, Layout, hdrplot, json, layout::columns, text};

/// A time that a run file has of every request.
pub(super) struct Time {
    /// `response`, `service`, `blocked`, `lag`.
    pub(super) name: &'static str,
    pub(super) histogram: Histogram,
}

impl Time {
    /// Nanoseconds at a quantile; 0 without samples.
    pub(super) fn quantile_ns(&self, q: f64) -> i64 {
        self.histogram.quantile(q).unwrap_or(0) as i64
    }

    /// Min, mean, 50th, 90th, 95th and 99th percentile, max: nanoseconds.
    pub(super) fn row_ns(&self) -> [i64; 7] {
        let [p50, p90, p95, p99] = [0.5, 0.9, 0.95, 0.99].map(|q| self.quantile_ns(q));
        let mean = self.histogram.mean().unwrap_or(0.0) as i64;
        [self.quantile_ns(0.0), mean, p50, p90, p95, p99, self.quantile_ns(1.0)]
    }

    /// Sum of all samples, nanoseconds.
    pub(super) fn total_ns(&self) -> i64 {
        (self.histogram.mean().unwrap_or(0.0) * self.histogram.count() as f64) as i64
    }
}

/// Prints a run file in a layout; `buckets` where it has some.
pub fn print_run(run: &RunFile, layout: Layout, buckets: Option<&Buckets>) -> String {
    let times = times(&run.store);
    let service = &times[1];
    let figures = figures(run, service, buckets);
    match layout {
        Layout::Text => text::print_with(&figures, &times),
        Layout::Json => json::print_with(&figures, &times),
        Layout::HdrPlot => hdrplot::print_times(&times),
        Layout::Histogram => buckets.map(|buckets| histogram(buckets, &times)).unwrap_or_default(),
    }
}

fn times(store: &Store) -> [Time; 4] {
    [
        ("response", names::STEP_RESPONSE),
        ("service", names::STEP_SERVICE),
        ("blocked", names::STEP_BLOCKED),
        ("lag", names::LAG),
    ]
    .map(|(name, metric)| Time { name, histogram: all(store, metric) })
}

/// A trend of every step and phase.
fn all(store: &Store, metric: &str) -> Histogram {
    let mut all = store.merged(metric, &[], SeriesPhase::Steady);
    all.merge(&store.merged(metric, &[], SeriesPhase::WarmUp));
    all
}

fn figures(run: &RunFile, service: &Time, buckets: Option<&Buckets>) -> Figures {
    let store = &run.store;
    let total = |metric: &str| {
        let of = |phase| store.sum(metric, &[], phase);
        of(SeriesPhase::Steady) + of(SeriesPhase::WarmUp)
    };
    let (requests, failed) = (total(names::STEP_REQUESTS), total(names::STEP_FAILED));
    let successes = requests.saturating_sub(failed);
    let known_ns = run.intervals.last().map_or(0, |last| last.end_ns);
    let (load_ns, end_ns, last_ns) =
        run.summary.as_ref().map_or((known_ns, known_ns, known_ns), |summary| {
            (summary.load_end_ns, summary.end_ns, summary.arrivals_end_ns)
        });
    let drained_ns = run.summary.as_ref().map_or(0, rest_ns);
    let per_s = |count: u64, ns: u64| count as f64 * 1e9 / ns.max(1) as f64;
    let [min, mean, p50, p90, p95, p99, max] = service.row_ns();
    let status_codes = status_codes(store);
    let answers: u64 =
        status_codes.iter().filter(|(code, _)| code != "0").map(|(_, count)| count).sum();
    // Where some answers' bodies were not looked at, a total would be false.
    let are_bodies_known = total(names::STEP_BODIES) == answers;
    let bytes = |metric: &str| {
        let bytes = total(metric);
        are_bodies_known.then(|| (bytes, bytes as f64 / requests.max(1) as f64))
    };
    let at = |ns: u64| Timestamp::utc((run.identity.start_unix_ns + ns) as i64);
    Figures {
        requests,
        rate: per_s(requests, load_ns),
        throughput: per_s(successes, load_ns + drained_ns),
        duration_ns: load_ns as i64,
        wait_ns: drained_ns as i64,
        latency_total_ns: service.total_ns(),
        latency_mean_ns: mean,
        latency_quantiles_ns: [p50, p90, p95, p99],
        latency_min_ns: min,
        latency_max_ns: max,
        bytes_in: bytes(names::STEP_BODY_BYTES_IN),
        bytes_out: bytes(names::STEP_BODY_BYTES_OUT),
        success: successes as f64 / requests.max(1) as f64,
        status_codes,
        errors: errors(store),
        errors_refused: 0,
        earliest: at(0),
        latest: at(last_ns),
        end: at((last_ns + drained_ns).min(end_ns)),
        buckets: buckets.map(|buckets| filled(buckets, service)),
        stretches: 1,
    }
}

/// How long answers were waited for after the load: where the run ended before the last one, until
/// then, so that no rate is higher than it was.
fn rest_ns(summary: &Summary) -> u64 {
    summary.drain_ns.unwrap_or_else(|| summary.end_ns.saturating_sub(summary.load_end_ns))
}

/// Requests by status; those without an answer are `0`, as in records.
fn status_codes(store: &Store) -> Vec<(String, u64)> {
    let mut codes = std::collections::BTreeMap::<String, u64>::new();
    for (key, _) in store.series().filter(|(key, _)| key.metric == names::STEP_REQUESTS) {
        let status = key.tag(names::STATUS).unwrap_or_default();
        let code = if status.parse::<u16>().is_ok() { status } else { "0" };
        *codes.entry(code.to_owned()).or_default() += store.counter(key);
    }
    codes.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn errors(store: &Store) -> Vec<String> {
    let failed = store.series().filter(|(key, _)| key.metric == names::STEP_FAILED);
    let mut errors: Vec<String> =
        failed.filter_map(|(key, _)| Some(key.tag(names::REASON)?.to_owned())).collect();
    errors.sort_unstable();
    errors.dedup();
    errors
}

/// Buckets with a time's samples: each by the middle of its histogram's own bucket.
fn filled(empty: &Buckets, time: &Time) -> Buckets {
    let mut buckets = empty.clone();
    for (least, greatest, count) in time.histogram.buckets() {
        buckets.add_n((least + (greatest - least) / 2) as i64, count);
    }
    buckets
}

fn histogram(empty: &Buckets, times: &[Time; 4]) -> String {
    let filled = times.each_ref().map(|time| filled(empty, time));
    let names = times.each_ref().map(|time| time.name);
    let mut rows = vec![[
        "Bucket".to_owned(),
        names[0].to_owned(),
        names[1].to_owned(),
        names[2].to_owned(),
        names[3].to_owned(),
    ]];
    for (place, (range, _)) in filled[0].ranges().enumerate() {
        let cells = filled.each_ref().map(|buckets| {
            let total: u64 = buckets.iter().map(|(_, count)| count).sum();
            let count = buckets.iter().nth(place).map_or(0, |(_, count)| count);
            format!("{count} {:.2}%", count as f64 * 100.0 / total.max(1) as f64)
        });
        let [response, service, blocked, lag] = cells;
        rows.push([range, response, service, blocked, lag]);
    }
    let mut out = String::new();
    for line in columns(&rows) {
        // A String takes whatever is written to it.
        let _written = writeln!(out, "{}", line.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use sojourn_record::Verdict;

    use super::*;

    fn times() -> [Time; 4] {
        let of = |name, values: &[u64]| {
            let mut histogram = Histogram::new();
            values.iter().for_each(|ms| histogram.record(ms * 1_000_000));
            Time { name, histogram }
        };
        [
            of("response", &[1, 2, 30, 400]),
            of("service", &[1, 2, 3, 4]),
            of("blocked", &[0, 0, 0, 1]),
            of("lag", &[0, 0, 27, 396]),
        ]
    }

    #[test]
    fn answers_that_were_still_out_at_the_end_make_no_rate_higher() {
        let summary = |drain_ns| Summary {
            verdict: Verdict::Void,
            causes: Vec::new(),
            thresholds: Vec::new(),
            interrupted: false,
            arrivals_end_ns: 1_990,
            load_end_ns: 2_000,
            end_ns: 9_000,
            drain_ns,
            notes: Vec::new(),
            fleet: None,
        };
        assert_eq!((rest_ns(&summary(Some(30))), rest_ns(&summary(None))), (30, 7_000));
    }

    #[test]
    fn times_stand_side_by_side() {
        let text = text::print_with(&Figures::default(), &times());
        let rows: Vec<&str> = text.lines().skip(2).take(5).collect();
        assert!(rows[0].starts_with("Latencies     [min, mean, 50, 90, 95, 99, max]  "), "{text}");
        for (row, (name, max)) in rows[1..].iter().zip([
            ("Response", "400"),
            ("Service", "4"),
            ("Blocked", "1"),
            ("Lag", "396"),
        ]) {
            assert!(row.starts_with(name) && row.contains(max), "{name}: {text}");
        }
        let json = json::print_with(&Figures::default(), &times());
        assert!(json.contains("\"lag\":{\"total\":"), "{json}");
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(value["response"]["max"].as_i64().unwrap() >= 399_000_000, "{json}");
        assert!(hdrplot::print_times(&times()).starts_with("Value(ms)"));
    }

    #[test]
    fn buckets_hold_every_sample_of_each_time() {
        let buckets = Buckets::parse("[0,10ms,100ms]").unwrap();
        let text = histogram(&buckets, &times());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].contains("2 50.00%") && lines[1].contains("4 100.00%"), "{text}");
        assert!(lines[3].starts_with("[100ms, +Inf]"), "{text}");
        assert!(lines[3].contains("1 25.00%  0 0.00%"), "{text}");
    }
}
