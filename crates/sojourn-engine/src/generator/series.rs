//! The series that a generator writes to, interned before the run.

use sojourn_http::{Completion, FailureKind, Timings};
use sojourn_ledger::Phase;
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::Plan;

use super::batch::{BatchSeries, batch_series};

/// Series of one generator.
#[derive(Debug)]
pub(crate) struct Series {
    journeys: Vec<[JourneySeries; 2]>,
    steps: Vec<Vec<[StepSeries; 2]>>,
    lag: [SeriesId; 2],
    names: Vec<JourneyNames>,
    /// Of journeys whose root is a batch, by step.
    batches: Vec<Vec<[BatchSeries; 2]>>,
}

/// Counters of a journey's arrivals, in one phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JourneySeries {
    pub(crate) scheduled: SeriesId,
    pub(crate) missed: SeriesId,
    /// Counted here, by the generator, so that the ledger's classes are checked against a count of
    /// its own making.
    pub(crate) started: SeriesId,
}

/// A step's series, in one phase.
#[derive(Debug)]
pub(crate) struct StepSeries {
    pub(crate) response: SeriesId,
    pub(crate) response_ok: SeriesId,
    pub(crate) response_failed: SeriesId,
    pub(crate) service: SeriesId,
    pub(crate) blocked: SeriesId,
    pub(crate) dns: SeriesId,
    pub(crate) connect: SeriesId,
    pub(crate) tls: SeriesId,
    pub(crate) send: SeriesId,
    pub(crate) wait: SeriesId,
    pub(crate) receive: SeriesId,
    pub(crate) received_bytes: SeriesId,
    pub(crate) sent_bytes: SeriesId,
    /// By HTTP status, interned when first seen: a run has few.
    statuses: Vec<(u16, SeriesId)>,
    /// The times of responses by status, likewise; of sessions.
    responses: Vec<(u16, SeriesId)>,
    /// By reason, likewise.
    reasons: Vec<(String, SeriesId)>,
    /// Of a step that may be tried again: its attempts by number, from the first.
    attempts: Vec<SeriesId>,
    /// What further attempts were made after, interned when first seen.
    retries: Vec<(RetryCause, SeriesId)>,
}

/// What another attempt was made after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryCause {
    Failure(FailureKind),
    Status(u16),
}

#[derive(Debug)]
struct JourneyNames {
    journey: String,
    steps: Vec<String>,
}

pub(crate) use sojourn_metrics::names::NOT_SENT;

/// Reasons told apart per step; further ones count as `other`.
const REASONS_MAX: usize = 50;

impl Series {
    pub(crate) fn new(plan: &Plan, recorder: &mut Recorder) -> Self {
        // A load without a warm-up writes to none of its series: a recorder has not that many.
        let warm_up = match plan.load.iter().any(|load| load.warmup_ns > 0) {
            true => SeriesPhase::WarmUp,
            false => SeriesPhase::Steady,
        };
        let phases = [warm_up, SeriesPhase::Steady];
        let lag = phases
            .map(|phase| recorder.series(Kind::Trend, SeriesKey::new(names::LAG, &[], phase)));
        let mut journeys = Vec::new();
        let mut steps = Vec::new();
        for journey in &plan.journeys {
            let of_phase =
                |phase, recorder: &mut Recorder| JourneySeries::new(&journey.name, phase, recorder);
            journeys.push(phases.map(|phase| of_phase(phase, recorder)));
            steps.push(
                journey
                    .steps
                    .iter()
                    .map(|step| {
                        phases.map(|phase| {
                            StepSeries::new(&journey.name, &step.name, phase, recorder)
                                .with_attempts((&journey.name, step), phase, recorder)
                        })
                    })
                    .collect(),
            );
        }
        let names = plan
            .journeys
            .iter()
            .map(|journey| JourneyNames {
                journey: journey.name.clone(),
                steps: journey.steps.iter().map(|step| step.name.clone()).collect(),
            })
            .collect();
        let batches = batch_series(plan, phases, recorder);
        Self { journeys, steps, lag, names, batches }
    }

    /// Of a step that sends batches: then all steps of its journey do.
    pub(crate) fn batch(
        &mut self,
        kind: u16,
        step: usize,
        phase: Phase,
    ) -> Option<&mut BatchSeries> {
        Some(&mut self.batches[usize::from(kind)].get_mut(step)?[phase as usize])
    }

    pub(crate) fn journey(&self, kind: u16, phase: Phase) -> JourneySeries {
        self.journeys[usize::from(kind)][phase as usize]
    }

    pub(crate) fn step(&self, kind: u16, step: usize, phase: Phase) -> &StepSeries {
        &self.steps[usize::from(kind)][step][phase as usize]
    }

    pub(crate) fn lag(&self, phase: Phase) -> SeriesId {
        self.lag[phase as usize]
    }

    /// The request counter of a status.
    pub(crate) fn status(
        &mut self,
        recorder: &mut Recorder,
        kind: u16,
        step: usize,
        phase: Phase,
        status: u16,
    ) -> SeriesId {
        let names = &self.names[usize::from(kind)];
        let series = &mut self.steps[usize::from(kind)][step][phase as usize];
        of_status(&mut series.statuses, status, |text| {
            requests_series(&names.journey, &names.steps[step], text, phase, recorder)
        })
    }

    /// The response times of a status.
    pub(crate) fn response_by_status(
        &mut self,
        recorder: &mut Recorder,
        kind: u16,
        step: usize,
        phase: Phase,
        status: u16,
    ) -> SeriesId {
        let names = &self.names[usize::from(kind)];
        let series = &mut self.steps[usize::from(kind)][step][phase as usize];
        of_status(&mut series.responses, status, |text| {
            let tags = [
                (names::JOURNEY, &*names.journey),
                (names::STEP, &*names.steps[step]),
                (names::STATUS, text),
            ];
            let key = SeriesKey::new(names::STEP_RESPONSE_BY_STATUS, &tags, series_phase(phase));
            recorder.series(Kind::Trend, key)
        })
    }

    /// The counters of a failure: its requests (for transport failures) and its reason.
    pub(crate) fn reason(
        &mut self,
        recorder: &mut Recorder,
        kind: u16,
        step: usize,
        phase: Phase,
        reason: &str,
    ) -> SeriesId {
        let names = &self.names[usize::from(kind)];
        let series = &mut self.steps[usize::from(kind)][step][phase as usize];
        if let Some((_, id)) = series.reasons.iter().find(|(known, _)| known == reason) {
            return *id;
        }
        let reason = if series.reasons.len() < REASONS_MAX { reason } else { "other" };
        let key = SeriesKey::new(
            names::STEP_FAILED,
            &[("journey", &names.journey), ("step", &names.steps[step]), ("reason", reason)],
            series_phase(phase),
        );
        let id = recorder.series(Kind::Counter, key);
        if series.reasons.len() < REASONS_MAX {
            series.reasons.push((reason.to_owned(), id));
        }
        id
    }

    /// The times of a step's attempts of this number (from 1); one that may not be tried again has
    /// none.
    pub(crate) fn attempt(&self, kind: u16, step: usize, phase: Phase, attempt: u32) -> SeriesId {
        let attempts = &self.step(kind, step, phase).attempts;
        attempts[(attempt.max(1) as usize - 1).min(attempts.len() - 1)]
    }

    /// The counter of further attempts after this.
    pub(crate) fn retry(
        &mut self,
        recorder: &mut Recorder,
        kind: u16,
        step: usize,
        phase: Phase,
        cause: RetryCause,
    ) -> SeriesId {
        let names = &self.names[usize::from(kind)];
        let series = &mut self.steps[usize::from(kind)][step][phase as usize];
        if let Some((_, id)) = series.retries.iter().find(|(known, _)| *known == cause) {
            return *id;
        }
        let reason = match cause {
            RetryCause::Failure(failure) => failure.name().to_owned(),
            RetryCause::Status(status) => status.to_string(),
        };
        let tags = [
            (names::JOURNEY, &*names.journey),
            (names::STEP, &*names.steps[step]),
            (names::REASON, &*reason),
        ];
        let key = SeriesKey::new(names::STEP_RETRIES, &tags, series_phase(phase));
        let id = recorder.series(Kind::Counter, key);
        series.retries.push((cause, id));
        id
    }

    /// The request counter of a transport failure.
    pub(crate) fn transport_failure(
        &mut self,
        recorder: &mut Recorder,
        kind: u16,
        step: usize,
        phase: Phase,
        failure: FailureKind,
    ) -> SeriesId {
        let names = &self.names[usize::from(kind)];
        requests_series(&names.journey, &names.steps[step], failure.name(), phase, recorder)
    }

    /// The request counter of a status that is a word, such as a published message's.
    pub(crate) fn status_word(
        &mut self,
        recorder: &mut Recorder,
        kind: u16,
        step: usize,
        phase: Phase,
        status: &str,
    ) -> SeriesId {
        let names = &self.names[usize::from(kind)];
        requests_series(&names.journey, &names.steps[step], status, phase, recorder)
    }

    /// The request counter of those that could not be written.
    pub(crate) fn not_sent(
        &mut self,
        recorder: &mut Recorder,
        kind: u16,
        step: usize,
        phase: Phase,
    ) -> SeriesId {
        let names = &self.names[usize::from(kind)];
        requests_series(&names.journey, &names.steps[step], NOT_SENT, phase, recorder)
    }
}

impl JourneySeries {
    fn new(journey: &str, phase: SeriesPhase, recorder: &mut Recorder) -> Self {
        let mut counter = |metric: &str| {
            recorder.series(Kind::Counter, SeriesKey::new(metric, &[("journey", journey)], phase))
        };
        Self {
            scheduled: counter(names::JOURNEYS_SCHEDULED),
            missed: counter(names::JOURNEYS_MISSED),
            started: counter(names::JOURNEYS_STARTED),
        }
    }
}

impl StepSeries {
    /// Records where the time of a request went that was due at `due_ns` and begun at `began_ns`;
    /// its bytes are the caller's, who knows how many requests they are of.
    pub(crate) fn completed(
        &self,
        recorder: &mut Recorder,
        completion: &Completion,
        due_ns: u64,
        began_ns: u64,
    ) {
        recorder.record(self.response, completion.ended_ns.saturating_sub(due_ns));
        recorder.record(self.service, completion.ended_ns.saturating_sub(began_ns));
        recorder.record(self.wait, completion.timings.wait_ns);
        self.phases(recorder, &completion.timings);
    }

    /// Records a request's phases but the wait for its answer.
    pub(crate) fn phases(&self, recorder: &mut Recorder, timings: &Timings) {
        recorder.record(self.blocked, timings.blocked_ns);
        if timings.connect_ns > 0 {
            recorder.record(self.dns, timings.dns_ns);
            recorder.record(self.connect, timings.connect_ns);
            if timings.tls_ns > 0 {
                recorder.record(self.tls, timings.tls_ns);
            }
        }
        recorder.record(self.send, timings.send_ns);
        recorder.record(self.receive, timings.receive_ns);
    }

    fn new(journey: &str, step: &str, phase: SeriesPhase, recorder: &mut Recorder) -> Self {
        let mut trend = |metric: &str| {
            let key = SeriesKey::new(metric, &[("journey", journey), ("step", step)], phase);
            recorder.series(Kind::Trend, key)
        };
        Self {
            response: trend(names::STEP_RESPONSE),
            response_ok: trend(names::STEP_RESPONSE_OK),
            response_failed: trend(names::STEP_RESPONSE_FAILED),
            service: trend(names::STEP_SERVICE),
            blocked: trend(names::STEP_BLOCKED),
            dns: trend(names::STEP_DNS),
            connect: trend(names::STEP_CONNECT),
            tls: trend(names::STEP_TLS),
            send: trend(names::STEP_SEND),
            wait: trend(names::STEP_WAIT),
            receive: trend(names::STEP_RECEIVE),
            received_bytes: trend(names::STEP_RECEIVED_BYTES),
            sent_bytes: trend(names::STEP_SENT_BYTES),
            statuses: Vec::new(),
            responses: Vec::new(),
            reasons: Vec::new(),
            attempts: Vec::new(),
            retries: Vec::new(),
        }
    }

    fn with_attempts(
        mut self,
        (journey, step): (&str, &sojourn_plan::Step),
        phase: SeriesPhase,
        recorder: &mut Recorder,
    ) -> Self {
        let attempts = step.retry.as_ref().map_or(0, |retry| retry.attempts.max(1));
        let series = (1..=attempts).map(|attempt| {
            let attempt = attempt.to_string();
            let tags = [
                (names::JOURNEY, journey),
                (names::STEP, &*step.name),
                (names::ATTEMPT, &*attempt),
            ];
            recorder.series(Kind::Trend, SeriesKey::new(names::STEP_ATTEMPT, &tags, phase))
        });
        self.attempts = series.collect();
        self
    }
}

/// A journey's phase as a series' phase.
pub(crate) fn series_phase(phase: Phase) -> SeriesPhase {
    match phase {
        Phase::WarmUp => SeriesPhase::WarmUp,
        Phase::Steady => SeriesPhase::Steady,
    }
}

/// The series of a status among those known, which `make` makes of the status as text if it is new.
fn of_status(
    known: &mut Vec<(u16, SeriesId)>,
    status: u16,
    make: impl FnOnce(&str) -> SeriesId,
) -> SeriesId {
    if let Some((_, id)) = known.iter().find(|(known, _)| *known == status) {
        return *id;
    }
    let id = make(&status.to_string());
    known.push((status, id));
    id
}

fn requests_series(
    journey: &str,
    step: &str,
    status: &str,
    phase: Phase,
    recorder: &mut Recorder,
) -> SeriesId {
    let tags = [("journey", journey), ("step", step), ("status", status)];
    recorder.series(Kind::Counter, SeriesKey::new(names::STEP_REQUESTS, &tags, series_phase(phase)))
}
