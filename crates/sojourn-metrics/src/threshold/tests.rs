//! Thresholds: what is read, what is refused and where, what is held.

use proptest::prelude::*;

use super::*;
use crate::{Figure, Histogram, SeriesKey, SeriesPhase, Store, names};

fn check_read(text: &str, subject: &[&str], statistic: Statistic, bound: f64) {
    let read = Threshold::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(read.subject, subject, "{text}");
    assert_eq!(read.statistic, statistic, "{text}");
    assert!((read.bound - bound).abs() <= bound.abs() * 1e-12, "{text}: {}", read.bound);
    assert_eq!(read.text, text);
}

#[test]
fn thresholds_are_read() {
    use Statistic::{Count, Max, Mean, Quantile, Rate, Value};
    check_read("journey.payment.p99 < 25s", &["journey", "payment"], Quantile(0.99), 25e9);
    check_read("stage.settled.hop.p95<6s", &["stage", "settled", "hop"], Quantile(0.95), 6e9);
    check_read("lag.p99.9 < 200us", &["lag"], Quantile(0.999), 200e3);
    check_read("lag.max <= 1.5ms", &["lag"], Max, 1.5e6);
    check_read("lost == 0", &["lost"], Value, 0.0);
    check_read("lost < 0.1%", &["lost", "share"], Value, 0.001);
    check_read("journey.a.late < 1%", &["journey", "a", "late", "share"], Value, 0.01);
    check_read("errors.rate < 1%", &["errors", "rate"], Value, 0.01);
    check_read("errors.rate < 0.01", &["errors", "rate"], Value, 0.01);
    check_read("step.create.errors.rate < 1%", &["step", "create", "errors", "rate"], Value, 0.01);
    check_read("drain < 1min", &["drain"], Value, 60e9);
    check_read("backlog.slope <= 30/min", &["backlog", "slope"], Value, 0.5);
    check_read("step.create.response.mean < 5ms", &["step", "create", "response"], Mean, 5e6);
    check_read(
        "step.create.received_bytes.mean < 1_000",
        &["step", "create", "received_bytes"],
        Mean,
        1e3,
    );
    check_read("journey.payment.rate > 90/s", &["journey", "payment"], Rate, 90.0);
    check_read("journey.payment.count >= 100", &["journey", "payment"], Count, 100.0);
    check_read(
        "stage.a/order.created.hop.p50 >= -3ms",
        &["stage", "a/order", "created", "hop"],
        Quantile(0.5),
        -3e6,
    );
    check_read("branch.refunded.ratio < 5%", &["branch", "refunded", "ratio"], Value, 0.05);
    check_read("branch.refunded.p95 < 2s", &["branch", "refunded"], Quantile(0.95), 2e9);
    check_read("stage.a.deliveries < 1.5", &["stage", "a", "deliveries"], Value, 1.5);
    check_read("lag.min != 0", &["lag"], Statistic::Min, 0.0);
}

/// `text` is refused; the words `at` are marked, and the hint contains `hint`.
fn check_refused(text: &str, at: &str, hint: &str) {
    let error = Threshold::parse(text).expect_err(text);
    assert_eq!(&text[error.range.clone()], at, "{text}: {error}");
    let given = error.hint.clone().unwrap_or_default();
    assert!(given.contains(hint), "{text}: {error}");
}

#[test]
fn what_is_wrong_is_marked_and_a_remedy_given() {
    check_refused("", "", "NAME COMPARISON BOUND");
    check_refused("lag.p99", "lag.p99", "NAME COMPARISON BOUND");
    check_refused("lag.p99 <", "<", "NAME COMPARISON BOUND");
    check_refused("< 5ms", "<", "NAME COMPARISON BOUND");
    check_refused("lost = 0", "=", "`==`");
    check_refused("lost =< 0", "=<", "`<=`");
    check_refused("lag.p99 < 5", "5", "`5ms` or `5s`");
    check_refused("lag.p99 < 5 parsecs", "5 parsecs", "ms, s");
    check_refused("lag.p99 < soon", "soon", "`250ms`");
    check_refused("lag.p99 < 5%", "5%", "ms, s");
    check_refused("lost < 3s", "3s", "`3`");
    check_refused("duplicates < 1%", "1%", "`1`");
    check_refused("errors.rate < 1s", "1s", "`1%`");
    check_refused("lag.p101 < 5ms", "p101", "p99.9");
    check_refused("lag.meen < 5ms", "meen", "`mean`");
    check_refused("journey.payment.stdev < 5ms", "stdev", "`stddev`");
    check_refused("journey.payment < 5s", "journey.payment", "`journey.payment.p99`");
    check_refused("stage.settled.hop < 5s", "stage.settled.hop", "`stage.settled.hop.p99`");
    check_refused("stage.settled.hops.p95 < 5s", "hops", "`hop`");
    check_refused("step.create.respons.p95 < 5s", "respons", "`response`");
    check_refused("stage.p95 < 5s", "stage", "stage.NAME.hop");
    check_refused("journey.p95 < 5s", "journey", "journey.NAME.p99");
    check_refused("duplicate == 0", "duplicate", "`duplicates`");
    check_refused("  orphan == 0", "orphan", "`orphans`");
    check_refused("jurney.a.p99 < 5s", "jurney", "`journey`");
    check_refused("lost.p99 == 0", "lost.p99", "`lost`");
    check_refused("lag..p99 < 1s", "lag..p99", "");
    check_refused("wibble.p99 < 1s", "wibble", "journey, stage, step or lag");
}

proptest! {
    #[test]
    fn no_text_panics_and_ranges_lie_within(text in "[a-zµ0-9._%<>=! /-]{0,40}|\\PC{0,20}") {
        if let Err(error) = Threshold::parse(&text) {
            prop_assert!(text.get(error.range).is_some());
        }
    }
}

fn put(store: &mut Store, metric: &str, tags: &[(&str, &str)], figure: Figure) {
    store.append_figure(&SeriesKey::new(metric, tags, SeriesPhase::Steady), &figure);
}

fn samples(values: &[u64]) -> Figure {
    let mut histogram = Histogram::new();
    values.iter().for_each(|&value| histogram.record(value));
    Figure::Trend(Box::new(histogram))
}

/// Metric, tags, figure.
type Named<'a> = (&'a str, &'a [(&'a str, &'a str)], Figure);

fn sample_store() -> Store {
    let mut store = Store::new();
    let payment = ("journey", "payment");
    let refund = ("journey", "refund");
    let count = Figure::Counter;
    let settled = [refund, ("stage", "settled")];
    let unknown = [settled[0], settled[1], ("kind", "unknown")];
    let hops = [payment, ("stage", "settled")];
    let [early, late] = ["paid", "returned"].map(|stage| [refund, ("stage", stage)]);
    let figures: [Named<'_>; 15] = [
        (names::JOURNEY_DURATION, &[payment], samples(&[1000; 98])),
        (names::JOURNEYS_LOST, &[payment], count(2)),
        (names::JOURNEYS_STARTED, &[payment], count(100)),
        (names::JOURNEYS_STARTED, &[refund], count(300)),
        (names::JOURNEYS_LATE, &[refund], count(3)),
        (names::STAGE_HOP, &hops, samples(&[10, 20])),
        (names::STAGE_HOP, &settled, samples(&[10, 20])),
        (names::STAGE_HOP_NEGATIVE, &settled, samples(&[7])),
        (names::STAGE_DUPLICATES, &unknown, count(5)),
        (names::STAGE_MATCHED, &settled, count(20)),
        (names::JOURNEYS_COMPLETED, &[refund], count(197)),
        (names::BRANCH_DURATION, &early, samples(&[500; 150])),
        (names::BRANCH_DURATION, &late, samples(&[900; 50])),
        (names::STAGE_SECOND_BRANCH, &late, count(2)),
        (names::STAGE_FIRST_MEMBER, &early, samples(&[30])),
    ];
    for (metric, tags, figure) in figures {
        put(&mut store, metric, tags, figure);
    }
    let create = [payment, ("step", "create")];
    for (status, n) in [("200", 90), ("500", 10)] {
        let tags = [create[0], create[1], ("status", status)];
        put(&mut store, names::STEP_REQUESTS, &tags, Figure::Counter(n));
    }
    let refused = [create[0], create[1], ("reason", "status")];
    put(&mut store, names::STEP_FAILED, &refused, Figure::Counter(10));
    put(&mut store, names::STEP_RESPONSE, &create, samples(&[100, 300]));
    let any = SeriesKey::new(names::EVENTS_ORPHAN, &[("channel", "events")], SeriesPhase::Any);
    store.append_figure(&any, &Figure::Counter(4));
    let warm_up = SeriesKey::new(names::JOURNEYS_LATE, &[refund], SeriesPhase::WarmUp);
    store.append_figure(&warm_up, &Figure::Counter(50));
    store
}

fn outcome(text: &str, store: &Store) -> (Option<f64>, bool) {
    let context = ThresholdContext {
        steady_ns: 10_000_000_000,
        drain_ns: Some(2_000_000_000),
        backlog_slope_per_s: Some(0.25),
    };
    let outcome = Threshold::parse(text).unwrap().evaluate(store, &context);
    (outcome.measured, outcome.held)
}

#[test]
fn figures_are_those_of_the_steady_phase() {
    let store = sample_store();
    let check = |text, measured, held| {
        assert_eq!(outcome(text, &store), (measured, held), "{text}");
    };
    check("journey.payment.p98 < 2us", Some(1000.0), true);
    check("journey.payment.p99 < 1h", Some(f64::INFINITY), false);
    check("journey.payment.rate > 9.7/s", Some(9.8), true);
    check("journey.payment.mean < 2us", Some(1000.0), true);
    check("journey.none.p50 < 1h", None, false);
    check("lost == 0", Some(2.0), false);
    check("lost <= 2", Some(2.0), true);
    check("lost <= 0.5%", Some(0.005), true);
    check("journey.refund.late < 1%", Some(0.01), false);
    check("late < 5", Some(3.0), true);
    check("failed == 0", Some(0.0), true);
    check("stage.settled.hop.min < 0", Some(-7.0), true);
    check("stage.settled.hop.count == 5", Some(5.0), true);
    check("stage.refund/settled.hop.count == 3", Some(3.0), true);
    check("stage.refund/settled.duplicates == 5", Some(5.0), true);
    check("stage.unseen.hop.p50 < 1s", None, false);
    check("stage.refund/settled.deliveries < 1.2", Some(1.25), false);
    check("stage.paid.first_member.max < 1us", Some(30.0), true);
    check("branch.returned.ratio <= 25%", Some(0.25), true);
    check("branch.refund/paid.ratio > 80%", Some(0.75), false);
    check("branch.returned.p95 < 1us", Some(900.0), true);
    check("branch.none.ratio < 1%", None, false);
    check("second_branches == 0", Some(2.0), false);
    check("journey.payment.second_branches == 0", Some(0.0), true);
    check("duplicates == 0", Some(5.0), false);
    check("journey.payment.duplicates == 0", Some(0.0), true);
    check("orphans < 4", Some(4.0), false);
    check("errors.rate <= 10%", Some(0.1), true);
    check("step.create.errors.rate < 10%", Some(0.1), false);
    check("errors.count == 10", Some(10.0), true);
    check("step.payment/create.response.max < 301ns", Some(300.0), true);
    check("drain < 3s", Some(2e9), true);
    check("backlog.slope < 0.1/s", Some(0.25), false);
    check("lag.p99 < 5ms", None, false);
}

#[test]
fn lost_stays_open_while_journeys_are_in_flight_at_the_cutoff() {
    let mut store = sample_store();
    let cut_off = names::JOURNEYS_IN_FLIGHT_AT_CUTOFF;
    put(&mut store, cut_off, &[("journey", "payment")], Figure::Counter(1));
    assert_eq!(outcome("lost <= 5", &store), (None, false));
    assert_eq!(outcome("lost == 0", &store), (Some(2.0), false));
    assert_eq!(outcome("journey.refund.lost == 0", &store), (Some(0.0), true));
}

/// Two journeys with poisoned ones: what these did is in no other figure, nor the other way round.
/// A counter's name, tags and figure.
type Count<'a> = (&'a str, &'a [(&'a str, &'a str)], u64);

#[test]
fn poisoned_journeys_have_figures_of_their_own() {
    let mut store = Store::new();
    for (name, n) in [("payment", 10), ("refund", 20)] {
        let own = (names::JOURNEY, name);
        let poisoned = names::poisoned(name);
        let apart = (names::JOURNEY, poisoned.as_str());
        let dead = (names::STAGE, "dead");
        let counts: [Count<'_>; 12] = [
            (names::JOURNEYS_STARTED, &[own], 1000),
            (names::JOURNEYS_FAILED, &[own], 0),
            (names::STAGE_MATCHED, &[own, dead], 5),
            (names::JOURNEYS_STARTED, &[apart], 10 * n),
            (names::JOURNEYS_COMPLETED, &[apart], 1),
            (names::JOURNEYS_LATE, &[apart], 1),
            (names::JOURNEYS_FAILED, &[apart], 5 * n),
            (names::JOURNEYS_LOST, &[apart], n),
            (names::POISON_CONTAINED, &[apart], 4 * n),
            (names::STAGE_MATCHED, &[apart, dead], 4 * n),
            (names::STAGE_DUPLICATES, &[apart, dead], 8 * n),
            (names::POISON_EVENTS_AFTER, &[apart], 3),
        ];
        for (metric, tags, count) in counts {
            put(&mut store, metric, tags, Figure::Counter(count));
        }
        put(&mut store, names::POISON_CONTAINMENT, &[apart], samples(&[n, n]));
        put(&mut store, names::STEP_RESPONSE, &[apart, (names::STEP, "root")], samples(&[9]));
    }
    for (text, expected) in [
        ("failed == 0", Some(0.0)),
        ("lost == 0", Some(0.0)),
        ("started == 2000", Some(2000.0)),
        ("duplicates == 0", Some(0.0)),
        ("response.count == 0", Some(0.0)),
        ("stage.payment/dead.deliveries == 1", Some(1.0)),
        ("poison.sent == 300", Some(300.0)),
        ("poison.payment.sent == 100", Some(100.0)),
        ("poison.contained == 40%", Some(0.4)),
        ("poison.refund.contained == 80", Some(80.0)),
        ("poison.completed == 4", Some(4.0)),
        ("poison.failed == 30", Some(30.0)),
        ("poison.payment.lost <= 10%", Some(0.1)),
        ("poison.refused == 0", Some(0.0)),
        ("poison.deliveries <= 3", Some(3.0)),
        ("poison.duplicates == 240", Some(240.0)),
        ("poison.payment.events_after == 3", Some(3.0)),
        ("poison.containment.max <= 20ns", Some(20.0)),
        ("poison.payment.containment.p99 <= 10ns", Some(10.0)),
        ("poison.nobody.contained >= 99%", None),
        ("poison.nobody.completed == 0", None),
        ("poison.nobody.sent == 0", Some(0.0)),
    ] {
        let threshold = Threshold::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let outcome = threshold.evaluate(&store, &ThresholdContext::default());
        assert_eq!(outcome.measured, expected, "{text}");
        assert_eq!(outcome.held, expected.is_some(), "{text}");
    }
    // What is in flight at the cutoff may yet be lost.
    let apart = names::poisoned("refund");
    let cut_off = names::JOURNEYS_IN_FLIGHT_AT_CUTOFF;
    put(&mut store, cut_off, &[(names::JOURNEY, &apart)], Figure::Counter(1));
    let held = |text: &str| {
        let threshold = Threshold::parse(text).unwrap();
        threshold.evaluate(&store, &ThresholdContext::default()).held
    };
    assert!(held("poison.payment.lost == 10") && !held("poison.lost == 30") && held("lost == 0"));
}
