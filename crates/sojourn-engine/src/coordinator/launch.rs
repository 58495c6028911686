//! Making the threads of a run and the channels between them.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use sojourn_broker::{Registry, Router};
use sojourn_clock::{Anchor, MILLISECOND_NS, now_ns};
use sojourn_ledger::{Batch, SourceId};
use sojourn_metrics::Snapshot;
use sojourn_plan::Plan;

use super::book::Book;
use crate::{
    RunError, RunOptions,
    generator::{self, GeneratorSpec},
    link::{FromGenerator, ToGenerator},
    observer::{
        FromObserver, GeneratorEnd, LedgerState, Observer, ObserverSpec, TapReport, TapSpec,
        run_tap,
    },
    poller::{self, PollSender, PollerSpec},
    refresh,
};

/// Batches on their way to the ledger, of all sources together.
const BATCHES_MAX: usize = 16_384;
/// Reports on their way to the coordinator: minutes of seconds.
const REPORTS_MAX: usize = 4_096;
/// Kept journeys come at once at the end.
const KEPT_MAX: usize = 65_536;
/// Wake-ups on their way to a generator.
const WAKE_UPS_MAX: usize = 262_144;
/// From the moment everything stands to the first arrival: taps look for what earlier runs left.
const SETTLE_NS: u64 = 250 * MILLISECOND_NS;

/// A run's threads, ready to start.
pub(super) struct Launched {
    pub(super) options: RunOptions,
    pub(super) start_ns: u64,
    pub(super) anchor: Anchor,
    pub(super) ledger: Arc<LedgerState>,
    /// Channels with what their taps listen to.
    pub(super) channels: Vec<(String, String)>,
    stop: Arc<AtomicBool>,
    to_generators: Vec<Sender<ToGenerator>>,
    wakers: Vec<sojourn_http::Waker>,
    spares: Vec<Sender<Box<Snapshot>>>,
    tap_starts: Vec<Sender<u64>>,
    poll_start: Option<Sender<u64>>,
    from_generators: Receiver<(u32, FromGenerator)>,
    from_observer: Receiver<FromObserver>,
    from_taps: Receiver<TapReport>,
    from_poller: Receiver<Box<Snapshot>>,
    refresh_failures: Receiver<String>,
    threads: Vec<JoinHandle<()>>,
}

/// Whether the run file can be made, before anything else happens.
pub(super) fn check_writable(path: &Path) -> Result<(), RunError> {
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map(drop)
        .map_err(|error| {
            RunError::new(
                format!("cannot write the run file {}: {error}", path.display()),
                "choose another place with --output",
            )
        })
}

/// Opens the taps, then makes every thread; nothing is sent before [`Launched::start`].
pub(super) fn launch(
    plan: &Arc<Plan>,
    options: &RunOptions,
    registry: &Registry,
    variables: &[Option<Box<str>>],
) -> Result<Launched, RunError> {
    let mut taps = Vec::new();
    let mut channels = Vec::new();
    for channel in &plan.channels {
        let mut tap = registry.open(channel)?;
        let info = tap.open()?;
        channels.push((channel.name.clone(), info.listens_to));
        taps.push(tap);
    }
    let (batches_sender, batches) = bounded(BATCHES_MAX);
    let (generator_sender, from_generators) = bounded(REPORTS_MAX);
    let (observer_sender, from_observer) = bounded(KEPT_MAX);
    let (tap_sender, from_taps) = bounded(REPORTS_MAX);
    let (poller_sender, from_poller) = bounded(REPORTS_MAX);
    let (failure_sender, refresh_failures) = bounded(100);
    let mut launched = Launched {
        options: options.clone(),
        start_ns: now_ns() + SETTLE_NS,
        anchor: Anchor::now(),
        ledger: Arc::default(),
        channels,
        stop: Arc::default(),
        to_generators: Vec::new(),
        wakers: Vec::new(),
        spares: Vec::new(),
        tap_starts: Vec::new(),
        poll_start: None,
        from_generators,
        from_observer,
        from_taps,
        from_poller,
        refresh_failures,
        threads: Vec::new(),
    };
    let (polls, poll_tasks) = poller::channel(plan);
    let ends =
        launched.generators_of(plan, variables, &batches_sender, &generator_sender, &polls)?;
    let mut source = options.threads as u16;
    let mut sources: Vec<_> = (0..source)
        .map(|index| (SourceId(index), format!("generator {index}")))
        .collect();
    for (index, tap) in taps.into_iter().enumerate() {
        let channel = plan.channels[index].name.clone();
        sources.push((SourceId(source), format!("tap {channel}")));
        let (start_sender, start) = bounded(1);
        launched.tap_starts.push(start_sender);
        let spec = TapSpec {
            router: Router::new(plan, index, &options.run_id),
            channel,
            tap,
            source: SourceId(source),
            facts: batches_sender.clone(),
            reports: tap_sender.clone(),
            stop: Arc::clone(&launched.stop),
            start,
            narrator: options.narrator.clone(),
        };
        launched.spawn(&format!("tap-{index}"), move || run_tap(spec))?;
        source += 1;
    }
    if let Some(tasks) = poll_tasks {
        sources.push((SourceId(source), "poller".to_owned()));
        let (start_sender, start) = bounded(1);
        launched.poll_start = Some(start_sender);
        let spec = PollerSpec {
            plan: Arc::clone(plan),
            options: options.clone(),
            source: SourceId(source),
            facts: batches_sender.clone(),
            snapshots: poller_sender,
            tasks,
            start,
            stop: Arc::clone(&launched.stop),
        };
        let defects = observer_sender.clone();
        launched.spawn("poller", move || {
            if let Err(why) = poller::run(spec) {
                // The run is void; there is room, or it is being told so already.
                let _ignored = defects.try_send(FromObserver::Void(why));
            }
        })?;
        source += 1;
    }
    launched.observe(
        plan,
        sources,
        u32::from(source),
        batches,
        observer_sender,
        ends,
    )?;
    launched.refresh(plan, variables, failure_sender)?;
    Ok(launched)
}

impl Launched {
    /// Lets everything start at one instant.
    pub(super) fn start(&self) {
        let at_ns = self.start_ns;
        // Each of these channels has room for its one message, and a reader.
        for tap in &self.tap_starts {
            let _ignored = tap.send(at_ns);
        }
        if let Some(poller) = &self.poll_start {
            let _ignored = poller.send(at_ns);
        }
        self.tell_generators(&ToGenerator::Start { at_ns });
    }

    pub(super) fn tell_generators(&self, message: &ToGenerator) {
        for (generator, waker) in self.to_generators.iter().zip(&self.wakers) {
            // One that has ended is told nothing.
            let _ignored = generator.send(message.clone());
            waker.wake();
        }
    }

    /// Asks taps and poller to end.
    pub(super) fn stop_sources(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    pub(super) fn generators(&self) -> usize {
        self.to_generators.len()
    }

    pub(super) fn taps(&self) -> usize {
        self.tap_starts.len()
    }

    /// Takes every report there is into the book, waiting up to `wait` for a first one.
    pub(super) fn hear(&self, wait: Duration, book: &mut Book) {
        let mut select = crossbeam_channel::Select::new();
        select.recv(&self.from_generators);
        select.recv(&self.from_observer);
        // Ready or not, everything is looked at; the wait only saves turns.
        let _ignored = select.ready_timeout(wait);
        while let Ok((index, report)) = self.from_generators.try_recv() {
            book.generator(index, report);
        }
        while let Ok(report) = self.from_taps.try_recv() {
            book.tap(report);
        }
        while let Ok(snapshot) = self.from_poller.try_recv() {
            book.snapshot(snapshot);
        }
        while let Ok(report) = self.from_observer.try_recv() {
            book.observer(report);
        }
        while let Ok(failure) = self.refresh_failures.try_recv() {
            book.note(format!("refresh failed: {failure}"));
        }
    }

    /// Hands generators' snapshots back, to be written to again.
    pub(super) fn give_back(&self, spares: Vec<Snapshot>) {
        for spare in spares {
            if let Some(generator) = self.spares.get(spare.source as usize) {
                // A generator that has spares already needs no further one.
                let _ignored = generator.try_send(Box::new(spare));
            }
        }
    }

    /// Waits for the threads, which have all been asked to end.
    pub(super) fn join(self) {
        let Self {
            threads,
            to_generators,
            ..
        } = self;
        drop(to_generators);
        for thread in threads {
            // A thread that panicked has been missed already: its source fell silent.
            let _ignored = thread.join();
        }
    }

    fn generators_of(
        &mut self,
        plan: &Arc<Plan>,
        variables: &[Option<Box<str>>],
        facts: &Sender<Batch>,
        reports: &Sender<(u32, FromGenerator)>,
        polls: &PollSender,
    ) -> Result<Vec<GeneratorEnd>, RunError> {
        let mut ends = Vec::new();
        for index in 0..self.options.threads {
            let (control_sender, control) = bounded(1_024);
            let (actors_sender, actors) = bounded(WAKE_UPS_MAX);
            let (spare_sender, spares) = bounded(2);
            let (ready_sender, ready) = bounded(1);
            let spec = GeneratorSpec {
                index,
                of: self.options.threads,
                plan: Arc::clone(plan),
                options: self.options.clone(),
                variables: variables.to_vec(),
                facts: facts.clone(),
                reports: reports.clone(),
                control,
                actors,
                spares,
                polls: polls.clone(),
            };
            self.spawn(&format!("generator-{index}"), move || {
                generator::run(spec, &ready_sender)
            })?;
            let waker = ready
                .recv()
                .unwrap_or_else(|_| Err("a generator thread ended before it began".to_owned()))
                .map_err(|why| RunError::new(why, "check descriptors (ulimit -n) and --ca"))?;
            self.wakers.push(waker.clone());
            self.to_generators.push(control_sender);
            self.spares.push(spare_sender);
            ends.push(GeneratorEnd {
                actors: actors_sender,
                waker,
            });
        }
        Ok(ends)
    }

    fn observe(
        &mut self,
        plan: &Arc<Plan>,
        sources: Vec<(SourceId, String)>,
        recorder_number: u32,
        batches: Receiver<Batch>,
        reports: Sender<FromObserver>,
        generators: Vec<GeneratorEnd>,
    ) -> Result<(), RunError> {
        let spec = ObserverSpec {
            plan: Arc::clone(plan),
            options: self.options.clone(),
            start_ns: self.start_ns,
            sources,
            recorder_number,
            batches,
            reports,
            generators,
            state: Arc::clone(&self.ledger),
        };
        self.spawn("observer", move || Observer::new(spec).run())
    }

    fn refresh(
        &mut self,
        plan: &Arc<Plan>,
        variables: &[Option<Box<str>>],
        failures: Sender<String>,
    ) -> Result<(), RunError> {
        if plan.refresh.is_empty() {
            return Ok(());
        }
        let plan = Arc::clone(plan);
        let options = self.options.clone();
        let variables = variables.to_vec();
        let generators = self.to_generators.clone();
        let stop = Arc::clone(&self.stop);
        self.spawn("refresh", move || {
            refresh::run(&plan, &options, variables, &generators, &failures, &stop);
        })
    }

    fn spawn(&mut self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), RunError> {
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body);
        let thread = thread.map_err(|error| {
            RunError::new(
                format!("cannot make thread {name}: {error}"),
                "check ulimit -u",
            )
        })?;
        self.threads.push(thread);
        Ok(())
    }
}
