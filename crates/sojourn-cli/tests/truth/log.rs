//! The demo's log as the taps could see it: up to the end of the run.

use std::collections::BTreeMap;

use sojourn_demo::{JourneyTruth, Publication, Stage, Truth};
use sojourn_metrics::{SeriesPhase, names, nearest_rank};
use sojourn_record::RunFile;

use super::counts::{Counts, count, key};

/// Nothing may be published so shortly before the taps close: it would be a matter of luck who sees
/// it.
const QUIET_NS: u64 = 300_000_000;

/// A log cut where the run ended. The demo lives a little longer, and what it held back until its own
/// end no tap was there to see.
pub(crate) struct Log {
    pub(crate) journeys: BTreeMap<String, JourneyTruth>,
    pub(crate) rejected: u64,
    /// From handing a message to the broker's client to the broker's acknowledgement, at p99.
    pub(crate) delivery_p99_ns: u64,
    /// Messages after the end of the run.
    hidden: usize,
    visible: usize,
}

impl Log {
    pub(crate) fn until_the_end_of(run: &RunFile, truth: &Truth) -> Self {
        let summary = run.summary.as_ref().expect("a whole run file");
        let end_ns = run.identity.start_monotonic_ns + summary.end_ns;
        let quiet_ns = end_ns - QUIET_NS;
        let restless: Vec<&Publication> = truth
            .publications()
            .filter(|it| it.delivered_ns > quiet_ns && it.publish_ns < end_ns)
            .collect();
        assert!(restless.is_empty(), "published while the taps were closing: {restless:?}");
        let mut journeys = truth.journeys.clone();
        for stage in journeys.values_mut().flat_map(|it| &mut it.stages) {
            stage.publications.retain(|it| it.publish_ns < end_ns);
        }
        let visible: Vec<&Publication> = publications(&journeys).collect();
        let deliveries =
            visible.iter().map(|it| (it.delivered_ns - it.publish_ns) as i64).collect();
        assert!(
            truth.rejected.keys().all(|status| *status == 400),
            "refused without a reason: {:?}",
            truth.rejected
        );
        Self {
            rejected: truth.rejected.values().sum(),
            delivery_p99_ns: quantile(deliveries, 0.99).unwrap_or(0) as u64,
            hidden: truth.publications().count() - visible.len(),
            visible: visible.len(),
            journeys,
        }
    }

    /// What the log's reader sums up, against the ledger's counters. Only where all of the log was
    /// seen and nothing came after its journey's end: the log knows nothing of deadlines.
    pub(crate) fn compare_with_its_own_totals(&self, truth: &Truth, counts: &Counts) {
        let of = |metric: &str, tags: &[(&str, &str)]| -> u64 {
            let is_meant = |of: &sojourn_metrics::SeriesKey| {
                of.metric == metric && tags.iter().all(|(tag, value)| of.tag(tag) == Some(value))
            };
            let all = counts.iter().filter(|(of, _)| is_meant(of));
            all.map(|(_, n)| n).sum()
        };
        if self.hidden > 0 || of("events.after_failure", &[]) > 0 {
            return;
        }
        let events = [("channel", "events")];
        // Poisoned ones are counted apart; to the log they are payments like all others.
        let payments = |metric: &str| {
            let names = ["payment".to_owned(), names::poisoned("payment")];
            names.iter().map(|name| of(metric, &[("journey", name)])).sum::<u64>()
        };
        let totals = truth.totals();
        let lines = [
            ("accepted", totals.accepted, payments("journeys.started")),
            (
                "completed",
                totals.completed,
                payments("journeys.completed") + payments("journeys.late"),
            ),
            ("dead-lettered", totals.dead_lettered, payments("journeys.failed")),
            ("dropped or stopped", totals.dropped + totals.stopped, payments("journeys.lost")),
            ("unfinished", totals.unfinished, 0),
            ("published", totals.published, of("events.seen", &events)),
            ("stages reached", totals.stages_reached, of("events.matched", &events)),
            (
                "redeliveries",
                totals.redeliveries,
                of("events.duplicate", &[("kind", "redelivery")]),
            ),
            (
                "republications",
                totals.republications,
                of("events.duplicate", &[("kind", "republication")]),
            ),
            ("out of order", totals.out_of_order, of("stage.hop_negative", &[])),
            (
                "dead letters",
                totals.dead_letters,
                of("events.seen", &[("channel", "dead-letters")]),
            ),
        ];
        for (name, log, ledger) in lines {
            assert_eq!(log, ledger, "{name}: the log's totals and the ledger differ");
        }
    }

    /// Counts what was seen on the channels, whatever became of it.
    pub(crate) fn count_seen(&self, counts: &mut Counts) {
        let dead_letters = self.journeys.values().flat_map(|it| &it.dead_letters);
        let lines = [("events", self.visible), ("dead-letters", dead_letters.count())];
        for (channel, n) in lines {
            let seen = key("events.seen", &[("channel", channel)], SeriesPhase::Any);
            count(counts, seen, n as u64);
        }
    }

    pub(crate) fn told(&self) -> String {
        format!(
            "{} events ({} after the run), acknowledged in {:.2} ms at p99",
            self.visible,
            self.hidden,
            self.delivery_p99_ns as f64 / 1e6
        )
    }
}

/// Whether a stage's first event stands on the topic before its predecessor's.
pub(crate) fn is_out_of_order(journey: &JourneyTruth, stage: Stage) -> bool {
    let first = |stage: Stage| journey.first(stage).map(|it| (it.partition, it.offset));
    match (stage.previous().and_then(first), first(stage)) {
        (Some(before), Some(own)) => {
            assert_eq!(before.0, own.0, "events of one key share a partition");
            own.1 < before.1
        }
        _ => false,
    }
}

/// Nearest rank, as definitions have it.
pub(crate) fn quantile(mut samples: Vec<i64>, q: f64) -> Option<i64> {
    samples.sort_unstable();
    let rank = nearest_rank(q, samples.len() as u64) as usize;
    samples.get(rank.checked_sub(1)?).copied()
}

fn publications(journeys: &BTreeMap<String, JourneyTruth>) -> impl Iterator<Item = &Publication> {
    let stages = journeys.values().flat_map(|it| &it.stages);
    stages.flat_map(|it| &it.publications)
}
