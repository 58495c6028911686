//! A generator's accounts of sessions: what a ledger would keep, it keeps itself, since nothing can
//! happen to a client after its end.

use sojourn_http::{Completion, Response};
use sojourn_ledger::Phase;
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::Plan;
use sojourn_session::{Ended, Program};

use super::seat::{Asked, Seat};
use crate::generator::series::Series;

/// Sessions have no warm-up.
const PHASE: Phase = Phase::Steady;
/// The reason of a request whose host is no target.
const DENIED: &str = "denied: its host is no target";

/// The status of an event that was waited for and came.
const SEEN: &str = "seen";
/// Of one that did not come.
const MISSED: &str = "missed";

/// Series of one generator.
pub(super) struct Accounts {
    series: Series,
    /// By session.
    ends: Vec<Ends>,
    /// By check: held, did not hold.
    checks: Vec<[SeriesId; 2]>,
    log_dropped: SeriesId,
    /// Clients at once, of all sessions.
    clients: (SeriesId, u64),
}

/// Instants of a message or of a wait for an event, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// From when on its client could go on.
    pub(super) due_ns: u64,
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
}

struct Ends {
    journey: String,
    completed: SeriesId,
    failed: SeriesId,
    cut_off: SeriesId,
    duration: SeriesId,
    in_flight: SeriesId,
    clients: u64,
    /// Why clients failed, interned when first seen: there are few reasons.
    reasons: Vec<(String, SeriesId)>,
}

impl Accounts {
    pub(super) fn new(plan: &Plan, program: &Program, recorder: &mut Recorder) -> Self {
        let checks = program.checks().iter().map(|name| {
            [names::CHECK_OK, names::CHECK_FAILED].map(|result| {
                let tags = [(names::CHECK, &**name), (names::RESULT, result)];
                let key = SeriesKey::new(names::CHECKS, &tags, SeriesPhase::Steady);
                recorder.series(Kind::Counter, key)
            })
        });
        let checks = checks.collect();
        let clients = SeriesKey::new(names::CLIENTS, &[], SeriesPhase::Any);
        let log = SeriesKey::new(names::LOG_LINES_DROPPED, &[], SeriesPhase::Any);
        Self {
            checks,
            // Behind the sessions come journeys of events, whose ends are the ledger's.
            ends: program.sessions().map(|name| Ends::new(name, recorder)).collect(),
            series: Series::new(plan, recorder),
            log_dropped: recorder.series(Kind::Counter, log),
            clients: (recorder.series(Kind::Gauge, clients), 0),
        }
    }

    /// A client has arrived and begins.
    pub(super) fn arrived(&mut self, seat: &Seat, now_ns: u64, recorder: &mut Recorder) {
        let series = self.series.journey(seat.kind, PHASE);
        recorder.add(series.scheduled, 1);
        recorder.add(series.started, 1);
        recorder.record(self.series.lag(PHASE), now_ns.saturating_sub(seat.t0_ns));
        self.ends[usize::from(seat.kind)].clients += 1;
        // At each arrival: a client that lasts for less than a second is one, too.
        self.clients.1 += 1;
        recorder.set(self.clients.0, self.clients.1 as f64);
    }

    /// A client was due and there was no room for it.
    pub(super) fn missed(&self, kind: u16, recorder: &mut Recorder) {
        let series = self.series.journey(kind, PHASE);
        recorder.add(series.scheduled, 1);
        recorder.add(series.missed, 1);
    }

    pub(super) fn check(&self, check: usize, is_ok: bool, recorder: &mut Recorder) {
        if let Some(series) = self.checks.get(check) {
            recorder.add(series[usize::from(!is_ok)], 1);
        }
    }

    /// A client wrote to the user's log, where there was room for the line or not.
    pub(super) fn logged(&mut self, has_room: bool, recorder: &mut Recorder) {
        recorder.add(self.log_dropped, u64::from(!has_room));
    }

    /// A request begins, so much later than it was due.
    pub(super) fn begun(&self, late_ns: u64, recorder: &mut Recorder) {
        recorder.record(self.series.lag(PHASE), late_ns);
    }

    /// A request was not sent: why.
    pub(super) fn not_sent(&mut self, kind: u16, step: usize, why: &str, recorder: &mut Recorder) {
        let requests = self.series.not_sent(recorder, kind, step, PHASE);
        recorder.add(requests, 1);
        let reason = self.series.reason(recorder, kind, step, PHASE, why);
        recorder.add(reason, 1);
    }

    /// A request's host is no target.
    pub(super) fn denied(&mut self, kind: u16, step: usize, recorder: &mut Recorder) {
        self.not_sent(kind, step, DENIED, recorder);
    }

    /// A request has ended, all redirects followed; `refused` says why one was not.
    pub(super) fn answered(
        &mut self,
        (kind, due_ns): (u16, u64),
        asked: &Asked,
        completion: &Completion,
        refused: Option<&str>,
        recorder: &mut Recorder,
    ) {
        let step = usize::from(asked.step);
        let series = self.series.step(kind, step, PHASE);
        recorder.record(series.received_bytes, asked.bytes_before.1 + completion.bytes_in);
        recorder.record(series.sent_bytes, asked.bytes_before.0 + completion.bytes_out);
        series.completed(recorder, completion, due_ns, asked.began_ns);
        let reason = match &completion.outcome {
            Ok(response) => refused.map(str::to_owned).or_else(|| reason_of(response)),
            Err(failure) => Some(failure.kind.name().to_owned()),
        };
        let response_ns = completion.ended_ns.saturating_sub(due_ns);
        let by_outcome = if reason.is_none() { series.response_ok } else { series.response_failed };
        recorder.record(by_outcome, response_ns);
        let requests = match &completion.outcome {
            Ok(Response { status, .. }) => {
                let times = self.series.response_by_status(recorder, kind, step, PHASE, *status);
                recorder.record(times, response_ns);
                self.series.status(recorder, kind, step, PHASE, *status)
            }
            Err(failure) => {
                self.series.transport_failure(recorder, kind, step, PHASE, failure.kind)
            }
        };
        recorder.add(requests, 1);
        if let Some(reason) = reason {
            let reason = self.series.reason(recorder, kind, step, PHASE, &reason);
            recorder.add(reason, 1);
        }
    }

    /// A message has ended: its status, and why it failed if it did.
    pub(super) fn message(
        &mut self,
        (kind, step): (u16, usize),
        times: Times,
        (status, why): (&str, Option<&str>),
        recorder: &mut Recorder,
    ) {
        let requests = self.series.status_word(recorder, kind, step, PHASE, status);
        recorder.add(requests, 1);
        let response_ns = times.ended_ns.saturating_sub(times.due_ns);
        let series = self.series.step(kind, step, PHASE);
        recorder.record(series.response, response_ns);
        recorder.record(series.service, times.ended_ns.saturating_sub(times.began_ns));
        let by_outcome = if why.is_none() { series.response_ok } else { series.response_failed };
        recorder.record(by_outcome, response_ns);
        if let Some(why) = why {
            let reason = self.series.reason(recorder, kind, step, PHASE, why);
            recorder.add(reason, 1);
        }
    }

    /// A message's payload was handed over.
    pub(super) fn sent(&self, (kind, step): (u16, usize), bytes: u64, recorder: &mut Recorder) {
        recorder.record(self.series.step(kind, step, PHASE).sent_bytes, bytes);
    }

    /// A wait for an event has ended: in vain, why.
    pub(super) fn event(
        &mut self,
        of: (u16, usize),
        times: Times,
        why: Option<&str>,
        recorder: &mut Recorder,
    ) {
        let status = if why.is_none() { SEEN } else { MISSED };
        self.message(of, times, (status, why), recorder);
    }

    /// A journey of events has begun.
    pub(super) fn followed(&self, kind: u16, recorder: &mut Recorder) {
        let series = self.series.journey(kind, PHASE);
        recorder.add(series.scheduled, 1);
        recorder.add(series.started, 1);
    }

    /// A client has ended.
    pub(super) fn ended(
        &mut self,
        seat: &Seat,
        ended: Ended,
        now_ns: u64,
        (program, recorder): (&Program, &mut Recorder),
    ) {
        let ends = &mut self.ends[usize::from(seat.kind)];
        ends.clients -= 1;
        self.clients.1 -= 1;
        recorder.record(ends.duration, now_ns.saturating_sub(seat.t0_ns));
        let Some(why) = ended.why(program) else {
            recorder.add(ends.completed, 1);
            return;
        };
        recorder.add(ends.failed, 1);
        let of_reason = ends.reason(why, recorder);
        recorder.add(of_reason, 1);
    }

    /// Levels of this instant.
    pub(super) fn levels(&self, recorder: &mut Recorder) {
        recorder.set(self.clients.0, self.clients.1 as f64);
        for ends in &self.ends {
            recorder.set(ends.in_flight, ends.clients as f64);
        }
    }

    /// The run is over: whoever is left was cut off.
    pub(super) fn finish(&mut self, recorder: &mut Recorder) {
        for ends in &mut self.ends {
            recorder.add(ends.cut_off, std::mem::take(&mut ends.clients));
        }
    }
}

/// Why an answer is no success: its status is an error's.
fn reason_of(response: &Response) -> Option<String> {
    (response.status >= 400).then(|| format!("status {}", response.status))
}

impl Ends {
    fn new(journey: &str, recorder: &mut Recorder) -> Self {
        let mut series = |kind, metric: &str, phase| {
            recorder.series(kind, SeriesKey::new(metric, &[(names::JOURNEY, journey)], phase))
        };
        let (steady, any) = (SeriesPhase::Steady, SeriesPhase::Any);
        Self {
            journey: journey.to_owned(),
            completed: series(Kind::Counter, names::JOURNEYS_COMPLETED, steady),
            failed: series(Kind::Counter, names::JOURNEYS_FAILED, steady),
            cut_off: series(Kind::Counter, names::JOURNEYS_IN_FLIGHT_AT_CUTOFF, steady),
            duration: series(Kind::Trend, names::JOURNEY_DURATION, steady),
            in_flight: series(Kind::Gauge, names::JOURNEYS_IN_FLIGHT, any),
            clients: 0,
            reasons: Vec::new(),
        }
    }

    fn reason(&mut self, why: String, recorder: &mut Recorder) -> SeriesId {
        if let Some((_, id)) = self.reasons.iter().find(|(known, _)| *known == why) {
            return *id;
        }
        let tags = [(names::JOURNEY, &*self.journey), (names::WHAT, &*why), (names::REASON, "")];
        let key = SeriesKey::new(names::JOURNEYS_FAILED_BY, &tags, SeriesPhase::Steady);
        let id = recorder.series(Kind::Counter, key);
        self.reasons.push((why, id));
        id
    }
}
