//! The coordinator's side of a link.

use std::{
    collections::BTreeSet,
    io::{BufReader, ErrorKind},
    net::Shutdown,
    ops::Range,
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use sojourn_clock::now_ns;
use sojourn_fleet::{MemberEnd, Standing};
use sojourn_ledger::{Batch, SourceId};

use super::{
    Assignment, Fleet, FromProcess, ToProcess,
    incoming::Incoming,
    launch::{not_started, start},
    peer::{Peer, name_of},
    told::Told,
    wire,
};
use crate::{
    ResultSink, RunError, Stop,
    generator::Inbox,
    link::{FromGenerator, Loss, ToActor, ToGenerator},
    poller::PollSender,
};

/// How often a process is told how far taps have seen, if there are no events.
const SEEN_EVERY: Duration = Duration::from_millis(2);
/// How often it is looked whether a run that waits for its generators is to end.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How long the rest of a first message may take that has begun to come.
const WORD_WITHIN: Duration = Duration::from_secs(30);
/// How long one that has dialled in is waited for when there is to be no run.
const GOODBYE: Duration = Duration::from_secs(2);

/// A process of generators that has been told what to do.
pub(crate) struct Process {
    number: u32,
    generators: Range<u32>,
    peer: Peer,
    socket: UnixStream,
    from: BufReader<UnixStream>,
    /// It reads what it is told, and ends when there is nothing more to read.
    is_linked: bool,
}

/// Where goes what a process says.
pub(crate) struct Heard {
    pub(crate) reports: Sender<(u32, FromGenerator)>,
    pub(crate) facts: Sender<Batch>,
    /// Sources of which nothing more comes, after all that did.
    pub(crate) losses: Sender<SourceId>,
    /// Who asks for polled stages.
    pub(crate) polls: PollSender,
    /// Where an attack's results go.
    pub(crate) results: Option<ResultSink>,
    /// What its figures would be missing.
    pub(crate) told: Told,
    /// The number of a recorder for those.
    pub(crate) recorder_number: u32,
}

/// The writing side of a link, which several threads share. The process hears of its end when the
/// last of them is gone.
#[derive(Clone)]
pub(crate) struct Link(Arc<Writer>);

struct Writer(Mutex<UnixStream>);

impl Process {
    /// Starts a process and tells it what to do.
    pub(crate) fn start(number: u32, assignment: Assignment) -> Result<Self, RunError> {
        let (near, child) = start().map_err(not_started)?;
        Self::begin(number, near, Peer::Child(child), assignment).map_err(not_started)
    }

    /// Tells one that has dialled in what to do.
    pub(crate) fn joined(
        number: u32,
        (near, end): (UnixStream, MemberEnd),
        fleet: &Fleet,
        assignment: Assignment,
    ) -> Result<Self, RunError> {
        let end_within = fleet.patience();
        let who = name_of(number, &end.now());
        let peer = Peer::Member { end, end_within };
        Self::begin(number, near, peer, assignment).map_err(|error| {
            RunError::new(
                format!("{who} was lost before the run began ({error})"),
                "look at what it said on standard error",
            )
        })
    }

    fn begin(
        number: u32,
        near: UnixStream,
        peer: Peer,
        assignment: Assignment,
    ) -> std::io::Result<Self> {
        let generators = assignment.generators.clone();
        let from = BufReader::new(near.try_clone()?);
        let mut process = Self { number, generators, peer, socket: near, from, is_linked: false };
        wire::write(&mut process.socket, &ToProcess::Begin(Box::new(assignment)))?;
        Ok(process)
    }

    /// Waits until its generators stand, at most until an instant, or until the run is to end; what
    /// each of them waits with.
    pub(crate) fn ready(&mut self, until_ns: u64, stop: &Stop) -> Result<Vec<String>, RunError> {
        match self.first_word(until_ns, stop) {
            Ok(Some(FromProcess::Ready(ios))) if ios.len() == self.generators.len() => Ok(ios),
            Ok(Some(FromProcess::Refused(message, hint))) => match &self.peer {
                Peer::Child(_) => Err(RunError { message, hint }),
                Peer::Member { end, .. } => {
                    let who = name_of(self.number, &end.now());
                    Err(RunError { message: format!("{who}: {message}"), hint })
                }
            },
            answer => {
                let why = match answer {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        "it took too long".into()
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {
                        let message = format!("interrupted before {} was ready", self.name());
                        return Err(RunError::with(message, None));
                    }
                    Err(error) => error.to_string(),
                    Ok(_) => "it ended".to_owned(),
                };
                Err(RunError::new(
                    format!("{} did not begin ({why})", self.name()),
                    "look at what it said on standard error",
                ))
            }
        }
    }

    /// What it says first. Errs with [`ErrorKind::WouldBlock`] where that takes too long, and with
    /// [`ErrorKind::Interrupted`] where nobody wants to hear it any more.
    fn first_word(&mut self, until_ns: u64, stop: &Stop) -> std::io::Result<Option<FromProcess>> {
        loop {
            if stop.graceful() {
                return Err(ErrorKind::Interrupted.into());
            }
            if now_ns() >= until_ns {
                return Err(ErrorKind::WouldBlock.into());
            }
            match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&LOOK_EVERY)) {
                Ok(0) | Err(Errno::INTR) => {}
                // It has begun to speak, or has gone, which the reader meets.
                _ => break,
            }
        }
        // The time of a socket that is there can be set.
        let _ignored = self.socket.set_read_timeout(Some(WORD_WITHIN));
        let answer = wire::read(&mut self.from);
        let _ignored = self.socket.set_read_timeout(None);
        answer
    }

    /// The side that tells it things.
    pub(crate) fn link(&mut self) -> Result<Link, RunError> {
        let socket = self.another_end()?;
        self.is_linked = true;
        Ok(Link(Arc::new(Writer(Mutex::new(socket)))))
    }

    /// The same socket once more.
    pub(crate) fn another_end(&self) -> Result<UnixStream, RunError> {
        self.socket.try_clone().map_err(|error| {
            RunError::new(format!("cannot open a further descriptor: {error}"), "raise ulimit -n")
        })
    }

    /// The body of the thread that hears it, until it has ended. Whichever of its generators has
    /// not ended by then is said to have failed, or to be lost.
    pub(crate) fn hear(mut self, mut to: Heard) {
        let mut running: BTreeSet<u32> = self.generators.clone().collect();
        let mut incoming = Incoming::new(to.results.take(), &self.generators);
        let mut leaves = None;
        let broken = loop {
            match wire::read(&mut self.from) {
                // One that leaves before its time has no end of its own: it is lost.
                Ok(Some(FromProcess::Report(_, FromGenerator::Ended(_)))) if leaves.is_some() => {}
                Ok(Some(FromProcess::Report(index, report))) => {
                    if let FromGenerator::Snapshot(snapshot) = &report {
                        to.told.figures(snapshot);
                    }
                    if let Some((index, report)) = incoming.report(index, report) {
                        if let FromGenerator::Ended(_) = &report {
                            running.remove(&index);
                        }
                        // A coordinator that is gone needs no reports.
                        let _ignored = to.reports.send((index, report));
                    }
                }
                Ok(Some(FromProcess::Results(chunk))) => {
                    for (index, end) in incoming.results(chunk) {
                        running.remove(&index);
                        let _ignored = to.reports.send((index, end));
                    }
                }
                Ok(Some(FromProcess::Poll(task))) => to.polls.pass(task),
                Ok(Some(FromProcess::Facts(batch))) => {
                    let is_end = batch.watermark_ns == u64::MAX && batch.facts.is_empty();
                    if leaves.is_none() || !is_end {
                        to.told.facts(&batch);
                        let _ignored = to.facts.send(batch);
                    }
                }
                Ok(Some(FromProcess::Leaves(why))) => leaves = Some(why),
                Ok(Some(FromProcess::Ready(_) | FromProcess::Refused(..))) => {}
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        drop(incoming);
        // Nothing more comes of it: it has ended or will, since its socket is closed.
        let _ignored = self.socket.shutdown(Shutdown::Both);
        let is_member = matches!(self.peer, Peer::Member { .. });
        let why = leaves.unwrap_or_else(|| self.why_it_ended(broken));
        if is_member && !running.is_empty() {
            self.lost(&running, why, &to);
        } else {
            for index in running {
                let _ignored = to.reports.send((index, FromGenerator::Ended(Err(why.clone()))));
            }
        }
    }

    /// Waits for its end, which is near since it has nothing more to say.
    fn why_it_ended(&mut self, broken: Option<String>) -> String {
        match &mut self.peer {
            Peer::Child(child) => {
                let status = child.wait();
                let status = status.map_or_else(|error| error.to_string(), |it| it.to_string());
                match broken {
                    Some(error) => format!("its process ended early ({status}; {error})"),
                    None => format!("its process ended early ({status})"),
                }
            }
            Peer::Member { end, end_within, .. } => match end.wait_for(*end_within).standing {
                Standing::Lost(why) => why,
                _ => broken.unwrap_or_else(|| "its process ended early".to_owned()),
            },
        }
    }

    /// Tells of its loss: the ledger, and after that the book.
    fn lost(&self, running: &BTreeSet<u32>, why: String, to: &Heard) {
        for &index in running {
            // A generator's number is its source's: there are fewer than 65,536.
            let _ignored = to.losses.send(SourceId(index as u16));
        }
        let loss = Loss {
            process: self.number,
            generators: self.generators.clone(),
            who: self.name(),
            why,
            started: to.told.started(),
            until_ns: to.told.until_ns(),
            missing: to.told.missing(to.recorder_number, now_ns()),
        };
        let lost = FromGenerator::Lost(Box::new(loss));
        let _ignored = to.reports.send((self.generators.start, lost));
    }

    fn name(&self) -> String {
        match &self.peer {
            Peer::Child(_) => {
                let Range { start, end } = self.generators;
                format!("the process of generators {start} to {end}")
            }
            Peer::Member { end, .. } => name_of(self.number, &end.now()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_linked {
            // It was told of a run that never began.
            let _ignored = self.socket.shutdown(Shutdown::Both);
        }
        match &mut self.peer {
            Peer::Child(child) => {
                if !self.is_linked {
                    let _ignored = child.kill();
                }
                let _ignored = child.wait();
            }
            // It hears that there is nothing more, if it is there.
            Peer::Member { end, end_within, .. } => {
                let most = if self.is_linked { *end_within } else { GOODBYE };
                let _ignored = end.wait_for(most);
            }
        }
    }
}

impl Link {
    #[cfg(test)]
    pub(super) fn of(socket: UnixStream) -> Self {
        Self(Arc::new(Writer(Mutex::new(socket))))
    }

    /// The body of a thread that passes on what a generator is told.
    pub(crate) fn control(self, index: u32, messages: &Receiver<ToGenerator>) {
        self.pass(messages, |message| ToProcess::Generator(index, message));
    }

    /// The body of a thread that passes on what a generator's actors are told.
    pub(crate) fn actors(self, index: u32, messages: &Receiver<ToActor>) {
        self.pass(messages, |message| ToProcess::Actor(index, message));
    }

    /// The body of a thread that passes on the events that its generators' clients may wait for,
    /// and how far taps have seen.
    pub(crate) fn events(self, inbox: &mut Inbox) {
        let mut told_ns = Vec::new();
        loop {
            let goes_on = inbox.wait(SEEN_EVERY);
            let mut is_told = true;
            inbox.take(usize::MAX, |arrived| {
                is_told = is_told && self.tell(&ToProcess::Event(arrived));
            });
            if is_told && told_ns != inbox.taken_ns() {
                told_ns.clear();
                told_ns.extend_from_slice(inbox.taken_ns());
                is_told = self.tell(&ToProcess::Seen(told_ns.clone()));
            }
            if !is_told || !self.tell_refused(inbox) || !goes_on {
                return;
            }
        }
    }

    /// Its generators count what this side had no room for: their figures have it then.
    fn tell_refused(&self, inbox: &Inbox) -> bool {
        let refused = inbox.take_refused();
        refused == 0 || self.tell(&ToProcess::EventsRefused(refused))
    }

    fn pass<M>(&self, messages: &Receiver<M>, wrap: impl Fn(M) -> ToProcess) {
        for message in messages {
            if !self.tell(&wrap(message)) {
                return;
            }
        }
    }

    /// False where the process has gone; whoever hears it says so.
    fn tell(&self, message: &ToProcess) -> bool {
        let mut socket = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let written = wire::write(&mut *socket, message);
        if written.is_err() {
            // Whatever the reason: a process that is not told everything is no part of the run.
            let _ignored = socket.shutdown(Shutdown::Both);
        }
        written.is_ok()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let socket = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A process that has gone needs no word.
        let _ignored = socket.shutdown(Shutdown::Write);
    }
}
