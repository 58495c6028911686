//! What a run's series tell of the limits of the machine that made the load. Verdict, report and
//! live screen all ask here, so that they can't say different things.

use crate::{Figure, SeriesPhase, Store, names};

/// Requests and attempts that failed for want of something on the generator's machine: the target
/// never had them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailedHere {
    /// Requests that ended so.
    pub requests: u64,
    /// Attempts before another of the same request.
    pub attempts: u64,
}

impl FailedHere {
    /// Those of a run, over all its phases and journeys, poisoned ones too.
    pub fn of(store: &Store) -> Self {
        let of = |metric: &str, tag: &str| -> u64 {
            let series = store.series().filter(|(key, _)| key.metric == metric);
            let here = series.filter(|(key, _)| key.tag(tag) == Some(names::LOCAL_LIMIT));
            here.map(|(key, _)| store.counter(key)).sum()
        };
        Self {
            requests: of(names::STEP_REQUESTS, names::STATUS),
            attempts: of(names::STEP_RETRIES, names::REASON),
        }
    }

    /// Both.
    pub fn total(self) -> u64 {
        self.requests + self.attempts
    }
}

/// The lag at p99 beyond which a run is void, nanoseconds: `lag_ns_min`, or this share of the
/// slowest step's median response in that phase when it is larger. Poisoned roots don't count: they
/// may well hang, which is no reason to be late with the others.
pub fn lag_limit_ns(store: &Store, phase: SeriesPhase, lag_ns_min: u64, lag_share: f64) -> u64 {
    let medians = store.select(names::STEP_RESPONSE, &[], phase).filter_map(|(_, figure)| {
        let Figure::Trend(responses) = figure else { return None };
        responses.quantile(0.5)
    });
    let slowest_ns = medians.max().unwrap_or(0);
    lag_ns_min.max((slowest_ns as f64 * lag_share) as u64)
}

/// The least that any process of the run had left, by the gauges of this metric: descriptors or
/// ports.
pub fn least_left(store: &Store, metric: &str) -> Option<f64> {
    let of_metric = store.series().filter(|(key, _)| key.metric == metric);
    let least = of_metric.filter_map(|(key, _)| store.gauge(key)).map(|(_, least, _)| least);
    least.reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Recorder, SeriesKey};

    fn store(write: impl FnOnce(&mut Recorder)) -> Store {
        let (mut recorder, mut store) = (Recorder::new(0), Store::new());
        write(&mut recorder);
        store.apply(&recorder.take(1, None)).unwrap();
        store
    }

    #[test]
    fn what_failed_here_is_of_all_phases_and_of_poisoned_journeys_too() {
        let poisoned = names::poisoned("order");
        let store = store(|recorder| {
            let mut count = |metric: &str, journey: &str, tag, phase, count: u64| {
                let key = SeriesKey::new(metric, &[("journey", journey), tag], phase);
                let series = recorder.series(Kind::Counter, key);
                recorder.add(series, count);
            };
            let here = ("status", names::LOCAL_LIMIT);
            count(names::STEP_REQUESTS, "order", here, SeriesPhase::WarmUp, 1);
            count(names::STEP_REQUESTS, "order", here, SeriesPhase::Steady, 10);
            count(names::STEP_REQUESTS, &poisoned, here, SeriesPhase::Steady, 100);
            count(names::STEP_REQUESTS, "order", ("status", "200"), SeriesPhase::Steady, 1_000);
            let again = ("reason", names::LOCAL_LIMIT);
            count(names::STEP_RETRIES, "order", again, SeriesPhase::Steady, 7);
        });
        let failed = FailedHere::of(&store);
        assert_eq!(failed, FailedHere { requests: 111, attempts: 7 });
        assert_eq!(failed.total(), 118);
    }

    #[test]
    fn the_limit_of_lag_is_a_share_of_the_slowest_median_that_is_not_poisoned() {
        let poisoned = names::poisoned("order");
        let store = store(|recorder| {
            for (journey, step, response_ns) in [
                ("order", "place", 20_000_000),
                ("order", "pay", 400_000_000),
                (poisoned.as_str(), "place", 5_000_000_000),
            ] {
                let tags = [("journey", journey), ("step", step)];
                let key = SeriesKey::new(names::STEP_RESPONSE, &tags, SeriesPhase::Steady);
                let series = recorder.series(Kind::Trend, key);
                recorder.record(series, response_ns);
            }
        });
        let limit = |phase, least_ns| lag_limit_ns(&store, phase, least_ns, 0.1);
        let of_share = limit(SeriesPhase::Steady, 10_000_000);
        assert!(of_share.abs_diff(40_000_000) <= 40_000, "{of_share}");
        assert_eq!(limit(SeriesPhase::Steady, 50_000_000), 50_000_000);
        assert_eq!(limit(SeriesPhase::WarmUp, 10_000_000), 10_000_000);
    }

    #[test]
    fn the_least_that_was_left_is_that_of_the_process_with_the_least() {
        let store = store(|recorder| {
            for (process, left) in [(None, 900.0), (Some("process 0"), 3.0), (Some("p"), 70.0)] {
                let tags: Vec<_> = process.map(|it| (names::PROCESS, it)).into_iter().collect();
                let metric = names::HEALTH_DESCRIPTORS_LEFT;
                let key = SeriesKey::new(metric, &tags, SeriesPhase::Any);
                let series = recorder.series(Kind::Gauge, key);
                recorder.set(series, left);
            }
        });
        assert_eq!(least_left(&store, names::HEALTH_DESCRIPTORS_LEFT), Some(3.0));
        assert_eq!(least_left(&store, names::HEALTH_PORTS_LEFT), None);
    }
}
