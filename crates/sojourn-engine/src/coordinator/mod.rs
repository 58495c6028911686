//! The coordinator: the one place that owns the truth of a run.
//!
//! It launches taps, observer and generators, starts them at one instant, merges their figures once
//! a second into the run file, watches thresholds and health, ends the phases, passes the verdict.

mod book;
mod complete;
mod fleet;
mod following;
mod generators;
mod lags;
mod launch;
mod levels;
mod merging;
mod notes;
pub(crate) mod panic;
pub(crate) mod taps;
#[cfg(test)]
mod tests;

use std::{sync::Arc, sync::atomic::Ordering, time::Duration};

use sojourn_broker::Registry;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_metrics::{Snapshot, Store};
use sojourn_pace::Amendment;
use sojourn_plan::{Load, Model, Plan};
use sojourn_record::{AmendmentRecord, Cause, FleetRecord, Summary, Verdict};

pub use following::{Following, Onlooker, follow};
pub use merging::Merging;

use crate::{
    Attack, Processes, Progress, RunError, RunOptions, Sessions, Stop, Stretch,
    attack::room,
    follow::Kinds,
    link::ToGenerator,
    machine::Machine,
    once::once,
    preflight,
    progress::StartRate,
    rate::RateRequest,
    run_file::check_writable,
    steps::{Latest, StepRunner},
    work::Work,
};
use book::Book;
use complete::{AT_LEAST_NS, AT_MOST_NS, look_again_in};
use launch::Launched;

/// How often the start is put off.
const STARTS_MAX: usize = 5;
/// How long the last reports are waited for.
const LAST_WORDS_NS: u64 = 5 * SECOND_NS;

/// Makes a run: from the plan to a closed run file. `progress` is called about once a second.
///
/// Errs only when nothing was measured: a broker or target out of reach, a setup step refused, a
/// run file that cannot be written. Whatever happens later is in the summary.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    registry: &Registry,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Summary, RunError> {
    let plan = Arc::new(if options.once { once(plan, |_| true) } else { plan.clone() });
    preflight::raise_descriptors();
    preflight::reach_targets(&plan, &options.client)?;
    Ok(conduct(&plan, options, Work::Journeys, registry, stop, progress)?.summary)
}

/// The smallest run: one journey of each kind, but for poisoned ones. Targets are not tried first.
pub(crate) fn probe(
    plan: &Plan,
    options: &RunOptions,
    registry: &Registry,
    stop: &Stop,
) -> Result<Ended, RunError> {
    let plan = Arc::new(once(plan, |journey| journey.poison.is_none()));
    conduct(&plan, options, Work::Journeys, registry, stop, &mut |_| {})
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How it went.
    pub summary: Summary,
    /// All its figures, merged: what its run file holds.
    pub figures: Store,
}

/// Makes an attack: like [`run`], of an attack's plan. A target out of reach is no error here: its
/// hits fail, and are counted.
pub fn attack(
    plan: &Plan,
    options: &RunOptions,
    attack: Attack,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Ended, RunError> {
    let work = Work::Attack(Arc::new(attack));
    conduct(&Arc::new(plan.clone()), options, work, &Registry::default(), stop, progress)
}

/// Lets clients walk through their sessions: like [`run`], of a plan made of a session script.
/// `registry` has the connectors of what they publish and wait for.
pub fn run_sessions(
    plan: &Plan,
    options: &RunOptions,
    (sessions, registry): (Sessions, &Registry),
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Ended, RunError> {
    preflight::raise_descriptors();
    let work = Work::Sessions(Arc::new(sessions));
    let options = options.of_sessions();
    conduct(&Arc::new(plan.clone()), &options, work, registry, stop, progress)
}

/// Before an attack: whether this machine has descriptors, ports and memory for it. Warnings, or a
/// refusal where it cannot be made.
pub fn attack_room(
    plan: &Plan,
    options: &RunOptions,
    attack: &Attack,
) -> Result<Vec<String>, RunError> {
    let machine = Machine::this(preflight::raise_descriptors());
    let processes = match &options.processes {
        // What other machines allow shows there.
        Some(Processes { fleet: Some(_), .. }) => return Ok(Vec::new()),
        Some(processes) => processes.count,
        None => 1,
    };
    room::check(plan, attack, &options.client, (processes, options.threads), &machine)
}

fn conduct(
    plan: &Arc<Plan>,
    options: &RunOptions,
    work: Work,
    registry: &Registry,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Ended, RunError> {
    let keeps_the_book = work.keeps_the_book();
    check_writable(options.run_file.as_deref())?;
    let latest = Latest::new(vec![None; plan.variables.len()]);
    let measured = setup(plan, options, &latest)
        .and_then(|()| launch::launch(plan, options, work, registry, &latest, stop))
        .and_then(|mut launched| {
            let book = begin(plan, options, &mut launched)?;
            let coordinator = Coordinator {
                plan,
                keeps_the_book,
                kinds: None,
                launched,
                book,
                stop,
                stop_told: false,
            };
            coordinator.conduct(progress)
        });
    // Whatever failed: what was set up is taken down again.
    let notes = teardown(plan, options, latest.values());
    let Measured { mut summary, book, launched } = match measured {
        Ok(measured) => measured,
        Err(error) => return Err(error.and(&notes)),
    };
    summary.notes.extend(notes);
    let figures = book.finish(&summary)?;
    launched.join();
    Ok(Ended { summary, figures })
}

/// Runs the setup steps; what each extracts is in `latest` even if a later one fails.
fn setup(plan: &Plan, options: &RunOptions, latest: &Latest) -> Result<(), RunError> {
    if plan.setup.is_empty() {
        return Ok(());
    }
    let mut runner = StepRunner::new(plan, options, latest.values())?;
    for step in &plan.setup {
        let ran = runner.run(step, 0);
        latest.set(runner.variables.clone());
        ran.map_err(|why| {
            RunError::new(format!("setup failed: {why}"), "mend the step, or the system it asks")
        })?;
    }
    Ok(())
}

/// Sets the start and makes the run file, which names it. A slow disk or a starved machine puts the
/// start off: what making the file took is nobody's lag.
fn begin(plan: &Plan, options: &RunOptions, launched: &mut Launched) -> Result<Book, RunError> {
    launched.set_start();
    let mut book = Book::create(plan, options, launched)?;
    for _ in 0..STARTS_MAX {
        if !launched.start_is_near() {
            break;
        }
        launched.set_start();
        book = Book::create(plan, options, launched)?;
    }
    Ok(book)
}

/// A run that is over, but for its teardown and the end of its file.
struct Measured {
    summary: Summary,
    book: Book,
    launched: Launched,
}

struct Coordinator<'a> {
    plan: &'a Plan,
    /// The generators keep the whole book themselves.
    keeps_the_book: bool,
    /// Where journeys come from that others begin.
    kinds: Option<Arc<Kinds>>,
    launched: Launched,
    book: Book,
    stop: &'a Stop,
    stop_told: bool,
}

impl Coordinator<'_> {
    fn conduct(mut self, progress: &mut dyn FnMut(&Progress<'_>)) -> Result<Measured, RunError> {
        self.launched.start();
        let warmup_ns = self.plan.load.iter().map(|load| load.warmup_ns).max().unwrap_or(0);
        let start_ns = self.launched.start_ns;
        // The second that is told of next ends here.
        let mut second_ns = start_ns + SECOND_NS;
        let mut drain_until_ns = None;
        let mut aborted = None;
        let mut rate = StartRate::new(start_ns);
        loop {
            self.hear(look_again_in(second_ns, drain_until_ns.is_some()));
            let now = now_ns();
            let is_draining = drain_until_ns.is_some();
            if self.is_to_be_told(second_ns, now) {
                let interval = self.book.second(is_draining || now > start_ns + warmup_ns)?;
                aborted = aborted.or_else(|| self.book.failed_abort(self.plan));
                let elapsed_ns = now - start_ns;
                let stretch = match (is_draining, elapsed_ns < warmup_ns) {
                    (true, _) => Stretch::Drain,
                    (false, true) => Stretch::WarmUp,
                    (false, false) => Stretch::Steady,
                };
                let rate_per_s = rate.per_s(self.book.started(), self.book.started_until_ns());
                let told = self.progress(stretch, now, rate_per_s, &interval);
                let in_flight = told.in_flight;
                progress(&told);
                self.launched.give_back(interval);
                if stretch == Stretch::Steady {
                    self.book.level(elapsed_ns as f64 / 1e9, in_flight);
                }
                let beyond_ns = now.saturating_sub(second_ns + AT_LEAST_NS);
                second_ns += SECOND_NS * (1 + beyond_ns / SECOND_NS);
            }
            if (self.stop.graceful() || aborted.is_some()) && !self.stop_told {
                self.stop_told = true;
                self.launched.tell_generators(&ToGenerator::StopArrivals);
            }
            self.amend(now, drain_until_ns.is_some() || self.stop_told)?;
            if drain_until_ns.is_none() && self.book.arrivals_done() {
                self.book.checkpoint_with_second();
                drain_until_ns = Some(now.max(start_ns) + self.drain_ns());
            }
            let is_drained = drain_until_ns.is_some() && self.is_drained();
            let is_cut_off = drain_until_ns.is_some_and(|until_ns| now >= until_ns);
            if is_drained || is_cut_off || self.stop.at_once() || self.book.is_void_early() {
                break;
            }
        }
        let drained = self.is_drained();
        self.shut_down();
        let interval = self.book.second(true)?;
        progress(&self.progress(Stretch::Over, now_ns(), 0.0, &interval));
        Ok(self.summarise(drained, aborted))
    }

    /// Whether the second that ends here is to be told of: as soon as its figures are all there,
    /// if they are in time.
    fn is_to_be_told(&self, second_ns: u64, now: u64) -> bool {
        let is_complete = || self.book.is_complete_until(second_ns, self.launched.generators());
        now >= second_ns + AT_MOST_NS || now >= second_ns + AT_LEAST_NS && is_complete()
    }

    /// How long the drain may take; of journeys that others begin, until the last one is given up.
    fn drain_ns(&self) -> u64 {
        match &self.kinds {
            Some(kinds) => kinds.observed_ns_max().saturating_add(SECOND_NS),
            None => self.plan.load.iter().map(|load| load.drain_ns).max().unwrap_or(0),
        }
    }

    /// Decides on what was asked of the rate: from an instant that every generator will hear of in
    /// time.
    fn amend(&mut self, now: u64, is_over: bool) -> Result<(), RunError> {
        let control = self.launched.options.rate.clone();
        while let Some(RateRequest { rate_factor, by }) = control.take() {
            let start_ns = self.launched.start_ns;
            let ahead_ns = fleet::amend_ahead_ns(&fleet::members(&self.launched.options));
            let from_ns = now.max(start_ns) - start_ns + ahead_ns.unwrap_or(0);
            let is_open = |load: &Load| matches!(load.model, Model::Open { .. });
            let why = match () {
                () if is_over => Some("the load had ended"),
                () if from_ns >= planned_ns(self.plan) => Some("the load was about to end"),
                () if !self.plan.load.iter().any(is_open) => Some("users keep their own pace"),
                () if ahead_ns.is_none() => Some("a generator might not hear of it in time"),
                () => None,
            };
            if let Some(why) = why {
                self.book.note(format!("{by} asked for {rate_factor} × the plan's rate: {why}"));
                continue;
            }
            self.launched.tell_generators(&ToGenerator::Amend(Amendment { from_ns, rate_factor }));
            self.book.amend(&AmendmentRecord { from_ns, rate_factor, by })?;
            control.decided(rate_factor);
        }
        Ok(())
    }

    /// Takes what threads report, waiting up to `wait` for the first.
    fn hear(&mut self, wait: Duration) {
        self.launched.hear(wait, &mut self.book);
    }

    /// Whether the ledger has applied everything up to the last arrival and nothing is in flight.
    fn is_drained(&self) -> bool {
        let since_ns = match self.keeps_the_book {
            false => self.book.arrivals_done_ns(),
            true => match self.book.generators_idle_ns() {
                None => return false,
                // Without taps nothing is in the ledger.
                Some(_) if self.launched.taps() == 0 => return true,
                Some(idle_ns) => idle_ns,
            },
        };
        let state = &self.launched.ledger;
        let watermark_ns = state.watermark_ns.load(Ordering::SeqCst);
        watermark_ns > since_ns && state.in_flight.load(Ordering::SeqCst) == 0
    }

    /// Ends generators, lets taps linger so that duplicates are seen, ends taps and the book.
    fn shut_down(&mut self) {
        let linger_ns = if self.stop.at_once() || self.launched.taps() == 0 {
            0
        } else {
            self.launched.options.linger_ns
        };
        let linger_until_ns = now_ns() + linger_ns;
        while now_ns() < linger_until_ns && !self.stop.at_once() {
            self.hear(Duration::from_millis(10));
        }
        self.launched.tell_generators(&ToGenerator::Abort);
        self.launched.stop_sources();
        let (generators, taps) = (self.launched.generators(), self.launched.taps());
        let give_up_ns = now_ns() + LAST_WORDS_NS + self.launched.patience_ns;
        // The book may be closed while sources let go of their connections, or the other way round.
        loop {
            let has_ended = self.book.sources_ended(generators, taps);
            let now = now_ns();
            if has_ended || now >= give_up_ns {
                self.launched.ledger.closing.store(true, Ordering::SeqCst);
            }
            let is_over = has_ended && self.book.is_closed();
            if is_over || now >= give_up_ns + LAST_WORDS_NS {
                break;
            }
            self.hear(Duration::from_millis(10));
        }
        // The poller's last second may come after the book's close.
        while !self.launched.hear_poller(&mut self.book) && now_ns() < give_up_ns + LAST_WORDS_NS {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.hear(Duration::ZERO);
        self.book.check_ends(generators, taps);
    }

    fn summarise(self, drained: bool, aborted: Option<String>) -> Measured {
        let start_ns = self.launched.start_ns;
        let end_ns = now_ns();
        let arrivals_end_ns = self.book.arrivals_end_ns();
        let last_end_ns = self.launched.ledger.last_end_ns.load(Ordering::Relaxed);
        let drain_ns = drained.then(|| last_end_ns.saturating_sub(arrivals_end_ns));
        let thresholds = self.book.thresholds(self.plan, drain_ns);
        let mut causes = self.book.void_causes(self.plan);
        let verdict = if !causes.is_empty() {
            Verdict::Void
        } else if thresholds.iter().all(|outcome| outcome.held) {
            Verdict::Pass
        } else {
            Verdict::Fail
        };
        causes.extend(thresholds.iter().filter(|outcome| !outcome.held).map(|outcome| Cause {
            name: "threshold".into(),
            detail: outcome.threshold.text.clone(),
        }));
        let mut notes = self.book.notes(self.plan);
        notes
            .extend(aborted.map(|text| format!("the run was ended early by its threshold {text}")));
        if let Some(processes) = &self.launched.options.processes {
            notes.push(notes::of_processes(processes.count, self.launched.options.threads));
        }
        let fleet = self.fleet(&mut notes);
        notes.extend(
            self.launched
                .options
                .client
                .tls
                .insecure
                .then(|| "servers' certificates were not verified (--insecure)".to_owned()),
        );
        let summary = Summary {
            verdict,
            causes,
            thresholds,
            interrupted: self.stop.graceful(),
            arrivals_end_ns: arrivals_end_ns.saturating_sub(start_ns),
            load_end_ns: self.book.load_end_ns().unwrap_or(end_ns).saturating_sub(start_ns),
            end_ns: end_ns.saturating_sub(start_ns),
            drain_ns,
            notes,
            fleet,
        };
        Measured { summary, book: self.book, launched: self.launched }
    }

    /// How generators that had dialled in kept together; a few words of it are notes.
    fn fleet(&self, notes: &mut Vec<String>) -> Option<FleetRecord> {
        self.launched.options.processes.as_ref()?.fleet.as_ref()?;
        let states = fleet::members(&self.launched.options);
        let record = fleet::record(&states, self.book.generators());
        notes.extend(fleet::notes(&states, &record));
        Some(record)
    }

    fn progress<'a>(
        &'a self,
        stretch: Stretch,
        now: u64,
        rate_per_s: f64,
        interval: &'a [Snapshot],
    ) -> Progress<'a> {
        let start_ns = self.launched.start_ns;
        let state = &self.launched.ledger;
        let started = self.book.started();
        let (completed, failed, in_flight) = match self.keeps_the_book {
            true => self.book.hits(),
            false => (
                state.completed.load(Ordering::Relaxed),
                state.failed.load(Ordering::Relaxed),
                state.in_flight.load(Ordering::Relaxed),
            ),
        };
        Progress {
            stretch,
            elapsed_ns: now.saturating_sub(start_ns),
            planned_ns: planned_ns(self.plan),
            started,
            completed,
            in_flight,
            failed,
            rate_per_s,
            lag_p99_ns: self.book.lag_p99_ns(),
            store: self.book.store(),
            interval,
            generators: self.launched.generators() as u32,
            kept_dropped: self.book.kept_dropped(),
            defects: self.book.defects(),
            context: self.book.context(self.plan, None),
            start_ns,
        }
    }
}

/// Length of the load without drain, nanoseconds.
fn planned_ns(plan: &Plan) -> u64 {
    let of_load = |load: &Load| match &load.model {
        Model::Open { .. } | Model::Closed { .. } => load.warmup_ns + load.steady_ns,
    };
    plan.load.iter().map(of_load).max().unwrap_or(0)
}

/// Runs the teardown steps whatever happened; what failed is said.
fn teardown(plan: &Plan, options: &RunOptions, variables: Vec<Option<Box<str>>>) -> Vec<String> {
    if plan.teardown.is_empty() {
        return Vec::new();
    }
    match StepRunner::new(plan, options, variables) {
        Err(error) => vec![format!("teardown could not run: {error}")],
        Ok(mut runner) => plan
            .teardown
            .iter()
            .filter_map(|step| runner.run(step, 0).err())
            .map(|why| format!("teardown failed: {why}"))
            .collect(),
    }
}
