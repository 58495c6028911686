//! A generator's accounts of an attack: what a ledger would keep, it keeps itself.

use sojourn_http::Completion;
use sojourn_metrics::{JointId, Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::Plan;

use super::{AttackGenerator, Hit, KIND, PHASE, words};
use crate::attack::{Attack, Targets};
use crate::generator::series::Series;

/// Completions in a row that share a reading of the clock where nothing but accounts is made of
/// them: a closed loop's next request begins up to some microseconds after what stands as its t1.
const COMPLETIONS_PER_STAMP: usize = 4;

/// The status of an answer that redirects to where the attack does not go.
const REFUSED: &str = "redirect refused";

/// Series that a ledger would keep.
pub(super) struct Ends {
    pub(super) completed: SeriesId,
    pub(super) failed: SeriesId,
    pub(super) cut_off: SeriesId,
    pub(super) duration: SeriesId,
    pub(super) in_flight: SeriesId,
    /// What the trends of successes have in common, by step.
    alike: Vec<Alike>,
}

/// Trends of a step that have a sample in common when a hit succeeds: in a closed loop four of the
/// eleven it is recorded in, on a ring five. They are recorded together, in 21 ns less.
struct Alike {
    /// Response time, the same of successes, and the journey's duration: always.
    response: JointId,
    /// These and the service time: where the hit began when it was due.
    service: JointId,
    /// These and the wait for the answer: where besides nothing else took time.
    wait: JointId,
}

impl AttackGenerator {
    /// How many completions share a reading of the clock: one where a script or a record takes time
    /// of its own for each.
    pub(super) fn completions_per_stamp(&self) -> usize {
        match self.results.is_some() || self.scripted.is_some() {
            true => 1,
            false => COMPLETIONS_PER_STAMP,
        }
    }

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
        let series = self.series.step(KIND, step, PHASE);
        let (out_before, in_before) = hit.bytes_before();
        self.recorder.record(series.received_bytes, in_before + completion.bytes_in);
        self.recorder.record(series.sent_bytes, out_before + completion.bytes_out);
        if let Some(answers) = &mut self.answers {
            answers.ended(hit, completion, &mut self.recorder);
        }
        let refused = hit.refused();
        if let (Ok(response), None, Some([bodies, bytes_in, bytes_out])) =
            (&completion.outcome, refused, self.bodies.get(step))
        {
            self.recorder.add(*bodies, 1);
            self.recorder.add(*bytes_in, response.body_bytes);
            self.recorder.add(*bytes_out, hit.target.target.body.len() as u64);
        }
        let (of_status, reason) = match (&completion.outcome, refused) {
            (Ok(_), Some(refusal)) => {
                let recorder = &mut self.recorder;
                let series = self.series.status_word(recorder, KIND, step, PHASE, REFUSED);
                (series, Some(refusal.why.clone()))
            }
            (Ok(response), None) => {
                let status = response.status;
                let reason = words::status_error(response);
                let series = self.series.status(&mut self.recorder, KIND, step, PHASE, status);
                (series, (!reason.is_empty()).then_some(reason))
            }
            (Err(failure), _) => {
                let kind = failure.kind;
                let series =
                    self.series.transport_failure(&mut self.recorder, KIND, step, PHASE, kind);
                (series, Some(kind.name().to_owned()))
            }
        };
        self.recorder.add(of_status, 1);
        match reason {
            None => {
                self.account_success(hit, completion);
                self.recorder.add(self.ends.completed, 1);
            }
            Some(reason) => {
                let series = self.series.step(KIND, step, PHASE);
                series.completed(&mut self.recorder, completion, hit.t0_ns, hit.began_ns);
                let response_ns = completion.ended_ns.saturating_sub(hit.t0_ns);
                self.recorder.record(series.response_failed, response_ns);
                self.recorder.record(self.ends.duration, response_ns);
                let of_reason = self.series.reason(&mut self.recorder, KIND, step, PHASE, &reason);
                self.recorder.add(of_reason, 1);
                self.recorder.add(self.ends.failed, 1);
            }
        }
    }

    /// The times of a hit that has succeeded.
    fn account_success(&mut self, hit: &Hit, completion: &Completion) {
        let step = usize::from(hit.target.step);
        let series = self.series.step(KIND, step, PHASE);
        let response_ns = completion.ended_ns.saturating_sub(hit.t0_ns);
        let service_ns = completion.ended_ns.saturating_sub(hit.began_ns);
        let wait_ns = completion.timings.wait_ns;
        let alike = &self.ends.alike[step];
        let joint = if service_ns != response_ns {
            self.recorder.record(series.service, service_ns);
            self.recorder.record(series.wait, wait_ns);
            alike.response
        } else if wait_ns != response_ns {
            self.recorder.record(series.wait, wait_ns);
            alike.service
        } else {
            alike.wait
        };
        self.recorder.record_joint(joint, response_ns);
        series.phases(&mut self.recorder, &completion.timings);
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
    pub(super) fn new(plan: &Plan, of_steps: &Series, recorder: &mut Recorder) -> Self {
        let journey = &plan.journeys[usize::from(KIND)];
        let mut series = |kind, metric: &str, phase| {
            let tags = [(names::JOURNEY, &*journey.name)];
            recorder.series(kind, SeriesKey::new(metric, &tags, phase))
        };
        let (steady, any) = (SeriesPhase::Steady, SeriesPhase::Any);
        let ends = Self {
            completed: series(Kind::Counter, names::JOURNEYS_COMPLETED, steady),
            failed: series(Kind::Counter, names::JOURNEYS_ROOT_FAILED, steady),
            cut_off: series(Kind::Counter, names::JOURNEYS_IN_FLIGHT_AT_CUTOFF, steady),
            duration: series(Kind::Trend, names::JOURNEY_DURATION, steady),
            in_flight: series(Kind::Gauge, names::JOURNEYS_IN_FLIGHT, any),
            alike: Vec::new(),
        };
        let alike = |step: usize| {
            let of_step = of_steps.step(KIND, step, PHASE);
            let (response, response_ok) = (of_step.response, of_step.response_ok);
            let all = [response, response_ok, ends.duration, of_step.service, of_step.wait];
            let [response, service, wait] = [3, 4, 5].map(|count| recorder.joint(&all[..count]));
            Alike { response, service, wait }
        };
        Self { alike: (0..journey.steps.len()).map(alike).collect(), ..ends }
    }
}
