//! What all of it comes to.

use std::collections::BTreeMap;

use sojourn_analysis::void;
use sojourn_k6::metrics::{Sink, Totals, Trend, builtin};
use sojourn_k6::summary::{Busiest, Generator, MachineUse};
use sojourn_plan::HealthLimits;

use super::{Busy, Machine, Noticed};
use crate::thread::Member;

/// So many iterations of a process have to be late before it is late by itself: a few of a small
/// share may be one stall.
const LATE_MIN: f64 = 10.0;

/// What everybody has noticed so far.
pub(crate) struct Told {
    /// Processes by name have users; otherwise they are threads of this one.
    names: BTreeMap<Member, String>,
    by: BTreeMap<Member, Noticed>,
}

impl Told {
    /// Nothing so far, by these processes.
    pub(crate) fn by(names: BTreeMap<Member, String>) -> Self {
        Self { names, by: BTreeMap::new() }
    }

    /// Takes in what one has noticed since the last time. Beside processes that have the users,
    /// what this one's thread notices is no load.
    pub(crate) fn take_in(&mut self, member: Member, noticed: Noticed) {
        if self.names.is_empty() || self.names.contains_key(&member) {
            self.by.entry(member).or_default().merge(noticed);
        }
    }

    fn threads(&self) -> impl Iterator<Item = (String, &Busy)> {
        self.by.iter().flat_map(|(member, noticed)| {
            let of = self.names.get(member);
            noticed.threads.iter().map(move |(number, busy)| match of {
                Some(process) => (format!("users-{number} of {process}"), busy),
                None => (format!("users-{number}"), busy),
            })
        })
    }

    fn lag(&self) -> Trend {
        let mut all = Trend::new(false);
        self.by.values().for_each(|noticed| all.merge(noticed.lag.clone()));
        all
    }

    /// The one process that was later than it may be where all of them together were not.
    fn late_process(&self, limit_ms: f64) -> Option<String> {
        self.names.iter().find_map(|(member, name)| {
            let lag = &self.by.get(member)?.lag;
            let p99_ms = lag.percentiles().at(99.0);
            let is_late = lag.count() as f64 * 0.01 >= LATE_MIN;
            let told = void::lag(p99_ms * 1e6, limit_ms * 1e6).filter(|_| is_late)?;
            Some(format!("{name}: {told}"))
        })
    }

    /// Of several machines the one that others used most, and the one that was robbed most.
    fn machine(&self) -> Option<MachineUse> {
        let all = self.by.values().filter_map(|noticed| noticed.machine);
        let most = all.reduce(|one: Machine, other| Machine {
            busy: one.busy.max(other.busy),
            stolen: one.stolen.max(other.stolen),
        });
        most.map(|Machine { busy, stolen }| MachineUse { busy, stolen })
    }
}

/// The verdict on who made the load, of so many iterations that were due.
pub(crate) fn verdict(told: &Told, totals: &Totals, scheduled: u64, dropped: u64) -> Generator {
    let limits = HealthLimits::default();
    let lag = told.lag();
    let lag_p99_ms = (lag.count() > 0).then(|| lag.percentiles().at(99.0));
    let lag_max_ms = lag_max_ms(totals, &limits);
    let busy_for_s = limits.busy_for_ns as f64 / 1e9;
    let mut causes = Vec::new();
    let mut cause = |name: &str, detail: String| causes.push(format!("{name}: {detail}"));
    if let Some(detail) = void::missed(dropped, scheduled, limits.missed_max) {
        cause(void::MISSED, detail);
    }
    let of_all = || void::lag(lag_p99_ms? * 1e6, lag_max_ms * 1e6);
    if let Some(detail) = told.late_process(lag_max_ms).or_else(of_all) {
        cause(void::LAG, detail);
    }
    for (name, busy) in told.threads() {
        let longest_s = busy.longest_s;
        if let Some(detail) = void::saturated(&name, longest_s, limits.busy_max, busy_for_s) {
            cause(void::SATURATED, detail);
        }
    }
    let busiest = told.threads().max_by(|(_, one), (_, other)| one.share.total_cmp(&other.share));
    Generator {
        causes,
        scheduled,
        dropped,
        dropped_max: limits.missed_max,
        lag_p99_ms,
        lag_max_ms,
        busiest: busiest.map(|(thread, busy)| Busiest {
            thread,
            busy: busy.share,
            seconds: busy.seconds,
        }),
        busy_max: limits.busy_max,
        machine: told.machine(),
    }
}

/// The lag that may be: what is small by itself, or beside what the target takes.
fn lag_max_ms(totals: &Totals, limits: &HealthLimits) -> f64 {
    let median = |metric| match totals.sink(metric) {
        Some(Sink::Trend(trend)) => trend.percentiles().med(),
        _ => 0.0,
    };
    let slowest_ms = median(builtin::HTTP_REQ_RESPONSE).max(median(builtin::GRPC_REQ_DURATION));
    (limits.lag_p99_max_ns as f64 / 1e6).max(slowest_ms * limits.lag_share_max)
}

#[cfg(test)]
mod tests {
    use sojourn_k6::metrics::{Registry, Shard, ShardOptions, TagSets};

    use super::*;

    fn noticed(lags_ms: impl IntoIterator<Item = f64>, longest_s: f64) -> Noticed {
        let mut noticed = Noticed::default();
        lags_ms.into_iter().for_each(|lag_ms| noticed.lag.add(lag_ms));
        noticed.threads.insert(0, Busy { share: 0.99, seconds: 10, longest_s });
        noticed
    }

    fn told(by: impl IntoIterator<Item = Noticed>, names: &[&str]) -> Told {
        let names = names.iter().enumerate().map(|(at, name)| (at, (*name).to_owned()));
        let mut told = Told::by(names.collect());
        by.into_iter().enumerate().for_each(|(member, noticed)| told.take_in(member, noticed));
        told
    }

    #[test]
    fn each_limit_is_a_cause_of_its_own_and_nothing_else_is() {
        let judge = |told: &Told, dropped| verdict(told, &Totals::default(), 1_000, dropped);
        let quiet = told([noticed(vec![1.0; 100], 9.0)], &[]);
        assert_eq!(judge(&quiet, 1).causes, [""; 0]);
        assert_eq!(verdict(&told([], &[]), &Totals::default(), 0, 0).causes, [""; 0]);
        let missed = judge(&quiet, 2).causes;
        assert_eq!(missed, ["missed arrivals: 2 of 1000 were never started (limit 0.1 %)"]);
        let late = told([noticed(vec![14.0; 100], 0.0)], &[]);
        assert!(judge(&late, 0).causes[0].starts_with("generator lag: p99 14.0 ms, limit 10.0"));
        let busy = told([noticed([], 10.0)], &[]);
        assert!(
            judge(&busy, 0).causes[0].starts_with("generator saturated: users-0 was more than")
        );
        // Members' accounts come in parts.
        let mut told = told([noticed(vec![1.0; 100], 0.0)], &[]);
        told.take_in(0, noticed(vec![14.0; 10], 12.0));
        assert_eq!(judge(&told, 0).causes.len(), 2);
    }

    #[test]
    fn one_late_process_is_not_hidden_by_the_others() {
        let others = (0..9).map(|_| noticed(vec![1.0; 20_000], 0.0));
        let late = noticed(vec![20.0; 1_000], 0.0);
        let names: Vec<String> = (0..10).map(|number| format!("process {number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // The last one is none of them: it has no users.
        let conductor = noticed(vec![90.0; 1_000], 60.0);
        let told = told(others.chain([late, conductor]), &names);
        let causes = verdict(&told, &Totals::default(), 1, 0).causes;
        assert_eq!(causes.len(), 1, "{causes:?}");
        assert!(causes[0].starts_with("generator lag: process 9: p99 20.0 ms"), "{causes:?}");
    }

    #[test]
    fn lag_may_be_a_tenth_of_what_the_target_takes() {
        let sets = TagSets::new(Registry::new().matcher());
        let mut shard = Shard::new(ShardOptions::default());
        shard.add(builtin::HTTP_REQ_RESPONSE, sets.empty(), 1, 400.0);
        let mut totals = Totals::default();
        totals.merge(shard.take());
        let late = told([noticed(vec![30.0; 100], 0.0)], &[]);
        let judged = verdict(&late, &totals, 100, 0);
        assert_eq!((judged.lag_max_ms, judged.causes.len()), (40.0, 0));
        assert_eq!(judged.lag_p99_ms, Some(30.0));
    }
}
