//! A process's side of its link.

use std::{
    io::BufReader,
    net::Shutdown,
    os::{fd::AsFd, unix::net::UnixStream},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crossbeam_channel::{Sender, bounded};
use sojourn_broker::Registry;
use sojourn_clock::Anchor;
use sojourn_plan::Plan;
use sojourn_session::Offer;

use super::{Assignment, FromProcess, Parcel, ToProcess, fingerprint, outgoing::Outgoing, wire};
use crate::{
    Attack, ResultSink, RunError, RunOptions, Sessions, Stop,
    attack::Passed,
    coordinator::panic,
    generator::{GeneratorThread, Inboxes, Shared},
    link::{FromGenerator, ToGenerator},
    once::once,
    poller, preflight,
    work::Work,
};

/// Facts and reports on their way to the coordinator, of all generators of the process.
const MESSAGES_MAX: usize = 4_096;

/// How often a process that has dialled in looks whether it is asked to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A process that generates load for another one's run.
#[derive(Debug)]
pub struct Joined {
    assignment: Assignment,
    socket: UnixStream,
    from: BufReader<UnixStream>,
    /// Where it is asked to end; one that was started by its coordinator ends with that.
    stop: Option<Stop>,
}

/// A link whose two ends know what they say; see [`Joined::into_link`].
#[derive(Debug)]
pub struct OwnLink {
    /// The process's number, from 0…
    pub number: u32,
    /// …of so many.
    pub of: u32,
    /// How all processes of the run know the time of day.
    pub anchor: Anchor,
    /// Where this one is asked to end, if anybody may.
    pub stop: Option<Stop>,
    /// What is written to.
    pub to: UnixStream,
    /// What is read from.
    pub from: BufReader<UnixStream>,
}

impl Joined {
    /// Takes the assignment from standard input, where the coordinator's socket is.
    pub fn from_standard_input() -> Result<Self, RunError> {
        let failed = |error: std::io::Error| {
            RunError::new(
                format!("standard input is no coordinator ({error})"),
                "give --join HOST:PORT, or --generators to a run, which starts these processes",
            )
        };
        let input = std::io::stdin().as_fd().try_clone_to_owned().map_err(failed)?;
        Self::begin(UnixStream::from(input)).map_err(failed)
    }

    /// Waits for the assignment from a coordinator that was dialled, however long that waits for
    /// others.
    pub fn dialled(socket: UnixStream) -> Result<Self, RunError> {
        Self::begin(socket).map_err(|_gone| {
            RunError::new(
                "the coordinator ended before the run began",
                "look at what it said: whether other generators did not come",
            )
        })
    }

    fn begin(socket: UnixStream) -> std::io::Result<Self> {
        let mut from = BufReader::new(socket.try_clone()?);
        match wire::read(&mut from)? {
            Some(ToProcess::Begin(assignment)) => {
                Ok(Self { assignment: *assignment, socket, from, stop: None })
            }
            _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The same, which ends when it is asked to, and tells the coordinator so.
    #[must_use]
    pub fn ending_on(self, stop: Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The socket itself, for work whose messages are not those of generators.
    pub fn into_link(self) -> OwnLink {
        let (number, of, anchor) = (self.number(), self.assignment.of, self.assignment.anchor());
        OwnLink { number, of, anchor, stop: self.stop, to: self.socket, from: self.from }
    }

    /// The command line that plan and work are made of.
    pub fn words(&self) -> &[String] {
        &self.assignment.words
    }

    /// The run's id.
    pub fn run_id(&self) -> &str {
        &self.assignment.run_id
    }

    /// Where the run's large files are.
    pub fn files(&self) -> &Offer {
        &self.assignment.files
    }

    /// What plan and work are to be made of, where it may be elsewhere than their files.
    pub fn parcel(&self) -> Option<&Arc<Parcel>> {
        self.assignment.parcel.as_ref()
    }

    /// The process's number among those of the run, from 0.
    pub fn number(&self) -> u32 {
        let generators = &self.assignment.generators;
        generators.start / generators.len().max(1) as u32
    }

    /// Tells the coordinator why there will be no load; hands that back.
    pub fn refuse(mut self, error: RunError) -> RunError {
        // A coordinator that has gone needs no words.
        let refused = FromProcess::Refused(error.message.clone(), error.hint.clone());
        let _ignored = wire::write(&mut self.socket, &refused);
        error
    }

    /// Makes the load of a plan's journeys until the coordinator ends it. Errs where there was none
    /// or it ended before its time; the coordinator has been told, if it is there.
    pub fn serve(
        self,
        plan: &Plan,
        options: &RunOptions,
        registry: &Registry,
    ) -> Result<(), RunError> {
        let plan = if options.once { once(plan, |_| true) } else { plan.clone() };
        self.work(plan, options, Work::Journeys, registry)
    }

    /// The same of an attack's hits. Where its results go is the coordinator's matter.
    pub fn serve_attack(
        self,
        plan: &Plan,
        options: &RunOptions,
        attack: Attack,
    ) -> Result<(), RunError> {
        let passed = self.assignment.passes_results.then(ResultSink::passed_on);
        let (results, passed) = passed.unzip();
        let work = Work::Attack(Arc::new(Attack { results, ..attack }));
        self.work_with(plan.clone(), options, (work, passed), &Registry::default())
    }

    /// The same of clients that walk through sessions.
    pub fn serve_sessions(
        self,
        plan: &Plan,
        options: &RunOptions,
        (sessions, registry): (Sessions, &Registry),
    ) -> Result<(), RunError> {
        let work = Work::Sessions(Arc::new(sessions));
        self.work(plan.clone(), &options.of_sessions(), work, registry)
    }

    fn work(
        self,
        plan: Plan,
        options: &RunOptions,
        work: Work,
        registry: &Registry,
    ) -> Result<(), RunError> {
        self.work_with(plan, options, (work, None), registry)
    }

    fn work_with(
        self,
        plan: Plan,
        options: &RunOptions,
        (work, results): (Work, Option<Passed>),
        registry: &Registry,
    ) -> Result<(), RunError> {
        if fingerprint(&plan, &work) != self.assignment.fingerprint {
            return Err(self.refuse(RunError::new(
                "a process of generators made another plan of the same command line",
                "leave the files of a run as they are while it starts",
            )));
        }
        preflight::raise_descriptors();
        let (reports, heard_reports) = bounded(MESSAGES_MAX);
        let (facts, heard_facts) = bounded(MESSAGES_MAX);
        let (polls, hand_over) = poller::channel(&plan);
        let shared = Shared {
            of: self.assignment.of,
            process: Some((self.number(), self.assignment.generators.start)),
            plan: Arc::new(plan),
            options: options.clone(),
            work,
            anchor: self.assignment.anchor(),
            variables: self.assignment.variables.clone(),
            facts,
            reports,
            polls,
        };
        let threads = match Threads::start(self.assignment.generators.clone(), &shared, registry) {
            Ok(threads) => threads,
            Err(error) => return Err(self.refuse(error)),
        };
        // From here on only the threads have its senders: the links end when they do.
        drop(shared);
        let polls = hand_over.map(|(hand_over, _ends)| hand_over.tasks);
        self.link(threads, Outgoing { reports: heard_reports, facts: heard_facts, polls, results })
    }

    /// Passes messages on, both ways, until the threads have ended.
    fn link(self, threads: Threads, outgoing: Outgoing) -> Result<(), RunError> {
        let Self { assignment, mut socket, mut from, stop } = self;
        let first = assignment.generators.start;
        let ios = threads.threads.iter().map(|thread| thread.io.name().to_owned()).collect();
        if wire::write(&mut socket, &FromProcess::Ready(ios)).is_err() {
            threads.end();
            return Err(ended_early());
        }
        let socket = Arc::new(Mutex::new(socket));
        let spares: Vec<_> = threads.threads.iter().map(|thread| thread.spares.clone()).collect();
        let links = outgoing.pass(&socket, spares, first);
        let is_over = Arc::new(AtomicBool::new(false));
        let watching = stop.map(|stop| watch(stop, &socket, &is_over));
        let closing = std::thread::spawn(move || {
            links.into_iter().for_each(|link| drop(link.join()));
            let socket = socket.lock().unwrap_or_else(PoisonError::into_inner);
            // Ends the reading below, if the coordinator has not done so.
            let _ignored = socket.shutdown(Shutdown::Both);
        });
        let is_asked_to_end = threads.obey(&mut from, first);
        threads.end();
        let _ignored = closing.join();
        is_over.store(true, Ordering::SeqCst);
        let has_left = watching.is_some_and(|watching| watching.join().unwrap_or(false));
        match (has_left, is_asked_to_end) {
            (true, _) => Err(RunError::with("interrupted: the run goes on without it", None)),
            (false, true) => Ok(()),
            (false, false) => Err(ended_early()),
        }
    }
}

fn ended_early() -> RunError {
    RunError::new(
        "the coordinator ended before the run did, or was lost",
        "look at what it said, and whether its machine can be reached",
    )
}

/// Leaves as soon as it is asked to: tells the coordinator, and ends the reading of what that says,
/// which ends the threads. True: it has left.
fn watch(
    stop: Stop,
    socket: &Arc<Mutex<UnixStream>>,
    is_over: &Arc<AtomicBool>,
) -> JoinHandle<bool> {
    let (socket, is_over) = (Arc::clone(socket), Arc::clone(is_over));
    std::thread::spawn(move || {
        while !is_over.load(Ordering::SeqCst) {
            if stop.graceful() {
                let mut socket = socket.lock().unwrap_or_else(PoisonError::into_inner);
                let why = "it was asked to end (SIGTERM or Ctrl-C)".to_owned();
                // A coordinator that has gone needs no words.
                let _ignored = wire::write(&mut *socket, &FromProcess::Leaves(why));
                let _ignored = socket.shutdown(Shutdown::Read);
                return true;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        false
    })
}

/// The generator threads of this process.
struct Threads {
    threads: Vec<GeneratorThread>,
    /// Where their clients' events come in, if they wait for any.
    inboxes: Option<Inboxes>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    fn start(
        indexes: std::ops::Range<u32>,
        shared: &Shared,
        registry: &Registry,
    ) -> Result<Self, RunError> {
        let (mut threads, mut handles) = (Vec::new(), Vec::new());
        let mut inboxes = shared.work.events().map(|events| Inboxes::new(events.clone()));
        for index in indexes {
            let reports = shared.reports.clone();
            let thread =
                GeneratorThread::start(index, shared, registry, inboxes.as_mut(), |body| {
                    let thread = std::thread::Builder::new()
                        .name(format!("generator-{index}"))
                        .spawn(move || guarded(index, body, &reports));
                    handles.push(thread.map_err(|error| {
                        RunError::new(format!("cannot make a thread: {error}"), "check ulimit -u")
                    })?);
                    Ok(())
                })?;
            threads.push(thread);
        }
        Ok(Self { threads, inboxes, handles })
    }

    /// The thread of this number, where the first one has that.
    fn get(&self, index: u32, first: u32) -> Option<&GeneratorThread> {
        self.threads.get(index.checked_sub(first)? as usize)
    }

    /// Passes on what the coordinator says until it says no more. True: it ended the run.
    fn obey(&self, from: &mut BufReader<UnixStream>, first: u32) -> bool {
        let mut is_asked_to_end = false;
        while let Ok(Some(message)) = wire::read(from) {
            // One that has ended is told nothing.
            match message {
                ToProcess::Generator(index, message) => {
                    is_asked_to_end |= message == ToGenerator::Abort;
                    self.get(index, first).into_iter().for_each(|thread| {
                        let _ignored = thread.control.send(message.clone());
                        thread.waker.wake();
                    });
                }
                ToProcess::Actor(index, message) => {
                    self.get(index, first).into_iter().for_each(|thread| {
                        let _ignored = thread.actors.send(message);
                        thread.waker.wake();
                    });
                }
                ToProcess::Event(arrived) => {
                    self.inboxes.iter().for_each(|inboxes| inboxes.pass(&arrived));
                }
                ToProcess::Seen(seen_ns) => {
                    self.inboxes.iter().for_each(|inboxes| inboxes.seen(&seen_ns));
                }
                ToProcess::EventsRefused(count) => {
                    self.inboxes.iter().for_each(|inboxes| inboxes.refused(count));
                }
                ToProcess::Begin(_) => {}
            }
        }
        is_asked_to_end
    }

    /// Ends those that still run, and waits for them.
    fn end(self) {
        for GeneratorThread { control, waker, .. } in self.threads {
            drop(control);
            waker.wake();
        }
        for handle in self.handles {
            // Panics are caught in the thread and told.
            let _ignored = handle.join();
        }
    }
}

/// A generator's body, whose panic is told as its end.
fn guarded(index: u32, body: impl FnOnce(), reports: &Sender<(u32, FromGenerator)>) {
    if let Err(payload) = std::panic::catch_unwind(AssertUnwindSafe(body)) {
        let why = format!("panicked: {}", panic::message(payload.as_ref()));
        // Without a coordinator nobody needs to know.
        let _ignored = reports.send((index, FromGenerator::Ended(Err(why))));
    }
}
