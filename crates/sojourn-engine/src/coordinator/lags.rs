//! How late each process of generators began its arrivals. A run is as punctual as the least
//! punctual of them: among many, one that starves hardly shows in the figures of all.

use std::collections::BTreeMap;

use sojourn_metrics::{Histogram, SeriesId, SeriesKey, SeriesPhase, Snapshot, Value, names};

use crate::{RunOptions, remote::name_of};

/// Arrivals later than the limit without which nobody is called late: what befalls one or two of
/// them says nothing of a process.
const LATE_MIN: u64 = 10;
/// Most processes that are named.
const NAMED_MAX: usize = 5;

/// The lag of each process, in the steady phase. Empty where generators are no processes.
#[derive(Debug, Default)]
pub(super) struct Lags {
    /// By their numbers.
    names: Vec<String>,
    /// Threads of each.
    threads: u32,
    /// Which series of a generator is its lag.
    series: BTreeMap<u32, SeriesId>,
    each: BTreeMap<u32, Histogram>,
}

impl Lags {
    /// Of the processes that a run with these options has.
    pub(super) fn new(options: &RunOptions) -> Self {
        let Some(processes) = &options.processes else { return Self::default() };
        let names = match &processes.fleet {
            Some(fleet) => {
                (0..).zip(fleet.states()).map(|(number, it)| name_of(number, &it)).collect()
            }
            None => (0..processes.count).map(|it| format!("generator process {it}")).collect(),
        };
        Self { names, threads: options.threads.max(1), ..Self::default() }
    }

    /// Takes a second of the generator of this number.
    pub(super) fn note(&mut self, index: u32, snapshot: &Snapshot) {
        if self.names.is_empty() {
            return;
        }
        let is_lag = |key: &SeriesKey| {
            key.metric == names::LAG && key.tags.is_empty() && key.phase == SeriesPhase::Steady
        };
        if let Some((id, ..)) = snapshot.new_series.iter().find(|(_, _, key)| is_lag(key)) {
            self.series.insert(index, *id);
        }
        let Some(own) = self.series.get(&index) else { return };
        let value = snapshot.values.iter().find(|(id, _)| id == own);
        if let Some((_, Value::Trend(lag))) = value {
            self.each.entry(index / self.threads).or_default().merge_interval(lag);
        }
    }

    /// The processes whose p99 is above a limit, nanoseconds, in words; `None` where there is none.
    pub(super) fn beyond(&self, limit_ns: u64) -> Option<String> {
        let late = self.each.iter().filter_map(|(process, lag)| {
            let p99_ns = lag.quantile(0.99).filter(|p99_ns| *p99_ns > limit_ns)?;
            let beyond = lag.count().saturating_sub(lag.count_at_most(limit_ns));
            (beyond >= LATE_MIN).then_some((p99_ns, *process))
        });
        let mut late: Vec<(u64, u32)> = late.collect();
        late.sort_unstable_by_key(|late| std::cmp::Reverse(*late));
        let words = late.iter().take(NAMED_MAX).map(|(p99_ns, process)| {
            let name = self.names.get(*process as usize).map_or("a generator", String::as_str);
            format!("{name} p99 {:.1} ms", *p99_ns as f64 / 1e6)
        });
        let words = words.collect::<Vec<_>>().join("; ");
        let more = match late.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let limit_ms = limit_ns as f64 / 1e6;
        (!late.is_empty()).then(|| {
            format!("{words}{more}, limit {limit_ms:.1} ms: could not keep the schedule there")
        })
    }
}

#[cfg(test)]
mod tests {
    use sojourn_metrics::{Kind, Recorder};

    use super::*;

    const LIMIT_NS: u64 = 10_000_000;

    fn lags(processes: u32) -> Lags {
        let names = (0..processes).map(|it| format!("process {it}")).collect();
        Lags { names, threads: 2, ..Lags::default() }
    }

    /// A second of a generator with so many arrivals that were on time, and so many that were late.
    fn second(index: u32, on_time: u64, late: u64) -> Snapshot {
        let mut recorder = Recorder::new(index);
        let key = |phase| SeriesKey::new(names::LAG, &[], phase);
        let warm_up = recorder.series(Kind::Trend, key(SeriesPhase::WarmUp));
        let steady = recorder.series(Kind::Trend, key(SeriesPhase::Steady));
        (0..50).for_each(|_| recorder.record(warm_up, 9 * LIMIT_NS));
        (0..on_time).for_each(|_| recorder.record(steady, 1_000));
        (0..late).for_each(|_| recorder.record(steady, 2 * LIMIT_NS));
        recorder.take(1, None)
    }

    #[test]
    fn one_late_process_among_many_is_named() {
        let mut lags = lags(200);
        for index in 0..400 {
            lags.note(index, &second(index, 1_000, 0));
        }
        assert_eq!(lags.beyond(LIMIT_NS), None);
        // Of all arrivals 0.02 %, of its own 4 %.
        lags.note(7, &second(7, 0, 80));
        let words = lags.beyond(LIMIT_NS).unwrap();
        assert!(words.starts_with("process 3 p99 20.0 ms, limit 10.0 ms: "), "{words}");
        assert_eq!(lags.beyond(2 * LIMIT_NS), None);
    }

    #[test]
    fn a_few_late_arrivals_of_a_few_are_no_late_process() {
        let mut lags = lags(2);
        lags.note(0, &second(0, 20, 8));
        assert_eq!(lags.beyond(LIMIT_NS), None);
        lags.note(1, &second(1, 0, 1));
        assert_eq!(lags.beyond(LIMIT_NS), None);
    }

    #[test]
    fn the_latest_are_named_first_and_the_rest_counted() {
        let mut lags = lags(7);
        for index in 0..14 {
            lags.note(index, &second(index, 0, 20));
        }
        let words = lags.beyond(LIMIT_NS).unwrap();
        assert_eq!(words.matches("process ").count(), 5, "{words}");
        assert!(words.contains("; and 2 more, limit "), "{words}");
    }
}
