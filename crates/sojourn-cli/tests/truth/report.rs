//! The report says what the counters say.

use sojourn_metrics::SeriesPhase;
use sojourn_record::RunFile;
use sojourn_report::ReportModel;
use sojourn_report::model::{PoisonReport, StageRow};

use super::counts::{Counts, key};
use super::journeys::Examination;

/// Every count of the report's ledger and stages, against what the log explains.
pub(super) fn compare(run: &RunFile, examination: &Examination) {
    let model = ReportModel::from_run(run);
    let counts = &examination.counts;
    assert!(model.ledger.balanced);
    for line in model.ledger.journeys.iter().chain(&model.ledger.poisoned) {
        let of = |metric: &str, phase| {
            let metric = format!("journeys.{metric}");
            of(counts, &metric, &[("journey", &line.name)], phase)
        };
        let (steady, whole) = (&line.steady, &line.whole_run);
        for (metric, steady, whole) in [
            ("scheduled", steady.scheduled, whole.scheduled),
            ("started", steady.started, whole.started),
            ("completed", steady.completed, whole.completed),
            ("late", steady.late, whole.late),
            ("lost", steady.lost, whole.lost),
            ("failed", steady.failed, whole.failed),
            ("missed", steady.missed, whole.missed),
            ("root_failed", steady.root_failed, whole.root_failed),
            ("in_flight_at_cutoff", steady.in_flight_at_cutoff, whole.in_flight_at_cutoff),
            (
                "hops_without_predecessor",
                steady.hops_without_predecessor,
                whole.hops_without_predecessor,
            ),
        ] {
            let [warm_up, in_steady] =
                [SeriesPhase::WarmUp, SeriesPhase::Steady].map(|phase| of(metric, phase));
            assert_eq!((steady, whole), (in_steady, warm_up + in_steady), "{metric}");
        }
    }
    for line in &model.ledger.events {
        let channel = ("channel", line.channel.as_str());
        let of = |metric: &str, tags: &[_]| of(counts, metric, tags, SeriesPhase::Any);
        let again = |kind| of("events.duplicate", &[channel, ("kind", kind)]);
        let events = &line.whole_run;
        assert_eq!(events.seen, of("events.seen", &[channel]));
        assert_eq!(events.matched, of("events.matched", &[channel]));
        assert_eq!(events.redelivery, again("redelivery"));
        assert_eq!(events.republication, again("republication"));
        assert_eq!(events.after_failure, of("events.after_failure", &[channel]));
        let others = events.duplicate_unknown
            + events.orphan
            + events.foreign
            + events.unattributed
            + events.undecodable
            + events.reread;
        assert_eq!(others, 0, "{events:?}");
    }
    let payment = &model.journeys[0];
    compare_stages(run, counts, (&payment.name, &payment.stages));
    for poison in &model.poison {
        compare_poison(counts, poison);
        compare_stages(run, counts, (&poison.name, &poison.stages));
    }
    let durations = run.store.journey_durations(Some("payment"), SeriesPhase::Steady);
    for quantile in &payment.quantiles {
        let expected = durations.quantile(quantile.q).expect("there were journeys");
        assert_eq!(quantile.beyond, expected.is_infinite(), "{quantile:?}");
        assert!(quantile.beyond || quantile.ns as f64 == expected, "{quantile:?}");
    }
}

/// What became of the poisoned payments, and that no root is unaccounted for.
fn compare_poison(counts: &Counts, poison: &PoisonReport) {
    let tags = [("journey", poison.name.as_str())];
    let of = |metric: &str| of(counts, metric, &tags, SeriesPhase::Steady);
    let contained = of("poison.contained");
    for (what, reported, expected) in [
        ("sent", poison.sent, of("journeys.started")),
        ("contained", poison.contained, contained),
        ("contained late", poison.contained_late, of("poison.contained_late")),
        ("completed", poison.completed, of("journeys.completed") + of("journeys.late")),
        ("refused", poison.refused, of("journeys.root_failed")),
        ("failed otherwise", poison.failed, of("journeys.failed") - contained),
        ("lost", poison.lost, of("journeys.lost")),
        ("in flight", poison.in_flight_at_cutoff, of("journeys.in_flight_at_cutoff")),
        ("events after", poison.events_after, of("poison.events_after")),
        ("times", poison.containment_ns.map_or(0, |times| times.count), contained),
    ] {
        assert_eq!(reported, expected, "{what}");
    }
    let ends = poison.contained
        + poison.completed
        + poison.refused
        + poison.failed
        + poison.lost
        + poison.in_flight_at_cutoff;
    assert_eq!(poison.sent, ends);
}

fn compare_stages(run: &RunFile, counts: &Counts, (name, stages): (&str, &[StageRow])) {
    for stage in stages {
        let tags = [("journey", name), ("stage", stage.name.as_str())];
        let of = |metric: &str, tags: &[_]| of(counts, metric, tags, SeriesPhase::Steady);
        let again = |kind| of("stage.duplicates", &[tags[0], tags[1], ("kind", kind)]);
        let negative = of("stage.hop_negative", &tags);
        assert_eq!(stage.reached, of("stage.reached", &tags));
        assert_eq!(stage.order_violations, negative);
        assert_eq!(stage.duplicates.redelivery, again("redelivery"));
        assert_eq!(stage.duplicates.republication, again("republication"));
        assert_eq!(stage.duplicates.unknown, 0);
        let hops = stage.hop_ns.map_or(0, |hop| hop.count);
        assert_eq!(hops, negative + of("stage.hop", &tags));
        let ledger = run.store.hops(Some(name), &stage.name, SeriesPhase::Steady);
        if let Some(hop) = stage.hop_ns {
            assert_eq!(ledger.quantile(0.5), Some(hop.p50 as f64));
            assert_eq!(ledger.quantile(0.99), Some(hop.p99 as f64));
        }
    }
}

fn of(counts: &Counts, metric: &str, tags: &[(&str, &str)], phase: SeriesPhase) -> u64 {
    counts.get(&key(metric, tags, phase)).copied().unwrap_or(0)
}
