//! Conducting a test: users made, `setup`, scenarios, `teardown`, what it came to.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use sojourn_clock::{Anchor, MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::metrics::{Registry, Shard, ShardOptions, TagSets, Totals, builtin};
use sojourn_k6::thresholds::{Moment, Thresholds};

use super::SAMPLES_MAX;
use super::answers::{LOOK_NS, Outside};
use super::ask::Stage;
use super::client;
use super::crew::Crew;
use super::journeys::Journeying;
use super::outputs::{self, Output};
use super::settle::settle;
use super::test::{Ended, Plan, RunError, Seen, SummaryData, View};
use super::threads::Equipment;
use super::verdict::{Cause, verdict};
use crate::health::{self, Told};
use crate::settings::{Counted, Role, Settings};
use crate::thread::{Member, Order, Report};

/// How often figures are looked at.
const VIEW_NS: u64 = SECOND_NS;
const THRESHOLDS_NS: u64 = 2 * SECOND_NS;

/// Conducts the test. `view` is called once a second; `stop` tells whether it is to end: 1 asks for
/// an end with `teardown`, 2 for an end at once.
pub fn conduct(
    plan: Plan,
    stop: &dyn Fn() -> u8,
    view: &mut dyn FnMut(&Seen<'_>),
    summary_data: SummaryData<'_>,
) -> Result<Ended, RunError> {
    let mut outputs = plan.outputs;
    let role = if plan.processes.is_some() { Role::Conducts } else { Role::Whole };
    let options = plan.collected.options.to_string();
    let (settings, thresholds) =
        settle(plan.collected, &plan.consolidated, plan.system_tags, plan.no_thresholds, role)?;
    let count = if plan.processes.is_some() { 1 } else { plan.threads.max(1) };
    let (journeys, sources) = Journeying::prepare(&settings, plan.journeys, count)?;
    let registry = settings.registry.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let samples_max = if outputs.is_empty() { 0 } else { SAMPLES_MAX };
    let shard = ShardOptions { is_exact: plan.exact, is_full: plan.is_full, samples_max };
    let equipment = Equipment {
        settings: Arc::clone(&settings),
        client: client::config(&settings.options, &settings.tls, &settings.proxies),
        matcher: registry.matcher(),
        shard,
    };
    let wrong = |message: String| RunError::new(ExitCode::GenericTimeout, message);
    let processes = plan.processes.as_ref().map(|processes| (processes, options.as_str()));
    let crew = Crew::start(count, &equipment, sources, processes).map_err(wrong)?;
    let whole = Arc::clone(&settings);
    let outside =
        Outside::new(plan.asks, settings.options.paused.unwrap_or(false), &settings.scenarios);
    let mut conductor = Conductor {
        outside,
        lingers: plan.lingers,
        sets: TagSets::new(registry.matcher()),
        shard: Shard::new(shard),
        totals: Totals::default(),
        anchor: settings.anchor,
        is_strict: plan.strict,
        told: Told::by(crew.names()),
        settings,
        journeys,
        crew,
        thresholds,
        registry,
        outputs: &mut outputs,
        stop,
        view,
        pending: VecDeque::new(),
    };
    let ended = conductor.run(plan.has_summary, summary_data);
    whole.journeys.members.leave();
    #[cfg(feature = "kafka")]
    whole.kafka.leave_groups();
    ended
}

pub(super) struct Conductor<'a> {
    pub(super) settings: Arc<Settings>,
    /// Who may ask for things meanwhile.
    pub(super) outside: Outside,
    /// The test stays after its end.
    lingers: bool,
    /// Dropped before the threads, which it asks for their last words.
    journeys: Option<Journeying>,
    pub(super) crew: Crew,
    pub(super) totals: Totals,
    pub(super) thresholds: Thresholds,
    pub(super) registry: Registry,
    /// Samples of the conductor's own: gauges of users.
    pub(super) shard: Shard,
    pub(super) sets: TagSets,
    pub(super) anchor: Anchor,
    is_strict: bool,
    /// Whether those who make the load keep up.
    told: Told,
    pub(super) outputs: &'a mut Vec<Output>,
    pub(super) stop: &'a dyn Fn() -> u8,
    view: &'a mut dyn FnMut(&Seen<'_>),
    /// Reports that came while another was waited for.
    pending: VecDeque<(Member, Report)>,
}

/// Whose accounts are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    ForAll,
    /// Not for a process whose connection is cut: it may be back in half a minute.
    ForWhoIsHeardOf,
}

/// How `setup`, scenarios and `teardown` went.
#[derive(Default)]
struct Course {
    setup_data: Option<String>,
    cause: Option<Cause>,
    /// From the scenarios' start to their end, ns.
    elapsed_ns: u64,
    failure: Option<RunError>,
}

impl Conductor<'_> {
    fn run(&mut self, has_summary: bool, summary_data: SummaryData<'_>) -> Result<Ended, RunError> {
        self.initialise()?;
        self.wait_for_resumption()?;
        if let Some(journeys) = &mut self.journeys {
            journeys.begin()?;
        }
        let start_ns = now_ns() + MILLISECOND_NS;
        let mut course = match self.set_up() {
            Ok(setup_data) => self.play(setup_data)?,
            // What `setup` has done before is told all the same.
            Err(failure) => Course { failure: Some(failure), ..Course::default() },
        };
        if course.elapsed_ns == 0 {
            course.elapsed_ns = now_ns().saturating_sub(start_ns);
        }
        let Course { setup_data, cause, elapsed_ns, failure } = course;
        let journeys = self.finish_journeys()?;
        self.collect_accounts()?;
        // It may have been lost after the scenarios.
        let lost = self.crew.lost_for_good().map(|lost| Cause::Lacks(lost.to_owned()));
        let cause = cause.or(lost);
        let moment = if self.is_strict { Moment::EndStrict } else { Moment::End };
        let failed = self.thresholds.evaluate(&self.totals, elapsed_ns, moment).failed;
        self.outside.stage = Stage::Ended;
        self.outside.elapsed_ns = Some(elapsed_ns);
        if self.lingers {
            self.linger()?;
        }
        let fields = failure.as_ref().map(|failure| failure.fields.clone()).unwrap_or_default();
        let is_marked = self.settings.progress.failed.get().is_some();
        let (exit, reason) = verdict(cause, failure, &failed, is_marked);
        let view = self.figures(elapsed_ns);
        let due = view.begun + view.dropped;
        let mut ended = Ended {
            exit,
            reason,
            reason_fields: fields,
            registry: self.registry.clone(),
            totals: self.totals.clone(),
            thresholds: self.thresholds.clone(),
            elapsed_ns,
            view,
            generator: health::verdict(&self.told, &self.totals, due, view.dropped),
            scenarios: self.settings.scenarios.clone(),
            setup_data,
            summary: None,
            journeys,
            outputs_failed: outputs::end(self.outputs, self.totals.samples_refused()),
        };
        if has_summary && self.exports("handleSummary") {
            ended.summary = self.summarise(summary_data(&ended));
        }
        Ok(ended)
    }

    /// Waits until nothing is in flight; what came of the journeys.
    fn finish_journeys(
        &mut self,
    ) -> Result<Option<Result<sojourn_engine::Ended, String>>, RunError> {
        let Some(journeys) = self.journeys.take() else { return Ok(None) };
        journeys.over();
        while !journeys.has_ended() {
            if (self.stop)() > 1 {
                journeys.give_up();
            }
            self.account_for_journeys(&journeys);
            self.answer()?;
            // Threads go on meanwhile, and may have something to say.
            self.next(LOOK_NS)?;
        }
        self.account_for_journeys(&journeys);
        Ok(Some(journeys.finish()))
    }

    /// Scenarios and `teardown`.
    fn play(&mut self, setup_data: Option<String>) -> Result<Course, RunError> {
        // Nobody else sets it.
        self.settings.setup_data.set(setup_data.clone()).ok();
        if self.crew.hand_setup_data() {
            // It may be large: who has answered after it has it.
            self.refresh(Waits::ForAll)?;
        }
        let start_ns = now_ns() + self.crew.start_within_ns();
        self.outside.stage = Stage::Running;
        let cause = self.scenarios(start_ns)?;
        let elapsed_ns = now_ns().saturating_sub(start_ns);
        if cause.is_none() && self.settings.progress.completed.load(Ordering::Relaxed) == 0 {
            let told =
                "No script iterations fully finished, consider making the test duration longer";
            self.settings.console.warn(told);
        }
        let mut failure = None;
        if !self.settings.options.no_teardown.unwrap_or(false) {
            self.outside.stage = Stage::Teardown;
            failure = self.tear_down_now(setup_data.clone()).err();
        }
        Ok(Course { setup_data, cause, elapsed_ns, failure })
    }

    /// When the scenarios began, if they have.
    pub(super) fn begun_ns(&self) -> Option<u64> {
        Some(self.settings.progress.start_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
    }

    /// Waits until all users are there.
    fn initialise(&mut self) -> Result<(), RunError> {
        let mut waited_for = self.crew.members();
        while !waited_for.is_empty() {
            if let Some((member, Report::Ready)) = self.next(LOOK_NS)? {
                waited_for.remove(&member);
                continue;
            }
            self.answer()?;
            if let Some(stopped) = self.stopped_early() {
                return Err(stopped);
            }
            let lost = self.crew.lost().map(str::to_owned);
            if let Some(lost) = lost.or_else(|| self.crew.late(&waited_for)) {
                return Err(RunError::new(ExitCode::Panic, lost));
            }
        }
        self.crew.ready();
        Ok(())
    }

    /// Runs all scenarios to their end; why they ended early, if they did.
    fn scenarios(&mut self, start_ns: u64) -> Result<Option<Cause>, RunError> {
        self.settings.progress.start_ns.store(start_ns, Ordering::Relaxed);
        self.crew.tell_all(|| Order::Start { start_ns });
        let mut cause = None;
        let (mut running, mut is_urged) = (self.crew.members(), false);
        let (mut view_ns, mut thresholds_ns) = (start_ns + VIEW_NS, start_ns + THRESHOLDS_NS);
        while !running.is_empty() {
            let now_ns = now_ns();
            if now_ns >= view_ns {
                view_ns += VIEW_NS;
                self.show(now_ns, start_ns);
            }
            if now_ns >= thresholds_ns {
                thresholds_ns += THRESHOLDS_NS;
                self.refresh(Waits::ForWhoIsHeardOf)?;
                let elapsed_ns = now_ns.saturating_sub(start_ns);
                let looked = self.thresholds.evaluate(&self.totals, elapsed_ns, Moment::Running);
                if looked.is_abort && cause.is_none() {
                    cause = Some(Cause::Thresholds(looked.failed));
                    self.crew.tell_all(|| Order::Stop);
                }
            }
            self.answer()?;
            if cause.is_none() {
                cause = self.early_end();
                if cause.is_some() {
                    self.crew.tell_all(|| Order::Stop);
                }
            }
            if !is_urged && (self.stop)() > 1 {
                is_urged = true;
                self.crew.tell_all(|| Order::Stop);
            }
            if let Some((member, Report::Finished)) = self.next(LOOK_NS)? {
                running.remove(&member);
            }
            self.crew.retain(&mut running);
        }
        let now_ns = now_ns();
        if now_ns >= view_ns {
            // The end came with the second.
            self.show(now_ns, start_ns);
        } else {
            let shown = self.figures(now_ns.saturating_sub(start_ns));
            self.tell(shown);
        }
        // The script may have ended the test in its last iteration.
        Ok(cause.or_else(|| self.aborted()))
    }

    fn aborted(&self) -> Option<Cause> {
        self.settings.progress.aborted.get().cloned().map(Cause::Aborted)
    }

    fn early_end(&self) -> Option<Cause> {
        if (self.stop)() > 0 {
            return Some(Cause::Signal);
        }
        if self.outside.is_stopped {
            return Some(Cause::Asked);
        }
        let lost = || self.crew.lost_for_all().map(|lost| Cause::Lost(lost.to_owned()));
        self.aborted().or_else(lost)
    }

    /// Takes in what all threads have accounted for.
    pub(super) fn collect_accounts(&mut self) -> Result<(), RunError> {
        self.refresh(Waits::ForAll)?;
        let (delta, samples) = (self.shard.take(), self.shard.take_samples(Vec::new()));
        self.totals.merge(delta);
        self.write(&samples);
        Ok(())
    }

    /// Waits for everybody's account. Whatever else they report meanwhile is kept for later.
    fn refresh(&mut self, waits: Waits) -> Result<(), RunError> {
        self.crew.tell_all(|| Order::HandOver);
        let mut missing = self.crew.members();
        let mut others = Vec::new();
        while !missing.is_empty() {
            match self.next(SECOND_NS)? {
                Some((member, Report::Account { is_asked: true, .. })) => {
                    missing.remove(&member);
                }
                Some((_, Report::Account { .. })) | None => {}
                Some(other) => others.push(other),
            }
            self.crew.retain(&mut missing);
            if waits == Waits::ForWhoIsHeardOf {
                // What the others have to tell comes when they do, and before their end.
                self.crew.retain_heard_of(&mut missing);
            }
        }
        self.pending.extend(others);
        Ok(())
    }

    /// The next report, accounts already taken in.
    pub(super) fn next(&mut self, within_ns: u64) -> Result<Option<(Member, Report)>, RunError> {
        let next = match self.pending.pop_front() {
            Some(report) => Some(report),
            None => self
                .crew
                .next(within_ns)
                .map_err(|message| RunError::new(ExitCode::Panic, message))?,
        };
        match next {
            Some((member, Report::Account { account, samples, is_asked })) => {
                if let Some(account) = account {
                    self.totals.merge(account.delta);
                    self.told.take_in(member, account.noticed);
                }
                self.write(&samples);
                // Told on, for who counts them.
                let taken_in = Report::Account { account: None, samples: Vec::new(), is_asked };
                Ok(Some((member, taken_in)))
            }
            Some((_, Report::Failed(message))) => {
                Err(RunError::new(ExitCode::ScriptException, message))
            }
            other => Ok(other),
        }
    }

    fn write(&mut self, samples: &[sojourn_k6::metrics::Sample]) {
        if samples.is_empty() {
            return;
        }
        for output in self.outputs.iter_mut() {
            output.write(samples, &self.registry, &self.thresholds);
        }
    }

    /// Samples of the users' number, and the caller's view.
    fn show(&mut self, now_ns: u64, start_ns: u64) {
        if let Some(journeys) = self.journeys.take() {
            self.account_for_journeys(&journeys);
            self.journeys = Some(journeys);
        }
        let shown = self.figures(now_ns.saturating_sub(start_ns));
        let pairs = self.settings.run_tags();
        let empty = Arc::clone(self.sets.empty());
        let tags = self.sets.with(&empty, &pairs);
        let at_ns = self.anchor.unix_ns_at(now_ns);
        self.shard.add(builtin::VUS, &tags, at_ns, shown.vus as f64);
        self.shard.add(builtin::VUS_MAX, &tags, at_ns, shown.vus_max as f64);
        let (delta, samples) = (self.shard.take(), self.shard.take_samples(Vec::new()));
        self.totals.merge(delta);
        self.write(&samples);
        self.tell(shown);
    }

    /// Tells the caller how it goes.
    fn tell(&mut self, view: View) {
        let (totals, thresholds) = (&self.totals, &self.thresholds);
        (self.view)(&Seen { view, totals, thresholds });
    }

    pub(super) fn figures(&self, elapsed_ns: u64) -> View {
        let Counted { begun, completed, interrupted, dropped, active, initialised, exceptions } =
            self.settings.counted();
        let (vus, vus_max) = (active, initialised);
        View { elapsed_ns, vus, vus_max, begun, completed, interrupted, dropped, exceptions }
    }
}
