//! What could not be taken at a bound, of Sojourn's or of this machine's, as causes of a void run.

use sojourn_ledger::Balance;
use sojourn_metrics::{
    Store, names,
    own_limits::{FailedHere, least_left},
};
use sojourn_record::Cause;

use crate::health;

/// What the ledger could not take, so that its lines add up and are wrong all the same.
pub(crate) fn of_ledger(balance: &Balance) -> Vec<Cause> {
    let refusals = &balance.refusals;
    let events = &balance.events;
    let unmatched = events.orphan + events.unattributed;
    let evicted = if unmatched > 0 { balance.tombstones_evicted } else { 0 };
    let told = [
        (
            refusals.journeys,
            "journeys were begun when the ledger had no room for more in flight, and count as root \
             failures: lower the rate, or the deadline (`within`)"
                .to_owned(),
        ),
        (
            refusals.early_events,
            "events came before their journey's key when no more could wait for one, and are \
             classed as if they had no journey: let the client make the key, or lower the rate"
                .to_owned(),
        ),
        (
            refusals.keys_or_steps,
            "keys beyond 16 or steps beyond 64 of one journey were left out: make it several \
             journeys, or try a root less often"
                .to_owned(),
        ),
        (
            refusals.members,
            "members of fan-out stages came when no more could be remembered (10,000 of a stage \
             whose number is not known, 8,000,000 in all), so stages may look unreached: lower \
             the rate, or expect fewer"
                .to_owned(),
        ),
        (
            refusals.forgotten,
            "keys or polled stages became known after their journey had ended and was forgotten, \
             so its events look like nobody's: lower the rate, or shorten the steps' `timeout`"
                .to_owned(),
        ),
        (
            evicted,
            format!(
                "ended journeys were forgotten before their time for want of room, and {unmatched} \
                 events fit no journey: they may be duplicates. Lower the rate, or make the run \
                 shorter"
            ),
        ),
        (
            refusals.unknown_journeys,
            "facts named journeys that were never begun: a defect of Sojourn, please report it"
                .to_owned(),
        ),
        (
            refusals.contradictions,
            "facts contradict the plan: a defect of Sojourn, please report it".to_owned(),
        ),
    ];
    let refused = told.into_iter().filter(|(count, _)| *count > 0);
    refused
        .map(|(count, why)| Cause {
            name: "refused by the ledger".to_owned(),
            detail: format!("{count} {why}"),
        })
        .collect()
}

/// What bounded queues and tables of the threads refused.
pub(crate) fn of_queues(store: &Store) -> Vec<Cause> {
    let queues = store.series().filter(|(key, _)| key.metric == names::HEALTH_REFUSED);
    queues
        .filter_map(|(key, _)| {
            let count = store.counter(key);
            let queue = key.tag(names::QUEUE).unwrap_or("?");
            let advice = match () {
                () if queue.ends_with(health::SERIES) => {
                    "figures of single journeys, steps, stages or reasons are incomplete; plan \
                     fewer of them in one run"
                }
                () if queue.ends_with(health::WRITES) => "a defect of Sojourn, please report it",
                () => "lower the rate, or give this machine less to do besides",
            };
            (count > 0).then(|| Cause {
                name: "refused at a bound".to_owned(),
                detail: format!("{count} entries did not fit `{queue}`: {advice}"),
            })
        })
        .collect()
}

/// Requests that failed for want of something on this machine: the target never had them, so they
/// are not its errors.
pub(crate) fn of_machine(store: &Store) -> Option<Cause> {
    let here = FailedHere::of(store);
    if here.total() == 0 {
        return None;
    }
    let (failed, retried) = (here.requests, here.attempts);
    let ended: u64 = store
        .series()
        .filter(|(key, _)| key.metric == names::STEP_REQUESTS)
        .map(|(key, _)| store.counter(key))
        .sum();
    let again = match retried {
        0 => String::new(),
        _ => format!(" and {retried} attempts before another"),
    };
    let left = [
        words_of_least(store, names::HEALTH_DESCRIPTORS_LEFT, "descriptors"),
        // What the coordinator has open says nothing of ports where others make the load.
        (!has_processes(store))
            .then(|| words_of_least(store, names::HEALTH_PORTS_LEFT, "ports"))
            .flatten(),
    ];
    let left: Vec<String> = left.into_iter().flatten().collect();
    let left = if left.is_empty() { String::new() } else { format!(" ({})", left.join(", ")) };
    Some(Cause {
        name: "generator saturated".to_owned(),
        detail: format!(
            "{failed} of {ended} requests{again} failed at a limit of this machine{left}: out of \
             descriptors, local ports, kernel memory or places to wait for a connection. Raise \
             `ulimit -n`, widen `sysctl net.ipv4.ip_local_port_range`, keep connections alive, or \
             lower the rate"
        ),
    })
}

/// The least that any process had left of something, in words.
fn words_of_least(store: &Store, metric: &str, what: &str) -> Option<String> {
    least_left(store, metric).map(|least| format!("{what} left at least {least:.0}"))
}

/// Whether processes of generators made the load.
fn has_processes(store: &Store) -> bool {
    store.series().any(|(key, _)| key.tag(names::PROCESS).is_some())
}

#[cfg(test)]
mod tests {
    use sojourn_http::FailureKind;
    use sojourn_ledger::{EventLines, Refusals};
    use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase};

    use super::*;

    fn words(causes: &[Cause]) -> Vec<String> {
        causes.iter().map(|cause| format!("{}: {}", cause.name, cause.detail)).collect()
    }

    #[test]
    fn each_refusal_of_the_ledger_is_a_cause_with_its_number() {
        type Breaks = fn(&mut Refusals);
        let refusals: [(Breaks, &str); 7] = [
            (|refusals| refusals.journeys = 7, "7 journeys were begun when"),
            (|refusals| refusals.early_events = 7, "7 events came before their journey's key"),
            (|refusals| refusals.keys_or_steps = 7, "7 keys beyond 16 or steps beyond 64"),
            (|refusals| refusals.members = 7, "7 members of fan-out stages came"),
            (|refusals| refusals.forgotten = 7, "7 keys or polled stages became known after"),
            (|refusals| refusals.unknown_journeys = 7, "7 facts named journeys"),
            (|refusals| refusals.contradictions = 7, "7 facts contradict the plan"),
        ];
        for (breaks, expected) in refusals {
            let mut balance = Balance::default();
            breaks(&mut balance.refusals);
            let causes = words(&of_ledger(&balance));
            assert_eq!(causes.len(), 1, "{expected}");
            assert!(
                causes[0].starts_with("refused by the ledger: ") && causes[0].contains(expected)
            );
        }
    }

    #[test]
    fn what_changes_no_figure_is_no_cause() {
        let harmless =
            Balance { facts_after_forgetting: 9, tombstones_evicted: 9, ..Balance::default() };
        assert_eq!(of_ledger(&harmless), []);
        let events = EventLines { orphan: 1, unattributed: 2, ..EventLines::default() };
        let causes = words(&of_ledger(&Balance { events, ..harmless }));
        assert!(causes[0].contains("9 ended journeys") && causes[0].contains("3 events fit no"));
    }

    #[test]
    fn local_limits_are_this_machines_fault_with_numbers_and_advice() {
        assert_eq!(FailureKind::Local.name(), names::LOCAL_LIMIT);
        let mut recorder = Recorder::new(0);
        let mut count = |metric: &str, tag: (&str, &str), count: u64| {
            let tags = [("journey", "j"), ("step", "s"), tag];
            let key = SeriesKey::new(metric, &tags, SeriesPhase::Steady);
            let series = recorder.series(Kind::Counter, key);
            recorder.add(series, count);
        };
        count(names::STEP_REQUESTS, ("status", "200"), 90);
        count(names::STEP_REQUESTS, ("status", "connect"), 3);
        let mut store = Store::new();
        count(names::STEP_REQUESTS, ("status", "local limit"), 0);
        store.apply(&recorder.take(1, None)).unwrap();
        assert_eq!(of_machine(&store), None);
        let mut count = |metric: &str, tag: (&str, &str), count: u64| {
            let tags = [("journey", "j"), ("step", "s"), tag];
            let key = SeriesKey::new(metric, &tags, SeriesPhase::Steady);
            let series = recorder.series(Kind::Counter, key);
            recorder.add(series, count);
        };
        count(names::STEP_REQUESTS, ("status", "local limit"), 7);
        count(names::STEP_RETRIES, ("reason", "local limit"), 2);
        let key = SeriesKey::new(names::HEALTH_DESCRIPTORS_LEFT, &[], SeriesPhase::Any);
        let gauge = recorder.series(Kind::Gauge, key);
        recorder.set(gauge, 4.0);
        store.apply(&recorder.take(2, None)).unwrap();
        let text = of_machine(&store).unwrap().detail;
        assert!(text.starts_with("7 of 100 requests and 2 attempts before another"), "{text}");
        assert!(
            text.contains("descriptors left at least 4") && text.contains("ulimit -n"),
            "{text}"
        );
    }

    #[test]
    fn of_several_processes_the_least_that_one_had_left_is_told_and_no_ports() {
        let mut recorder = Recorder::new(0);
        let tags = [("journey", "j"), ("step", "s"), ("status", "local limit")];
        let key = SeriesKey::new(names::STEP_REQUESTS, &tags, SeriesPhase::Steady);
        let series = recorder.series(Kind::Counter, key);
        recorder.add(series, 2);
        let mut level = |metric: &str, process: Option<&str>, left: f64| {
            let tags: Vec<_> = process.map(|it| (names::PROCESS, it)).into_iter().collect();
            let key = SeriesKey::new(metric, &tags, SeriesPhase::Any);
            let series = recorder.series(Kind::Gauge, key);
            recorder.set(series, left);
        };
        level(names::HEALTH_DESCRIPTORS_LEFT, None, 900.0);
        level(names::HEALTH_PORTS_LEFT, None, 28_000.0);
        level(names::HEALTH_DESCRIPTORS_LEFT, Some("process 0"), 700.0);
        level(names::HEALTH_DESCRIPTORS_LEFT, Some("process 1"), 3.0);
        let mut store = Store::new();
        store.apply(&recorder.take(1, None)).unwrap();
        let text = of_machine(&store).unwrap().detail;
        assert!(text.contains("(descriptors left at least 3):"), "{text}");
    }

    #[test]
    fn queues_that_refused_are_named_with_their_numbers() {
        let mut recorder = Recorder::new(0);
        for (queue, count) in [("generator 0: series of figures", 5), ("poller: x", 2), ("y", 0)] {
            let tags = [(names::QUEUE, queue)];
            let key = SeriesKey::new(names::HEALTH_REFUSED, &tags, SeriesPhase::Any);
            let series = recorder.series(Kind::Counter, key);
            recorder.add(series, count);
        }
        let mut store = Store::new();
        store.apply(&recorder.take(1, None)).unwrap();
        let causes = words(&of_queues(&store));
        assert_eq!(causes.len(), 2);
        assert!(causes[0].contains("5 entries did not fit `generator 0: series of figures`"));
        assert!(causes[0].contains("plan fewer") && causes[1].contains("2 entries"));
    }
}
