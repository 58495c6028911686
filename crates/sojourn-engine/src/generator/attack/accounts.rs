//! A generator's accounts of an attack: what a ledger would keep, it keeps itself.

use sojourn_http::Completion;
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::Plan;

use super::{AttackGenerator, Hit, KIND, PHASE};
use crate::attack::{Attack, Targets};

/// Series that a ledger would keep.
pub(super) struct Ends {
    pub(super) completed: SeriesId,
    pub(super) failed: SeriesId,
    pub(super) cut_off: SeriesId,
    pub(super) duration: SeriesId,
    pub(super) in_flight: SeriesId,
}

impl AttackGenerator {
    /// `requests` begin together, as one hit.
    pub(super) fn account_begun(&mut self, hit: &Hit, requests: u64) {
        let series = self.series.journey(KIND, PHASE);
        self.recorder.add(series.scheduled, requests);
        self.recorder.add(series.started, requests);
        self.recorder.record(self.series.lag(PHASE), hit.began_ns.saturating_sub(hit.t0_ns));
        if let Some(answers) = &self.answers {
            answers.begun(hit, requests, &mut self.recorder);
        }
        self.last_t0_ns = self.last_t0_ns.max(hit.t0_ns);
    }

    /// A request has ended.
    pub(super) fn account_ended(&mut self, hit: &Hit, completion: &Completion) {
        let step = usize::from(hit.target.step);
        let response_ns = completion.ended_ns.saturating_sub(hit.t0_ns);
        let series = self.series.step(KIND, step, PHASE);
        series.completed(&mut self.recorder, completion, hit.t0_ns, hit.began_ns);
        let (out_before, in_before) = hit.bytes_before();
        self.recorder.record(series.received_bytes, in_before + completion.bytes_in);
        self.recorder.record(series.sent_bytes, out_before + completion.bytes_out);
        self.recorder.record(self.ends.duration, response_ns);
        if let Some(answers) = &mut self.answers {
            answers.ended(hit, completion, &mut self.recorder);
        }
        if let (Ok(response), Some([bodies, bytes_in, bytes_out])) =
            (&completion.outcome, self.bodies.get(step))
        {
            self.recorder.add(*bodies, 1);
            self.recorder.add(*bytes_in, response.body_bytes);
            self.recorder.add(*bytes_out, hit.target.target.body.len() as u64);
        }
        let (of_status, reason) = match &completion.outcome {
            Ok(response) => {
                let status = response.status;
                let reason = (!hit.is_success(response)).then(|| hit.reason(response));
                (self.series.status(&mut self.recorder, KIND, step, PHASE, status), reason)
            }
            Err(failure) => {
                let kind = failure.kind;
                let series =
                    self.series.transport_failure(&mut self.recorder, KIND, step, PHASE, kind);
                (series, Some(kind.name().to_owned()))
            }
        };
        self.recorder.add(of_status, 1);
        let series = self.series.step(KIND, step, PHASE);
        match reason {
            None => {
                self.recorder.record(series.response_ok, response_ns);
                self.recorder.add(self.ends.completed, 1);
            }
            Some(reason) => {
                self.recorder.record(series.response_failed, response_ns);
                let of_reason = self.series.reason(&mut self.recorder, KIND, step, PHASE, &reason);
                self.recorder.add(of_reason, 1);
                self.recorder.add(self.ends.failed, 1);
            }
        }
    }

    /// Counts arrivals that are due by `end_ns` and found no worker as missed.
    pub(super) fn miss_due(&mut self, end_ns: u64) {
        if self.hits.len() < self.workers_max {
            return;
        }
        let series = self.series.journey(KIND, PHASE);
        if let Some(open) = &mut self.open {
            while open.peek().is_some_and(|(_, t0_ns)| t0_ns <= end_ns) {
                open.advance();
                self.recorder.add(series.scheduled, 1);
                self.recorder.add(series.missed, 1);
            }
        }
    }
}

/// Counters of bodies, and of the bytes of answers' and of requests', by step. None where
/// requests are made elsewhere: nobody knows then what of a message is its body.
pub(super) fn bodies(plan: &Plan, attack: &Attack, recorder: &mut Recorder) -> Vec<[SeriesId; 3]> {
    if matches!(attack.targets, Targets::Scripted(_)) {
        return Vec::new();
    }
    let journey = &plan.journeys[usize::from(KIND)];
    let of_step = |step: &sojourn_plan::Step| {
        let tags = [(names::JOURNEY, &*journey.name), (names::STEP, &*step.name)];
        [names::STEP_BODIES, names::STEP_BODY_BYTES_IN, names::STEP_BODY_BYTES_OUT].map(|metric| {
            recorder.series(Kind::Counter, SeriesKey::new(metric, &tags, SeriesPhase::Steady))
        })
    };
    journey.steps.iter().map(of_step).collect()
}

impl Ends {
    pub(super) fn new(journey: &str, recorder: &mut Recorder) -> Self {
        let mut series = |kind, metric: &str, phase| {
            recorder.series(kind, SeriesKey::new(metric, &[(names::JOURNEY, journey)], phase))
        };
        let (steady, any) = (SeriesPhase::Steady, SeriesPhase::Any);
        Self {
            completed: series(Kind::Counter, names::JOURNEYS_COMPLETED, steady),
            failed: series(Kind::Counter, names::JOURNEYS_ROOT_FAILED, steady),
            cut_off: series(Kind::Counter, names::JOURNEYS_IN_FLIGHT_AT_CUTOFF, steady),
            duration: series(Kind::Trend, names::JOURNEY_DURATION, steady),
            in_flight: series(Kind::Gauge, names::JOURNEYS_IN_FLIGHT, any),
        }
    }
}
