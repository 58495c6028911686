//! The observer: the thread that owns the ledger.
//!
//! Batches of facts come in from generators, taps and the poller; decisions go out: figures to the
//! coordinator, wake-ups to the generators, kept journeys to the run file.

mod adopt;
mod audit;
mod clocks;
mod failures;
mod labels;
mod limits;
mod losses;
mod poison;
mod series;
mod tap_thread;
mod words;

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use sojourn_clock::{Anchor, SECOND_NS, now_ns};
use sojourn_http::Waker;
use sojourn_ledger::{
    Again, Balance, Batch, Decision, Fact, Finished, Ledger, Sequencer, SourceId,
};
use sojourn_metrics::{Recorder, Snapshot};
use sojourn_plan::Plan;
use sojourn_record::{DuplicateRecord, JourneyRecord, JourneyShape, KeptRecord};

use crate::{
    follow::FollowedKinds,
    generator::hears_of_end,
    health::ThreadHealth,
    last_word::hand_over,
    link::ToActor,
    options::{RunOptions, narrate},
    poller::{Ended, is_polled},
    process_health::ProcessHealth,
    shape::ledger_spec,
};
pub(crate) use audit::MessageRing;
use audit::{Audit, Kept};
use clocks::ClockSeries;
use labels::LabelSeries;
use limits::{LimitSeries, limit_specs};
use losses::Leavers;
use series::ObserverSeries;
pub(crate) use tap_thread::{TapReport, TapSpec, run_tap};

/// Facts held back while the slowest source is waited for.
const HELD_MAX: usize = 4_000_000;
/// How long the last batches are waited for at the end.
const CLOSE_WAIT_NS: u64 = 3 * SECOND_NS;

/// How long batches are waited for before a look at whether the run ends or a source is lost. As
/// often as a source without facts says how far it has seen.
const LOOK: Duration = Duration::from_millis(50);

/// What the observer says to the coordinator.
pub(crate) enum FromObserver {
    /// One second's figures.
    Snapshot(Box<Snapshot>),
    /// A journey to keep.
    Kept(Box<JourneyRecord>),
    /// A duplicate of a journey told of before.
    Again(Box<DuplicateRecord>),
    /// The outline of a journey that came into being.
    Shape(Box<JourneyShape>),
    /// Something that makes the run void, in words.
    Void(String),
    /// The book is closed.
    Closed {
        /// Its lines.
        balance: Box<Balance>,
        /// How many journeys were kept and were not.
        kept: Box<KeptRecord>,
    },
}

/// Where the ledger stands, for whoever asks.
#[derive(Debug, Default)]
pub(crate) struct LedgerState {
    /// Facts up to here have been applied.
    pub(crate) watermark_ns: AtomicU64,
    /// Journeys in flight then.
    pub(crate) in_flight: AtomicU64,
    /// Started, completed (late ones, and poisoned ones that were contained, included), and failed
    /// in any other way, so far.
    pub(crate) started: AtomicU64,
    pub(crate) completed: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// When the last journey ended.
    pub(crate) last_end_ns: AtomicU64,
    /// Sources should end now; the book closes when they have.
    pub(crate) closing: AtomicBool,
}

/// A generator's two ends: wake-ups for its actors, and its waker.
pub(crate) struct GeneratorEnd {
    pub(crate) actors: Sender<ToActor>,
    /// None where whoever passes the wake-ups on waits for them.
    pub(crate) waker: Option<Waker>,
}

/// What the observer thread is made with.
pub(crate) struct ObserverSpec {
    pub(crate) plan: Arc<Plan>,
    pub(crate) options: RunOptions,
    /// Every source, with its name for messages.
    pub(crate) sources: Vec<(SourceId, String)>,
    pub(crate) recorder_number: u32,
    /// Wall time of the run, which foreign clocks are compared with.
    pub(crate) anchor: Anchor,
    /// Of each channel, the messages that its tap holds; empty where none does.
    pub(crate) rings: Vec<MessageRing>,
    pub(crate) batches: Receiver<Batch>,
    /// Generators of which nothing more comes: said after all that did.
    pub(crate) losses: Receiver<SourceId>,
    /// How long generators may be silent beyond what every source may, nanoseconds.
    pub(crate) patience_ns: u64,
    pub(crate) reports: Sender<FromObserver>,
    pub(crate) generators: Vec<GeneratorEnd>,
    /// Where the poller hears which journeys have ended.
    pub(crate) poll_ends: Option<Sender<Ended>>,
    /// Where journeys come from that others begin.
    pub(crate) followed: Option<FollowedKinds>,
    pub(crate) state: Arc<LedgerState>,
}

/// The observer.
pub(crate) struct Observer {
    spec: ObserverSpec,
    start_ns: u64,
    ledger: Ledger,
    sequencer: Sequencer,
    leavers: Leavers,
    recorder: Recorder,
    series: ObserverSeries,
    limits: LimitSeries,
    clocks: ClockSeries,
    labels: LabelSeries,
    health: ThreadHealth,
    process: ProcessHealth,
    audit: Audit,
    /// Kinds whose end a generator waits for.
    tells_end: Vec<bool>,
    /// Kinds with polled stages.
    is_polled: Vec<bool>,
    /// Journeys in flight, by kind.
    in_flight: Vec<u64>,
    decisions: Vec<Decision>,
    wake_ups_refused: u64,
    kept_refused: u64,
    ends_refused: u64,
    silent_told: bool,
    void_told: bool,
}

impl Observer {
    pub(crate) fn new(spec: ObserverSpec, start_ns: u64) -> Self {
        let sources: Vec<SourceId> = spec.sources.iter().map(|(source, _)| *source).collect();
        let mut recorder = Recorder::new(spec.recorder_number);
        recorder.start_at(start_ns);
        let plan = &spec.plan;
        let tells_end = (0u16..)
            .zip(&plan.journeys)
            .map(|(kind, journey)| {
                let is_awaited = plan
                    .load
                    .iter()
                    .any(|load| crate::generator::waits_for_journey(plan, load, kind));
                hears_of_end(journey) || is_awaited
            })
            .collect();
        Self {
            ledger: match &spec.followed {
                Some(followed) => followed.ledger(ledger_spec(plan, &spec.options.run_id)),
                None => Ledger::new(ledger_spec(plan, &spec.options.run_id))
                    .with_limits(limit_specs(plan)),
            },
            sequencer: Sequencer::new(&sources, HELD_MAX),
            leavers: Leavers::default(),
            health: ThreadHealth::new("observer", &mut recorder),
            series: ObserverSeries::new(plan, &mut recorder),
            limits: LimitSeries::new(plan, &mut recorder),
            clocks: ClockSeries::new(plan, spec.anchor, start_ns, &mut recorder),
            labels: LabelSeries::new(plan),
            process: ProcessHealth::new(None, &mut recorder),
            audit: Audit::new(plan, start_ns, &spec.options, spec.rings.clone()),
            recorder,
            tells_end,
            is_polled: spec.plan.journeys.iter().map(is_polled).collect(),
            in_flight: vec![0; spec.plan.journeys.len()],
            decisions: Vec::new(),
            wake_ups_refused: 0,
            kept_refused: 0,
            ends_refused: 0,
            silent_told: false,
            void_told: false,
            spec,
            start_ns,
        }
    }

    /// The thread's body: until every source has ended.
    pub(crate) fn run(mut self) {
        let mut snapshot_ns = self.start_ns + SECOND_NS;
        let mut closing_since_ns = None;
        loop {
            // Asked for first: what they told before is in the batches then.
            let lost: Vec<_> = self.spec.losses.try_iter().collect();
            let is_open = self.take_batches();
            self.lose(lost);
            self.apply();
            if !is_open {
                break;
            }
            let now = now_ns();
            if now >= snapshot_ns {
                self.check_silence(now, closing_since_ns.is_some());
                self.report(now);
                snapshot_ns += SECOND_NS * (1 + (now - snapshot_ns) / SECOND_NS);
            }
            if self.spec.state.closing.load(Ordering::SeqCst) {
                let since_ns = *closing_since_ns.get_or_insert(now);
                let have_ended = self.sequencer.watermark_ns() == u64::MAX;
                if have_ended || now > since_ns + CLOSE_WAIT_NS {
                    if !have_ended {
                        self.void(
                            "a source did not end when asked: its last facts are missing".into(),
                        );
                    }
                    break;
                }
            }
        }
        self.close(now_ns());
    }

    /// Waits a moment for batches, then takes all there are; false: no sender is left.
    fn take_batches(&mut self) -> bool {
        match self.spec.batches.recv_timeout(LOOK) {
            Ok(batch) => self.push(batch),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        while let Ok(batch) = self.spec.batches.try_recv() {
            self.push(batch);
        }
        true
    }

    pub(crate) fn push(&mut self, batch: Batch) {
        if let Err(defect) = self.sequencer.push(batch) {
            self.void(defect);
        }
    }

    /// Applies every fact that is certain to be next.
    pub(crate) fn apply(&mut self) {
        if let Some(cutoff_ns) = self.sequencer.cutoff_ns() {
            self.ledger.cut_off(cutoff_ns);
        }
        while let Some(stamped) = self.sequencer.pop_for(&self.ledger) {
            self.leave_before(stamped.stamp_ns);
            match &stamped.fact {
                Fact::Started { kind, .. } => self.in_flight[usize::from(*kind)] += 1,
                Fact::Followed(followed) => self.count_followed(usize::from(followed.kind)),
                _ => {}
            }
            self.ledger.apply(stamped, &mut self.decisions);
            self.decide();
        }
        let watermark_ns = self.sequencer.watermark_ns();
        self.leave_before(watermark_ns);
        if watermark_ns != u64::MAX {
            self.ledger.advance(watermark_ns, &mut self.decisions);
            self.decide();
        }
        let state = &self.spec.state;
        state.in_flight.store(self.ledger.in_flight() as u64, Ordering::SeqCst);
        state.watermark_ns.store(watermark_ns, Ordering::SeqCst);
    }

    /// Carries decisions out.
    fn decide(&mut self) {
        let mut decisions = std::mem::take(&mut self.decisions);
        for decision in decisions.drain(..) {
            self.series.count(&decision, &mut self.recorder);
            self.tell(&decision);
            match decision {
                Decision::Reached { journey, kind, stage, resume: true, .. } => {
                    let _ignored = kind;
                    self.wake(journey.0, ToActor::Reached { journey: journey.0, stage });
                }
                Decision::Overdue { journey, kind } if self.tells_end[usize::from(kind)] => {
                    // A user stops waiting at the deadline; the journey may still complete, late.
                    self.wake(journey.0, ToActor::Overdue { journey: journey.0 });
                }
                Decision::Finished(finished) => self.finished(&finished),
                Decision::Again(again) => self.again(&again),
                _ => {}
            }
        }
        self.decisions = decisions;
    }

    fn again(&mut self, again: &Again) {
        match self.audit.again(again, &self.ledger) {
            Some(Kept::Journey(record)) => self.keep(FromObserver::Kept(record)),
            Some(Kept::Duplicate(record)) => self.keep(FromObserver::Again(record)),
            None => {}
        }
    }

    fn finished(&mut self, finished: &Finished) {
        use sojourn_ledger::FinishClass::{Completed, Late};
        if !finished.readings.is_empty() {
            self.clocks.finished(finished, &mut self.recorder);
        }
        if let Some(label) = &finished.label {
            self.labels.finished(finished, label, &mut self.recorder);
        }
        let state = &self.spec.state;
        let in_flight = &mut self.in_flight[usize::from(finished.kind)];
        *in_flight = in_flight.saturating_sub(1);
        let counter = match finished.class {
            Completed | Late => &state.completed,
            _ if self.series.is_contained(finished) => &state.completed,
            _ => &state.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        state.last_end_ns.fetch_max(finished.end_ns, Ordering::Relaxed);
        if let Some(followed) = &self.spec.followed {
            self.ends_refused += u64::from(followed.tell(finished).is_err());
        }
        if self.tells_end[usize::from(finished.kind)] {
            let journey = finished.journey.0;
            self.wake(journey, ToActor::Ended { journey });
        }
        if let (true, Some(poller)) =
            (self.is_polled[usize::from(finished.kind)], &self.spec.poll_ends)
        {
            let complete = matches!(finished.class, Completed | Late);
            let ended = Ended { journey: finished.journey, complete };
            self.wake_ups_refused += u64::from(poller.try_send(ended).is_err_and(|e| e.is_full()));
        }
        if let Some(record) = self.audit.take(finished) {
            self.keep(FromObserver::Kept(Box::new(record)));
        }
    }

    fn wake(&mut self, journey: u64, message: ToActor) {
        let Some(generator) = self.spec.generators.get((journey >> 48) as usize) else {
            return;
        };
        if generator.actors.try_send(message).is_ok() {
            generator.waker.iter().for_each(Waker::wake);
        } else {
            self.wake_ups_refused += 1;
        }
    }

    fn keep(&mut self, record: FromObserver) {
        self.kept_refused += u64::from(self.spec.reports.try_send(record).is_err());
    }

    /// Tells the coordinator once that the run is void; the first defect explains the others.
    fn void(&mut self, why: String) {
        if !self.void_told {
            self.void_told = self.spec.reports.try_send(FromObserver::Void(why)).is_ok();
        }
    }

    pub(crate) fn report(&mut self, now: u64) {
        let snapshot = self.snapshot(now);
        // A lost snapshot shows as a gap in their numbers, which makes the run void.
        let _ignored = self.spec.reports.try_send(FromObserver::Snapshot(snapshot));
    }

    fn snapshot(&mut self, now: u64) -> Box<Snapshot> {
        self.series.levels(&mut self.ledger, &self.in_flight, now, &mut self.recorder);
        self.limits.write(&self.ledger, self.start_ns, &mut self.recorder);
        self.health.measure(now, &mut self.recorder);
        self.process.measure(now, &mut self.recorder);
        let mut refused = |queue: &str, count: &mut u64| {
            self.health.refused(queue, std::mem::take(count), &mut self.recorder);
        };
        refused("wake-ups to generators and poller", &mut self.wake_ups_refused);
        refused("journeys to keep", &mut self.kept_refused);
        refused("ends of journeys", &mut self.ends_refused);
        self.spec.state.started.store(self.ledger.balance().journeys.started, Ordering::Relaxed);
        Box::new(self.recorder.take(now, None))
    }

    /// The book closes at the last instant that every source vouched for: what was overdue then is
    /// lost, the rest was in flight at the cutoff. What has become overdue since may well have come
    /// about unseen.
    pub(crate) fn close(mut self, now_ns: u64) {
        let watermark_ns = self.sequencer.watermark_ns();
        let vouched_ns = watermark_ns.min(self.sequencer.cutoff_ns().unwrap_or(u64::MAX));
        self.ledger.close(vouched_ns, &mut self.decisions);
        self.decide();
        for record in self.audit.rest() {
            // However many are asked for: there is time now to wait for a place.
            let kept = FromObserver::Kept(Box::new(record));
            self.kept_refused += u64::from(hand_over(&self.spec.reports, kept).is_err());
        }
        let last = FromObserver::Snapshot(self.snapshot(now_ns));
        if hand_over(&self.spec.reports, last).is_err() {
            // Without these figures the book must not count as closed: the run is void.
            return;
        }
        let balance = Box::new(self.ledger.balance());
        // Refused only when the coordinator has gone.
        let kept = Box::new(self.audit.kept());
        let _ignored = self.spec.reports.send(FromObserver::Closed { balance, kept });
    }

    fn tell(&self, decision: &Decision) {
        narrate(self.spec.options.narrator.as_ref(), || words::of(&self.spec.plan, decision));
    }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::bounded;
    use sojourn_ledger::{JourneyId, Phase, Stamped};

    use super::*;
    use crate::testing::{PAYMENT, plan};

    const GENERATOR: SourceId = SourceId(0);
    const TAP: SourceId = SourceId(1);

    /// What the book says at the end of a run in which these batches came.
    fn closed(start_ns: u64, of_sources: Vec<Batch>) -> Balance {
        let (sender, batches) = bounded(of_sources.len());
        let (reports, told) = bounded(100);
        of_sources.into_iter().for_each(|batch| sender.send(batch).unwrap());
        drop(sender);
        let spec = ObserverSpec {
            plan: Arc::new(plan(PAYMENT, "http://127.0.0.1:1")),
            options: RunOptions::new(None, "test".to_owned()),
            sources: vec![(GENERATOR, "generator 0".to_owned()), (TAP, "tap".to_owned())],
            recorder_number: 2,
            anchor: Anchor::now(),
            rings: Vec::new(),
            batches,
            losses: crossbeam_channel::never(),
            patience_ns: 0,
            reports,
            generators: Vec::new(),
            poll_ends: None,
            followed: None,
            state: Arc::default(),
        };
        Observer::new(spec, start_ns).run();
        let balance = told.iter().find_map(|report| match report {
            FromObserver::Closed { balance, .. } => Some(*balance),
            _ => None,
        });
        balance.expect("the book is closed")
    }

    fn started(number: u64, t0_ns: u64) -> Stamped {
        let (journey, key) = (JourneyId(number), None);
        let fact = Fact::Started { journey, kind: 0, phase: Phase::Steady, t0_ns, key };
        Stamped { stamp_ns: t0_ns, fact }
    }

    #[test]
    fn what_became_overdue_after_the_taps_had_ended_is_not_lost() {
        let start_ns = now_ns() - 60 * SECOND_NS;
        let at = |seconds: u64| start_ns + seconds * SECOND_NS;
        let batch =
            |source, sequence, facts, watermark_ns| Batch { source, sequence, facts, watermark_ns };
        // Deadlines at 2 s and at 12 s; the tap saw everything up to 10 s.
        let facts = vec![started(0, at(0)), started(1, at(10))];
        let balance = closed(
            start_ns,
            vec![
                batch(GENERATOR, 0, facts, at(15)),
                batch(TAP, 0, Vec::new(), at(10)),
                batch(TAP, 1, Vec::new(), u64::MAX),
                batch(GENERATOR, 1, vec![started(2, at(30))], at(31)),
                batch(GENERATOR, 2, Vec::new(), u64::MAX),
            ],
        );
        let lines = balance.journeys;
        assert_eq!((lines.started, lines.lost, lines.in_flight), (3, 1, 2));
    }
}
