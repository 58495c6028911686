//! Making the threads of a run and the channels between them.

mod beside;
mod following;
mod processes;

use std::{
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use sojourn_broker::{OpenDecoder, Registry, Router, Tap};
use sojourn_clock::{Anchor, MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_ledger::{Batch, SourceId};
use sojourn_metrics::Snapshot;
use sojourn_plan::Plan;

use super::{
    book::Book,
    panic::{self, Panic, Role},
    taps::{is_only_published_to, open_taps},
};
use crate::{
    RunError, RunOptions, Stop,
    follow::{FollowedKinds, Listener},
    generator::{GeneratorThread, Inboxes, Shared},
    link::{FromGenerator, ToGenerator},
    observer::{
        FromObserver, GeneratorEnd, LedgerState, MessageRing, Observer, ObserverSpec, TapReport,
        TapSpec, run_tap,
    },
    poller::{self, PollSender},
    steps::Latest,
    work::Work,
};

use beside::PollerEnds;
pub(super) use following::{FollowedLaunch, launch_following};

/// Batches on their way to the ledger, of all sources together.
const BATCHES_MAX: usize = 16_384;
/// Reports on their way to the coordinator: minutes of seconds.
const REPORTS_MAX: usize = 4_096;
/// Kept journeys come at once at the end.
const KEPT_MAX: usize = 65_536;
/// Remarks of refresh and poller: more would only repeat them.
const NOTES_MAX: usize = 100;
/// From the moment everything stands to the first arrival: taps look for what earlier runs left.
const SETTLE_NS: u64 = 250 * MILLISECOND_NS;
/// The same where generators elsewhere must have heard of it before.
const SETTLE_FAR_NS: u64 = SECOND_NS;

/// A run's threads, ready to start.
pub(super) struct Launched {
    pub(super) options: RunOptions,
    pub(super) start_ns: u64,
    pub(super) anchor: Anchor,
    pub(super) ledger: Arc<LedgerState>,
    /// Channels with what their taps listen to.
    pub(super) channels: Vec<(String, String)>,
    /// Resources that are read, with what they are.
    pub(super) resources: Vec<(String, String)>,
    stop: StopOnDrop,
    /// Every source of facts, with its name for messages.
    sources: Vec<(SourceId, String)>,
    to_generators: Vec<Sender<ToGenerator>>,
    wakers: Vec<sojourn_http::Waker>,
    /// What the generators wait with.
    ios: Vec<String>,
    spares: Vec<Sender<Box<Snapshot>>>,
    taps: usize,
    rings: Vec<MessageRing>,
    /// Observer, taps, poller and refresh wait here for the run's start.
    starts: Vec<Sender<u64>>,
    from_generators: Receiver<(u32, FromGenerator)>,
    from_observer: Receiver<FromObserver>,
    from_taps: Receiver<TapReport>,
    from_poller: Receiver<Box<Snapshot>>,
    /// Remarks for the report, of the threads beside the load.
    from_others: Receiver<String>,
    panics: Sender<Panic>,
    from_panics: Receiver<Panic>,
    threads: Vec<JoinHandle<()>>,
    /// Processes' sockets.
    far: Vec<UnixStream>,
    /// Sources of which nothing more comes.
    losses: Receiver<SourceId>,
    /// How long nothing may be heard of generators elsewhere, beyond what all have, nanoseconds.
    pub(super) patience_ns: u64,
    /// Who hears of events besides the ledger.
    listener: Option<Arc<dyn Listener>>,
    /// Where journeys come from that others begin.
    followed: Option<FollowedKinds>,
}

/// Opens the taps, then makes every thread; nothing is sent before [`Launched::start`].
pub(super) fn launch(
    plan: &Arc<Plan>,
    options: &RunOptions,
    work: Work,
    registry: &Registry,
    variables: &Latest,
    stop: &Stop,
) -> Result<Launched, RunError> {
    let (taps, channels) = open_taps(plan, registry, |index| !is_only_published_to(plan, index))?;
    let (mut launched, far) = Launched::new(plan, options, channels);
    let FarEnds { batches_sender, batches, generator_sender, observer_sender, tap_sender, .. } =
        far;
    let (poller_sender, note_sender) = (far.poller_sender, far.note_sender);
    let (polls, hand_over) = poller::channel(plan);
    let far_ends =
        GeneratorEnds { facts: batches_sender.clone(), reports: generator_sender, polls };
    let values = variables.values();
    let ends = match &options.processes {
        Some(processes) => launched.processes(processes, plan, &work, &values, &far_ends, stop)?,
        None => launched.generators_of(plan, &work, &values, &far_ends, registry)?,
    };
    for (index, tap, decoder) in taps {
        launched.tap(plan, index, (tap, decoder), batches_sender.clone(), tap_sender.clone())?;
    }
    let mut poll_ends = None;
    if let Some((hand_over, ended)) = hand_over {
        poll_ends = Some(ended);
        let ends = PollerEnds {
            hand_over,
            facts: batches_sender,
            snapshots: poller_sender,
            notes: note_sender.clone(),
            defects: observer_sender.clone(),
        };
        launched.poller(plan, variables, ends)?;
    }
    launched.resources(plan, tap_sender.clone(), note_sender.clone())?;
    launched.backlog(plan, registry, tap_sender, note_sender.clone())?;
    launched.observe(plan, batches, observer_sender, ends, poll_ends)?;
    launched.refresh(plan, variables, note_sender)?;
    Ok(launched)
}

/// The far ends of the channels that every run has, and the batches that the observer reads.
struct FarEnds {
    batches_sender: Sender<Batch>,
    batches: Receiver<Batch>,
    generator_sender: Sender<(u32, FromGenerator)>,
    observer_sender: Sender<FromObserver>,
    tap_sender: Sender<TapReport>,
    poller_sender: Sender<Box<Snapshot>>,
    note_sender: Sender<String>,
}

/// The far ends of the generators' channels.
struct GeneratorEnds {
    facts: Sender<Batch>,
    reports: Sender<(u32, FromGenerator)>,
    polls: PollSender,
}

/// Tells taps, poller and refresh to end, at the latest when it is dropped: a run that could not be
/// launched leaves no thread behind.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Launched {
    /// Without any thread, and the far ends of its channels.
    fn new(plan: &Plan, options: &RunOptions, channels: Vec<(String, String)>) -> (Self, FarEnds) {
        let (batches_sender, batches) = bounded(BATCHES_MAX);
        let (generator_sender, from_generators) = bounded(REPORTS_MAX);
        let (observer_sender, from_observer) = bounded(KEPT_MAX);
        let (tap_sender, from_taps) = bounded(REPORTS_MAX);
        let (poller_sender, from_poller) = bounded(REPORTS_MAX);
        let (note_sender, from_others) = bounded(NOTES_MAX);
        let (panics, from_panics) = bounded(NOTES_MAX);
        let launched = Self {
            options: options.clone(),
            start_ns: 0,
            anchor: Anchor::now(),
            ledger: Arc::default(),
            channels,
            resources: Vec::new(),
            stop: StopOnDrop::default(),
            sources: Vec::new(),
            to_generators: Vec::new(),
            wakers: Vec::new(),
            ios: Vec::new(),
            spares: Vec::new(),
            taps: 0,
            rings: MessageRing::of_channels(plan.channels.len(), options.keep),
            starts: Vec::new(),
            from_generators,
            from_observer,
            from_taps,
            from_poller,
            from_others,
            panics,
            from_panics,
            threads: Vec::new(),
            far: Vec::new(),
            losses: crossbeam_channel::never(),
            patience_ns: 0,
            listener: None,
            followed: None,
        };
        let far = FarEnds {
            batches_sender,
            batches,
            generator_sender,
            observer_sender,
            tap_sender,
            poller_sender,
            note_sender,
        };
        (launched, far)
    }

    /// Without any thread: nobody says anything to it.
    pub(super) fn alone(plan: &Plan, options: &RunOptions) -> Self {
        Self::new(plan, options, Vec::new()).0
    }

    /// Sets the run's start a moment from now, and returns it.
    pub(super) fn set_start(&mut self) -> u64 {
        self.start_ns = now_ns() + self.settle_ns();
        self.start_ns
    }

    /// Whether what had to be done before the start took so long that it is (nearly) over.
    pub(super) fn start_is_near(&self) -> bool {
        now_ns() + self.settle_ns() / 2 > self.start_ns
    }

    fn settle_ns(&self) -> u64 {
        if self.patience_ns > 0 { SETTLE_FAR_NS } else { SETTLE_NS }
    }

    /// Lets everything start at one instant.
    pub(super) fn start(&self) {
        let at_ns = self.start_ns;
        for waiting in &self.starts {
            // Each of these channels has room for its one message, and a reader.
            let _ignored = waiting.send(at_ns);
        }
        self.tell_generators(&ToGenerator::Start { at_ns });
    }

    pub(super) fn tell_generators(&self, message: &ToGenerator) {
        for (index, generator) in self.to_generators.iter().enumerate() {
            // One that has ended is told nothing.
            let _ignored = generator.send(message.clone());
            // Threads that only follow journeys look by themselves.
            self.wakers.get(index).into_iter().for_each(sojourn_http::Waker::wake);
        }
    }

    /// Asks taps and poller to end.
    pub(super) fn stop_sources(&self) {
        self.stop.0.store(true, Ordering::SeqCst);
    }

    pub(super) fn generators(&self) -> usize {
        self.to_generators.len()
    }

    /// What the generators wait with, in words.
    pub(super) fn io(&self) -> String {
        let mut names = self.ios.clone();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    }

    pub(super) fn taps(&self) -> usize {
        self.taps
    }

    /// Takes every report there is into the book, waiting up to `wait` for a first one.
    pub(super) fn hear(&self, wait: Duration, book: &mut Book) {
        let mut select = crossbeam_channel::Select::new();
        select.recv(&self.from_generators);
        select.recv(&self.from_observer);
        select.recv(&self.from_panics);
        // Ready or not, everything is looked at; the wait only saves turns.
        let _ignored = select.ready_timeout(wait);
        while let Ok((index, report)) = self.from_generators.try_recv() {
            book.generator(index, report);
        }
        while let Ok(report) = self.from_taps.try_recv() {
            book.tap(report);
        }
        self.hear_poller(book);
        while let Ok(report) = self.from_observer.try_recv() {
            book.observer(report);
        }
        while let Ok(note) = self.from_others.try_recv() {
            book.note(note);
        }
        // Last: what a thread reported before it panicked has been heard.
        while let Ok(panic) = self.from_panics.try_recv() {
            book.panicked(panic);
        }
    }

    /// Takes the poller's figures; true when it has ended, or never was, and all have been taken.
    pub(super) fn hear_poller(&self, book: &mut Book) -> bool {
        loop {
            match self.from_poller.try_recv() {
                Ok(snapshot) => book.snapshot(snapshot),
                Err(error) => return error.is_disconnected(),
            }
        }
    }

    /// Hands generators' snapshots back, emptied, to be written to again.
    pub(super) fn give_back(&self, spares: Vec<Snapshot>) {
        for mut spare in spares {
            if let Some(generator) = self.spares.get(spare.source as usize) {
                spare.recycle();
                // A generator that has spares already needs no further one.
                let _ignored = generator.try_send(Box::new(spare));
            }
        }
    }

    /// Waits for the threads, which have all been asked to end.
    pub(super) fn join(self) {
        let Self { threads, to_generators, from_generators, from_observer, from_taps, .. } = self;
        // Nobody waits for a place in a queue that is no longer read, or for an event.
        drop((to_generators, from_generators, from_observer, from_taps, self.listener));
        for socket in self.far {
            // All that they had to say has been heard, or it is too late.
            let _ignored = socket.shutdown(Shutdown::Both);
        }
        for thread in threads {
            // What panics is caught in the thread and told.
            let _ignored = thread.join();
        }
    }

    fn generators_of(
        &mut self,
        plan: &Arc<Plan>,
        work: &Work,
        variables: &[Option<Box<str>>],
        far: &GeneratorEnds,
        registry: &Registry,
    ) -> Result<Vec<GeneratorEnd>, RunError> {
        let shared = Shared {
            of: self.options.threads,
            process: None,
            plan: Arc::clone(plan),
            options: self.options.clone(),
            work: work.clone(),
            anchor: self.anchor,
            variables: variables.to_vec(),
            facts: far.facts.clone(),
            reports: far.reports.clone(),
            polls: far.polls.clone(),
        };
        let mut ends = Vec::new();
        let mut inboxes = work.events().map(|events| Inboxes::new(events.clone()));
        for index in 0..self.options.threads {
            self.source(format!("generator {index}"));
            let inboxes = inboxes.as_mut();
            let thread = GeneratorThread::start(index, &shared, registry, inboxes, |body| {
                self.spawn(Role::Generator, &format!("generator-{index}"), body)
            })?;
            self.wakers.push(thread.waker.clone());
            self.ios.push(thread.io.name().to_owned());
            self.to_generators.push(thread.control);
            self.spares.push(thread.spares);
            ends.push(GeneratorEnd { actors: thread.actors, waker: Some(thread.waker) });
        }
        self.listener = inboxes.map(|inboxes| Arc::new(inboxes) as Arc<dyn Listener>);
        Ok(ends)
    }

    /// The next source's number, under this name.
    fn source(&mut self, name: String) -> SourceId {
        // Generators are at most some dozens, channels as many as a plan has: far below 65,536.
        let source = SourceId(self.sources.len() as u16);
        self.sources.push((source, name));
        source
    }

    fn tap(
        &mut self,
        plan: &Plan,
        index: usize,
        (tap, decoder): (Box<dyn Tap>, OpenDecoder),
        facts: Sender<Batch>,
        reports: Sender<TapReport>,
    ) -> Result<(), RunError> {
        let channel = plan.channels[index].name.clone();
        let source = self.source(format!("tap {channel}"));
        let (start_sender, start) = bounded(1);
        self.taps += 1;
        self.starts.push(start_sender);
        let spec = TapSpec {
            router: Router::new(plan, index, &self.options.run_id).with_decoder(decoder),
            channel,
            index,
            tap,
            source,
            facts,
            reports,
            stop: Arc::clone(&self.stop.0),
            start,
            narrator: self.options.narrator.clone(),
            ring: self.rings.get(index).cloned(),
            listener: self.listener.clone(),
        };
        self.spawn(Role::Tap, &format!("tap-{index}"), move || run_tap(spec))
    }

    fn observe(
        &mut self,
        plan: &Arc<Plan>,
        batches: Receiver<Batch>,
        reports: Sender<FromObserver>,
        generators: Vec<GeneratorEnd>,
        poll_ends: Option<Sender<poller::Ended>>,
    ) -> Result<(), RunError> {
        let (start_sender, start) = bounded(1);
        self.starts.push(start_sender);
        let spec = ObserverSpec {
            plan: Arc::clone(plan),
            options: self.options.clone(),
            sources: self.sources.clone(),
            // The number after the last source's: each recorder has its own.
            recorder_number: self.sources.len() as u32,
            anchor: self.anchor,
            rings: self.rings.clone(),
            batches,
            losses: self.losses.clone(),
            patience_ns: self.patience_ns,
            reports,
            generators,
            poll_ends,
            followed: self.followed.take(),
            state: Arc::clone(&self.ledger),
        };
        self.spawn(Role::Observer, "observer", move || {
            // Never started: there is nothing to observe.
            if let Ok(start_ns) = start.recv() {
                Observer::new(spec, start_ns).run();
            }
        })
    }

    fn spawn(
        &mut self,
        role: Role,
        name: &str,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), RunError> {
        let body = panic::telling(role, name.to_owned(), self.panics.clone(), body);
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(body);
        let thread = thread.map_err(|error| {
            RunError::new(format!("cannot make thread {name}: {error}"), "check ulimit -u")
        })?;
        self.threads.push(thread);
        Ok(())
    }
}
