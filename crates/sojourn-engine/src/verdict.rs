//! Whether a run may be believed, and whether it passed.

use sojourn_analysis::void;
use sojourn_ledger::Balance;
use sojourn_metrics::{SeriesKey, SeriesPhase, Store, names, own_limits};
use sojourn_plan::Plan;
use sojourn_record::{Cause, Summary, Verdict};

use crate::refusals;

/// The exit code of a run whose figures may not be believed.
pub const EXIT_VOID: u8 = 3;
/// The exit code of a run that missed what it had to reach.
pub const EXIT_FAILED: u8 = 99;
/// The exit code of a run that was interrupted, and of whatever else a signal ended.
pub const EXIT_INTERRUPTED: u8 = 105;

/// The exit code of a run that ended: void 3, interrupted 105, failed 99, else 0.
pub fn exit_code(summary: &Summary) -> u8 {
    match summary.verdict {
        Verdict::Void => EXIT_VOID,
        _ if summary.interrupted => EXIT_INTERRUPTED,
        Verdict::Fail => EXIT_FAILED,
        Verdict::Pass => 0,
    }
}

/// Every reason why the figures may not be believed; empty when they may. `late` says which
/// processes of generators had more lag than a limit, nanoseconds.
pub(crate) fn void_causes(
    plan: &Plan,
    store: &Store,
    balance: Option<&Balance>,
    (defects, late): (&[String], &dyn Fn(u64) -> Option<String>),
) -> Vec<Cause> {
    let cause = |name: &str, detail: String| Cause { name: name.to_owned(), detail };
    let mut causes: Vec<Cause> =
        defects.iter().map(|defect| cause("defect", defect.clone())).collect();
    let book = match balance {
        None => Some("the book was not closed".to_owned()),
        Some(balance) => balance.imbalance(),
    };
    let book = book.or_else(|| counts_differ(store));
    causes.extend(book.map(|detail| cause("ledger out of balance", detail)));
    causes.extend(balance.map(refusals::of_ledger).into_iter().flatten());
    causes.extend(refusals::of_queues(store));
    causes.extend(arrivals_short(plan, store).map(|detail| cause(void::MISSED, detail)));
    causes.extend(lag_too_high(plan, store, late).map(|detail| cause(void::LAG, detail)));
    let saturated = saturated(plan, store).into_iter();
    causes.extend(saturated.map(|detail| cause(void::SATURATED, detail)));
    causes.extend(refusals::of_machine(store));
    let behind = taps_behind(plan, store).into_iter();
    causes.extend(behind.map(|detail| cause("tap behind", detail)));
    causes
}

/// Arrivals that were not started beyond what the plan tolerates.
fn arrivals_short(plan: &Plan, store: &Store) -> Option<String> {
    let scheduled = sum(store, names::JOURNEYS_SCHEDULED);
    let missed = sum(store, names::JOURNEYS_MISSED);
    if let Some(told) = void::missed(missed, scheduled, plan.health.missed_max) {
        return Some(told);
    }
    let started = sum(store, names::JOURNEYS_STARTED);
    let is_short = (started as f64) < plan.health.delivered_min * scheduled as f64;
    let limit = plan.health.delivered_min * 100.0;
    is_short.then(|| format!("only {started} of {scheduled} were started (limit {limit} %)"))
}

/// Generator threads that were busy beyond the limit for too long.
fn saturated(plan: &Plan, store: &Store) -> Vec<String> {
    let limit_s = plan.health.busy_for_ns as f64 / 1e9;
    greatest(store, names::HEALTH_BUSY_S, "thread")
        .filter_map(|(thread, longest_s)| {
            void::saturated(thread, longest_s, plan.health.busy_max, limit_s)
        })
        .collect()
}

/// Taps that were behind their channel beyond the limit.
fn taps_behind(plan: &Plan, store: &Store) -> Vec<String> {
    let limit_ms = plan.health.tap_behind_max_ns as f64 / 1e6;
    greatest(store, names::HEALTH_TAP_BEHIND_MS, "channel")
        .filter(|(_, most_ms)| *most_ms > limit_ms)
        .map(|(channel, most_ms)| {
            format!("{channel} was {most_ms:.0} ms behind (limit {limit_ms:.0} ms)")
        })
        .collect()
}

/// The greatest value of each of a gauge's series, with the value of its tag.
fn greatest<'a>(
    store: &'a Store,
    metric: &'a str,
    tag: &'a str,
) -> impl Iterator<Item = (&'a str, f64)> {
    store.series().filter(move |(key, _)| key.metric == metric).map(move |(key, _)| {
        let most = store.gauge(key).map_or(0.0, |(_, _, max)| max);
        (key.tag(tag).unwrap_or("?"), most)
    })
}

/// Journeys started as the generators count them against the classes as the ledger does.
fn counts_differ(store: &Store) -> Option<String> {
    let started = sum(store, names::JOURNEYS_STARTED);
    let ended: u64 = [
        names::JOURNEYS_COMPLETED,
        names::JOURNEYS_LATE,
        names::JOURNEYS_LOST,
        names::JOURNEYS_FAILED,
        names::JOURNEYS_ROOT_FAILED,
        names::JOURNEYS_IN_FLIGHT_AT_CUTOFF,
    ]
    .iter()
    .map(|metric| sum(store, metric))
    .sum();
    (started != ended)
        .then(|| format!("generators started {started} journeys, the ledger ended {ended} of them"))
}

fn lag_too_high(
    plan: &Plan,
    store: &Store,
    late: &dyn Fn(u64) -> Option<String>,
) -> Option<String> {
    let lag = store.trend(&SeriesKey::new(names::LAG, &[], SeriesPhase::Steady))?;
    let lag_p99_ns = lag.quantile(0.99)?;
    let health = &plan.health;
    let (least_ns, share) = (health.lag_p99_max_ns, health.lag_share_max);
    let limit_ns = own_limits::lag_limit_ns(store, SeriesPhase::Steady, least_ns, share);
    late(limit_ns).or_else(|| void::lag(lag_p99_ns as f64, limit_ns as f64))
}

/// A counter over all its tags and phases.
pub(crate) fn sum(store: &Store, metric: &str) -> u64 {
    store.series().filter(|(key, _)| key.metric == metric).map(|(key, _)| store.counter(key)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{PAYMENT, plan};

    #[test]
    fn what_the_ledger_refused_makes_a_balanced_book_void() {
        let plan = plan(PAYMENT, "http://127.0.0.1:1");
        let causes =
            |balance: &Balance| void_causes(&plan, &Store::new(), Some(balance), (&[], &|_| None));
        let mut balance = Balance { facts_after_forgetting: 5, ..Balance::default() };
        assert_eq!(causes(&balance), []);
        balance.refusals.early_events = 3;
        balance.refused = balance.refusals.total();
        assert_eq!(balance.imbalance(), None);
        let causes = causes(&balance);
        assert_eq!((causes.len(), &*causes[0].name), (1, "refused by the ledger"));
        assert!(causes[0].detail.starts_with("3 events"), "{}", causes[0].detail);
    }

    #[test]
    fn void_comes_before_interrupted_and_interrupted_before_failed() {
        let summary = |verdict, interrupted| Summary {
            verdict,
            causes: Vec::new(),
            thresholds: Vec::new(),
            interrupted,
            arrivals_end_ns: 0,
            load_end_ns: 0,
            end_ns: 0,
            drain_ns: None,
            notes: Vec::new(),
            fleet: None,
        };
        for (verdict, interrupted, code) in [
            (Verdict::Pass, false, 0),
            (Verdict::Fail, false, 99),
            (Verdict::Fail, true, 105),
            (Verdict::Pass, true, 105),
            (Verdict::Void, true, 3),
            (Verdict::Void, false, 3),
        ] {
            assert_eq!(exit_code(&summary(verdict, interrupted)), code);
        }
    }
}
