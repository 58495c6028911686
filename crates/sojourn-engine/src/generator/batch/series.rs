//! What is counted of batches beside their requests.

use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::Plan;

/// Reasons told apart; further ones count as `other`.
const REASONS_MAX: usize = 50;

/// The batches of one step of a journey and their events, in one phase.
#[derive(Debug)]
pub(crate) struct BatchSeries {
    journey: String,
    step: String,
    phase: SeriesPhase,
    /// Batches accepted as a whole, in part, not at all.
    whole: SeriesId,
    part: SeriesId,
    none: SeriesId,
    accepted: SeriesId,
    /// Response times, a sample for each event that was accepted.
    accept: SeriesId,
    /// Events not accepted, by reason; interned when first seen.
    refused: Vec<(String, SeriesId)>,
}

/// Of each journey and step, in both phases; a journey whose root is no batch has none.
pub(crate) fn batch_series(
    plan: &Plan,
    phases: [SeriesPhase; 2],
    recorder: &mut Recorder,
) -> Vec<Vec<[BatchSeries; 2]>> {
    let mut of = |journey: &sojourn_plan::Journey| {
        let batches = journey.steps.iter().filter(|step| step.batch.is_some());
        let names = batches.map(|step| (&*journey.name, &*step.name));
        names.map(|of| phases.map(|phase| BatchSeries::new(of, phase, recorder))).collect()
    };
    plan.journeys.iter().map(&mut of).collect()
}

impl BatchSeries {
    fn new((journey, step): (&str, &str), phase: SeriesPhase, recorder: &mut Recorder) -> Self {
        let tags = [(names::JOURNEY, journey), (names::STEP, step)];
        let mut series =
            |kind: Kind, metric: &str| recorder.series(kind, SeriesKey::new(metric, &tags, phase));
        Self {
            whole: series(Kind::Counter, names::BATCHES_WHOLE),
            part: series(Kind::Counter, names::BATCHES_PART),
            none: series(Kind::Counter, names::BATCHES_REFUSED),
            accepted: series(Kind::Counter, names::BATCH_EVENTS_ACCEPTED),
            accept: series(Kind::Trend, names::BATCH_EVENT_ACCEPT),
            refused: Vec::new(),
            journey: journey.to_owned(),
            step: step.to_owned(),
            phase,
        }
    }

    /// Counts a batch of so many events, of which so many were accepted.
    pub(crate) fn count(
        &mut self,
        recorder: &mut Recorder,
        (size, accepted): (u32, u32),
        reason: &str,
        response_ns: u64,
    ) {
        let outcome = match accepted {
            0 => self.none,
            accepted if accepted == size => self.whole,
            _ => self.part,
        };
        recorder.add(outcome, 1);
        recorder.add(self.accepted, u64::from(accepted));
        for _ in 0..accepted {
            recorder.record(self.accept, response_ns);
        }
        if accepted < size {
            let refused = self.refused(recorder, reason);
            recorder.add(refused, u64::from(size - accepted));
        }
    }

    fn refused(&mut self, recorder: &mut Recorder, reason: &str) -> SeriesId {
        if let Some((_, id)) = self.refused.iter().find(|(known, _)| known == reason) {
            return *id;
        }
        let is_full = self.refused.len() >= REASONS_MAX;
        let tag = if is_full { "other" } else { reason };
        let tags =
            [(names::JOURNEY, &*self.journey), (names::STEP, &*self.step), (names::REASON, tag)];
        let key = SeriesKey::new(names::BATCH_EVENTS_REFUSED, &tags, self.phase);
        let id = recorder.series(Kind::Counter, key);
        if !is_full {
            self.refused.push((reason.to_owned(), id));
        }
        id
    }
}
