//! What is reported of a load, from the engine's figures.

use sojourn_metrics::{Figure, Histogram, SeriesKey, SeriesPhase, Store, names};

/// The figures of a load.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// From when each request was due to its last byte, nanoseconds: of every request that was
    /// answered or given up for want of an answer.
    pub latency: Histogram,
    /// The same from when it was begun.
    pub service: Histogram,
    /// Answers, of each whole second and thread.
    pub per_second: Histogram,
    /// From the start to the end of the load, or of its last answer if that was later, nanoseconds.
    pub duration_ns: u64,
    /// Answers.
    pub requests: u64,
    /// Bytes received, headers included.
    pub bytes: u64,
    /// What went wrong.
    pub errors: Errors,
    /// Arrivals that were due and never begun (under a rate).
    pub missed: u64,
    /// Requests that waited for a free connection after they were due (under a rate).
    pub waited: u64,
    /// p99 of the generators' own lateness, nanoseconds.
    pub own_lag_p99_ns: u64,
    /// Requests under way when the load was broken off.
    pub cut_off: u64,
}

/// Errors by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// No connection: refused, unreachable, no address, no TLS, no port or descriptor left.
    pub connect: u64,
    /// The connection or the answer broke off, or the answer was no HTTP.
    pub read: u64,
    /// The connection broke off before the request was wholly sent.
    pub write: u64,
    /// Answers of status 400 and above.
    pub status: u64,
    /// Requests whose answer came after the timeout, or never.
    pub timeout: u64,
}

impl Figures {
    /// From the merged figures of a patient attack that lasted for `load_ns`.
    pub fn new(store: &Store, load_ns: u64) -> Self {
        let trend = |name: &str| {
            let key = SeriesKey::new(name, &[], SeriesPhase::Steady);
            store.trend(&key).cloned().unwrap_or_default()
        };
        let counter = |name: &str| store.counter(&SeriesKey::new(name, &[], SeriesPhase::Steady));
        let of_journeys = |name: &str| store.sum(name, &[], SeriesPhase::Steady);
        let bytes = store.merged(names::STEP_RECEIVED_BYTES, &[], SeriesPhase::Steady);
        let mut figures = Self {
            latency: trend(names::ANSWER_RESPONSE),
            service: trend(names::ANSWER_SERVICE),
            per_second: trend(names::ANSWERS_PER_SECOND),
            duration_ns: load_ns.max(until_ns(store)),
            requests: 0,
            bytes: u64::try_from(bytes.totals().sum).unwrap_or(u64::MAX),
            errors: Errors {
                write: counter(names::ANSWERS_UNSENT),
                timeout: counter(names::ANSWERS_LATE),
                ..Errors::default()
            },
            missed: of_journeys(names::JOURNEYS_MISSED),
            waited: counter(names::ANSWERS_WAITED),
            own_lag_p99_ns: trend(names::ANSWER_OWN_LAG).quantile(0.99).unwrap_or(0),
            cut_off: of_journeys(names::JOURNEYS_IN_FLIGHT_AT_CUTOFF),
        };
        for (key, figure) in store.figures() {
            if let (names::STEP_REQUESTS, Figure::Counter(count)) = (key.metric.as_ref(), figure) {
                figures.add(key.tag(names::STATUS).unwrap_or_default(), *count);
            }
        }
        // A request that was not wholly sent failed like one whose answer could not be read.
        figures.errors.read = figures.errors.read.saturating_sub(figures.errors.write);
        figures
    }

    /// Counts requests that ended so: with a status, or a failure's name.
    fn add(&mut self, status: &str, count: u64) {
        match (status, status.parse::<u16>()) {
            (_, Ok(code)) => {
                self.requests += count;
                self.errors.status += if code >= 400 { count } else { 0 };
            }
            ("connect" | "dns" | "local limit" | "tls", _) => self.errors.connect += count,
            // Counted with the late ones.
            ("timeout", _) => {}
            _ => self.errors.read += count,
        }
    }
}

/// When the last answer came, from the start.
fn until_ns(store: &Store) -> u64 {
    let gauges = store.series().filter(|(key, _)| key.metric == names::ANSWERS_UNTIL_S);
    let latest = gauges.filter_map(|(key, _)| store.gauge(key)).map(|(_, _, most)| most);
    (latest.fold(0.0, f64::max) * 1e9) as u64
}
