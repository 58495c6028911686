//! What the coordinator has heard: merged figures, the run file, defects.

use crossbeam_channel::Sender;
use sojourn_broker::{Gap, Recovery};
use sojourn_clock::now_ns;
use sojourn_ledger::Balance;
use sojourn_metrics::{
    SeriesKey, SeriesPhase, Snapshot, Store, ThresholdContext, ThresholdOutcome, names,
};
use sojourn_plan::Plan;
use sojourn_record::{AmendmentRecord, Cause, JourneyRecord, RunWriter, Summary};

use super::{
    complete::Complete,
    generators::{ArrivalsDone, Generators},
    lags::Lags,
    launch::Launched,
    levels::Levels,
    notes,
    panic::{Panic, Role},
};
use crate::{
    RunError, RunOptions, identity::identity, link::FromGenerator, observer::FromObserver,
    observer::TapReport, remote::OnLoss, verdict,
};

/// Seconds between checkpoints in the run file.
const CHECKPOINT_SECONDS: u64 = 60;

/// The coordinator's side of everything reported.
pub(super) struct Book {
    kept: Option<Sender<JourneyRecord>>,
    /// Kept journeys that found no room there.
    kept_dropped: u64,
    /// None where no run file was asked for.
    writer: Option<RunWriter>,
    path: String,
    store: Store,
    /// Snapshots of the present second.
    pending: Vec<Snapshot>,
    seconds: u64,
    complete: Complete,
    /// The next second is followed by everything so far.
    checkpoint_due: bool,
    /// Up to when the generators' counts are known.
    started_until_ns: u64,
    generators: Generators,
    lags: Lags,
    taps_ended: usize,
    defects: Vec<String>,
    notes: Vec<String>,
    balance: Option<Box<Balance>>,
    observer_gone: bool,
    steady_marked: bool,
    start_ns: u64,
    /// A tap is lost, or a thread has panicked: going on is pointless.
    is_void: bool,
    levels: Levels,
    /// Changes of the rate.
    amendments: usize,
}

impl Book {
    pub(super) fn create(
        plan: &Plan,
        options: &RunOptions,
        launched: &Launched,
    ) -> Result<Self, RunError> {
        let path = options.run_file.as_ref().map_or_else(String::new, |p| p.display().to_string());
        let identity = identity(
            plan,
            options,
            &launched.anchor,
            launched.start_ns,
            launched.channels.clone(),
            launched.resources.clone(),
            launched.io(),
        );
        let file = options.run_file.as_ref();
        let created = file.map(|file| RunWriter::create(file, &identity)).transpose();
        let writer = created.map_err(|error| {
            RunError::new(
                format!("cannot write the run file {path}: {error}"),
                "choose another place with --output",
            )
        })?;
        let fleet = options.processes.as_ref().and_then(|processes| processes.fleet.as_ref());
        let on_loss = fleet.map_or_else(OnLoss::default, |fleet| fleet.terms().on_loss);
        Ok(Self {
            kept: options.kept.clone(),
            kept_dropped: 0,
            writer,
            path,
            store: Store::new(),
            pending: Vec::new(),
            seconds: 0,
            complete: Complete::default(),
            checkpoint_due: false,
            started_until_ns: launched.start_ns,
            generators: Generators::new(launched.start_ns, launched.generators(), on_loss),
            lags: Lags::new(options),
            taps_ended: 0,
            defects: Vec::new(),
            notes: plan.warnings.clone(),
            balance: None,
            observer_gone: false,
            steady_marked: false,
            start_ns: launched.start_ns,
            is_void: false,
            levels: Levels::new(),
            amendments: 0,
        })
    }

    /// Takes a generator's report.
    pub(super) fn generator(&mut self, index: u32, report: FromGenerator) {
        match report {
            FromGenerator::Snapshot(snapshot) => {
                self.started_until_ns = self.started_until_ns.max(snapshot.end_ns);
                self.complete.note(&snapshot);
                self.lags.note(index, &snapshot);
                self.snapshot(snapshot);
            }
            FromGenerator::ArrivalsDone { last_t0_ns, load_end_ns, at_ns } => {
                self.generators.done(index, ArrivalsDone { last_t0_ns, load_end_ns, at_ns });
            }
            FromGenerator::Idle => self.generators.idle(index),
            FromGenerator::Began { at_ns } => self.generators.began(index, at_ns),
            FromGenerator::Ended(result) => {
                self.generators.ended(index);
                self.complete.end(index);
                if let Err(why) = result {
                    self.defects.push(format!("generator {index}: {why}"));
                }
            }
            FromGenerator::Lost(loss) => {
                self.snapshot(Box::new(loss.missing.clone()));
                loss.generators.clone().for_each(|index| self.complete.end(index));
                self.generators.lost(*loss);
            }
        }
    }

    pub(super) fn tap(&mut self, report: TapReport) {
        match report {
            TapReport::Snapshot(snapshot) => self.snapshot(snapshot),
            TapReport::Gap { channel, gap } => self.gap(&channel, &gap),
            TapReport::Lost(why) => {
                self.is_void = true;
                self.defects.push(why);
            }
            TapReport::Ended { channel, undecodable, residual } => {
                self.taps_ended += 1;
                if residual > 0 {
                    self.notes.push(format!(
                        "residual backlog: {residual} events of earlier runs came on {channel} \
                         before the first arrival"
                    ));
                }
                let samples = undecodable.iter().take(3);
                self.notes
                    .extend(samples.map(|sample| format!("undecodable on {channel}: {sample}")));
            }
        }
    }

    /// A tap had no connection for a while: what may be missing makes the run void.
    fn gap(&mut self, channel: &str, gap: &Gap) {
        if gap.to_ns <= self.start_ns {
            return;
        }
        let from_s = gap.from_ns.saturating_sub(self.start_ns) as f64 / 1e9;
        let took_s = gap.to_ns.saturating_sub(gap.from_ns) as f64 / 1e9;
        let without =
            format!("tap {channel} had no connection for {took_s:.1} s from second {from_s:.1}");
        match gap.recovery {
            Recovery::Missed => {
                self.defects.push(format!("{without}: events may have been missed"));
            }
            Recovery::Resumed { messages } => self.note(format!(
                "{without}; the broker had kept everything, and it was read on: {messages} events \
                 are stamped up to {took_s:.1} s after they came"
            )),
        }
    }

    pub(super) fn observer(&mut self, report: FromObserver) {
        match report {
            FromObserver::Snapshot(snapshot) => {
                self.complete.note(&snapshot);
                self.snapshot(snapshot);
            }
            FromObserver::Kept(record) => {
                // A full disk is met by the next second's figures too, and said there.
                let _ignored = self.writer.as_mut().map(|writer| writer.journey(&record));
                if let Some(kept) = &self.kept {
                    // Whoever wants them makes room for them, and is told of those without.
                    self.kept_dropped += u64::from(kept.try_send(*record).is_err());
                }
            }
            FromObserver::Again(record) => {
                let _ignored = self.writer.as_mut().map(|writer| writer.duplicate(&record));
            }
            FromObserver::Shape(shape) => {
                if let Some(Err(error)) = self.writer.as_mut().map(|it| it.shape(&shape)) {
                    self.defects
                        .push(format!("journey {} is not in its file: {error}", shape.name));
                }
            }
            FromObserver::Void(why) => self.defects.push(why),
            FromObserver::Closed { balance, kept } => {
                self.notes.extend(notes::of_book(&balance, &kept));
                let _ignored = self.writer.as_mut().map(|writer| writer.kept(&kept));
                self.balance = Some(balance);
            }
        }
    }

    /// A thread has panicked: it says nothing further, and nobody waits for it.
    pub(super) fn panicked(&mut self, panic: Panic) {
        self.is_void = true;
        self.defects.push(panic.in_words());
        match panic.role {
            Role::Generator => self.generators.panicked(),
            Role::Tap => self.taps_ended += 1,
            Role::Observer => self.observer_gone = true,
            Role::Other => {}
        }
    }

    pub(super) fn snapshot(&mut self, snapshot: Box<Snapshot>) {
        self.absorb(&snapshot);
        self.pending.push(*snapshot);
    }

    /// Records a change of rate.
    pub(super) fn amend(&mut self, record: &AmendmentRecord) -> Result<(), RunError> {
        self.amendments += 1;
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        let written = writer.amendment(record);
        written.map_err(|error| self.unwritable(&error))
    }

    pub(super) fn note(&mut self, note: String) {
        const NOTES_MAX: usize = 50;
        if self.notes.len() < NOTES_MAX {
            self.notes.push(note);
        }
    }

    /// Takes how many journeys are in flight in the steady phase.
    pub(super) fn level(&mut self, at_s: f64, in_flight: u64) {
        self.levels.push(at_s, in_flight as f64);
    }

    /// Whether so many generators and the observer have reported up to this instant.
    pub(super) fn is_complete_until(&self, at_ns: u64, generators: usize) -> bool {
        self.complete.is_until(at_ns, generators)
    }

    /// Ends a second: its snapshots go to the run file and come back, to be shown and then used
    /// again. `steady`: the warm-up is over.
    pub(super) fn second(&mut self, steady: bool) -> Result<Vec<Snapshot>, RunError> {
        let pending = std::mem::take(&mut self.pending);
        if let (false, Some(writer)) = (pending.is_empty(), &mut self.writer) {
            let written = writer.interval(&pending);
            written.map_err(|error| self.unwritable(&error))?;
        }
        self.seconds += 1;
        let is_phase_end = steady && !self.steady_marked;
        let is_due = std::mem::take(&mut self.checkpoint_due);
        if is_phase_end || is_due || self.seconds.is_multiple_of(CHECKPOINT_SECONDS) {
            self.steady_marked |= steady;
            self.checkpoint()?;
        }
        Ok(pending)
    }

    /// Has everything so far written after the next second: it must be what the seconds before it
    /// add up to, and some of the present one has come already.
    pub(super) fn checkpoint_with_second(&mut self) {
        self.checkpoint_due = true;
    }

    fn checkpoint(&mut self) -> Result<(), RunError> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        let written = writer.checkpoint(&self.store);
        written.map_err(|error| self.unwritable(&error))
    }

    /// Closes the run file; hands back the merged figures.
    pub(super) fn finish(self, summary: &Summary) -> Result<Store, RunError> {
        let Some(writer) = self.writer else {
            return Ok(self.store);
        };
        let path = self.path;
        writer.finish(&self.store, summary).map_err(|error| {
            RunError::new(
                format!("cannot finish the run file {path}: {error}"),
                "free some space; the file is readable up to its last whole second",
            )
        })?;
        Ok(self.store)
    }

    /// Whether every generator has reached the last of its arrivals.
    pub(super) fn arrivals_done(&self) -> bool {
        self.generators.arrivals_done()
    }

    /// Since when nothing is under way any more where generators keep the book themselves; `None`
    /// while something is.
    pub(super) fn generators_idle_ns(&self) -> Option<u64> {
        self.generators.idle_ns()
    }

    /// How the generators stand.
    pub(super) fn generators(&self) -> &Generators {
        &self.generators
    }

    /// The last arrival's scheduled instant, or the start where there was none.
    pub(super) fn arrivals_end_ns(&self) -> u64 {
        self.generators.latest(|done| done.last_t0_ns).unwrap_or(self.start_ns)
    }

    /// When the load ended; `None` while it goes on.
    pub(super) fn load_end_ns(&self) -> Option<u64> {
        self.generators.latest(|done| done.load_end_ns)
    }

    /// The instant that the ledger must have passed before nothing in flight means drained.
    pub(super) fn arrivals_done_ns(&self) -> u64 {
        self.generators.latest(|done| done.at_ns).unwrap_or(self.start_ns)
    }

    pub(super) fn sources_ended(&self, generators: usize, taps: usize) -> bool {
        self.generators.ends() >= generators && self.taps_ended >= taps
    }

    /// Notes which threads have not said that they ended: figures of theirs may be missing.
    pub(super) fn check_ends(&mut self, generators: usize, taps: usize) {
        self.defects.extend(missing("generators", self.generators.ends(), generators));
        self.defects.extend(missing("taps", self.taps_ended, taps));
    }

    /// The observer has closed the ledger, or never will.
    pub(super) fn is_closed(&self) -> bool {
        self.balance.is_some() || self.observer_gone
    }

    /// Something happened that makes going on pointless: a tap is gone, a generator has died.
    pub(super) fn is_void_early(&self) -> bool {
        self.is_void || self.generators.is_void_early()
    }

    pub(super) fn started(&self) -> u64 {
        verdict::sum(&self.store, names::JOURNEYS_STARTED)
    }

    /// The instant up to which [`Self::started`] counts.
    pub(super) fn started_until_ns(&self) -> u64 {
        self.started_until_ns
    }

    /// (completed, failed, in flight) by the generators' own books, where there is no ledger's.
    pub(super) fn hits(&self) -> (u64, u64, u64) {
        let sum = |metric| verdict::sum(&self.store, metric);
        let completed = sum(names::JOURNEYS_COMPLETED);
        let failed = sum(names::JOURNEYS_ROOT_FAILED);
        (completed, failed, self.started().saturating_sub(completed + failed))
    }

    /// Every figure so far.
    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    pub(super) fn lag_p99_ns(&self) -> u64 {
        [SeriesPhase::Steady, SeriesPhase::WarmUp]
            .iter()
            .find_map(|phase| {
                self.store.trend(&SeriesKey::new(names::LAG, &[], *phase))?.quantile(0.99)
            })
            .unwrap_or(0)
    }

    /// A threshold with `abort: true` that has failed, as written.
    pub(super) fn failed_abort(&self, plan: &Plan) -> Option<String> {
        let aborting = plan.thresholds.iter().filter(|threshold| threshold.abort);
        aborting
            .map(|threshold| self.evaluate(threshold, plan, None))
            .find(|outcome| !outcome.held && outcome.measured.is_some())
            .map(|outcome| outcome.threshold.text)
    }

    pub(super) fn thresholds(&self, plan: &Plan, drain_ns: Option<u64>) -> Vec<ThresholdOutcome> {
        plan.thresholds.iter().map(|threshold| self.evaluate(threshold, plan, drain_ns)).collect()
    }

    pub(super) fn void_causes(&self, plan: &Plan) -> Vec<Cause> {
        let lost = self.generators.causes().into_iter();
        let lost = lost.map(|detail| Cause { name: "generator lost".to_owned(), detail });
        let (balance, late) = (self.balance.as_deref(), |limit_ns| self.lags.beyond(limit_ns));
        let others = verdict::void_causes(plan, &self.store, balance, (&self.defects, &late));
        lost.chain(others).collect()
    }

    pub(super) fn notes(&self, plan: &Plan) -> Vec<String> {
        let mut notes = self.generators.notes();
        notes.extend(self.notes.iter().cloned());
        notes.extend(notes::of_figures(plan, &self.store, self.steady_ns(plan)));
        if self.amendments > 0 {
            let times = self.amendments;
            notes.push(format!(
                "the rate was changed while the run went on ({times} ×): figures of the steady \
                 phase are of all its rates together"
            ));
        }
        notes
    }

    fn evaluate(
        &self,
        threshold: &sojourn_metrics::Threshold,
        plan: &Plan,
        drain_ns: Option<u64>,
    ) -> ThresholdOutcome {
        threshold.evaluate(&self.store, &self.context(plan, drain_ns))
    }

    /// What thresholds are held against besides the figures.
    pub(super) fn context(&self, plan: &Plan, drain_ns: Option<u64>) -> ThresholdContext {
        ThresholdContext {
            steady_ns: self.steady_ns(plan),
            drain_ns,
            backlog_slope_per_s: self.levels.slope_per_s(),
        }
    }

    /// Kept journeys that whoever looks was not told of.
    pub(super) fn kept_dropped(&self) -> u64 {
        self.kept_dropped
    }

    /// What has made the run void so far.
    pub(super) fn defects(&self) -> &[String] {
        &self.defects
    }

    /// Length of the steady phase, so far while the load goes on.
    fn steady_ns(&self, plan: &Plan) -> u64 {
        let end_ns = self.load_end_ns().unwrap_or_else(now_ns);
        let warmup_ns = plan.load.iter().map(|load| load.warmup_ns).max().unwrap_or(0);
        end_ns.saturating_sub(self.start_ns + warmup_ns)
    }

    fn absorb(&mut self, snapshot: &Snapshot) {
        if let Err(gap) = self.store.apply(snapshot) {
            self.defects.push(gap);
        }
    }

    fn unwritable(&self, error: &std::io::Error) -> RunError {
        RunError::new(
            format!("cannot write the run file {}: {error}", self.path),
            "free some space; the file is readable up to its last whole second",
        )
    }
}

/// That some threads did not end, in words.
fn missing(what: &str, ended: usize, of: usize) -> Option<String> {
    (ended < of).then(|| {
        format!("{ended} of {of} {what} ended in time: the last figures of the others are missing")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_did_not_say_that_they_ended_are_a_defect() {
        assert_eq!(missing("taps", 2, 2), None);
        let text = missing("generators", 1, 3).unwrap();
        assert!(text.starts_with("1 of 3 generators ended in time"), "{text}");
    }
}
