//! The coordinator's side of a link.

use std::{
    collections::BTreeSet,
    io::BufReader,
    net::Shutdown,
    ops::Range,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender};
use sojourn_ledger::Batch;

use super::{Assignment, FromProcess, SUBCOMMAND, ToProcess, wire};
use crate::{
    RunError,
    generator::Inbox,
    link::{FromGenerator, ToActor, ToGenerator},
};

/// How often a process is told how far taps have seen, if there are no events.
const SEEN_EVERY: Duration = Duration::from_millis(2);

/// A process of generators that has been started.
pub(crate) struct Process {
    generators: Range<u32>,
    child: Child,
    socket: UnixStream,
    from: BufReader<UnixStream>,
    /// It reads what it is told, and ends when there is nothing more to read.
    is_linked: bool,
}

/// The writing side of a link, which several threads share. The process hears of its end when the
/// last of them is gone.
#[derive(Clone)]
pub(crate) struct Link(Arc<Writer>);

struct Writer(Mutex<UnixStream>);

impl Process {
    /// Starts a process and tells it what to do. It has its own process group, so that Ctrl-C
    /// reaches the coordinator alone.
    pub(crate) fn begin(assignment: Assignment) -> Result<Self, RunError> {
        let failed = |error: std::io::Error| {
            RunError::new(
                format!("cannot start a process of generators: {error}"),
                "check ulimit -u and the memory that is left",
            )
        };
        let generators = assignment.generators.clone();
        let (near, far) = UnixStream::pair().map_err(failed)?;
        let program = std::env::current_exe().map_err(failed)?;
        let child = Command::new(program)
            .arg(SUBCOMMAND)
            .stdin(Stdio::from(OwnedFd::from(far)))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let from = BufReader::new(near.try_clone().map_err(failed)?);
        let mut process = Self { generators, child, socket: near, from, is_linked: false };
        let told = wire::write(&mut process.socket, &ToProcess::Begin(Box::new(assignment)));
        told.map_err(failed)?;
        Ok(process)
    }

    /// Waits until its generators stand; what each of them waits with.
    pub(crate) fn ready(&mut self) -> Result<Vec<String>, RunError> {
        let generators = &self.generators;
        match wire::read(&mut self.from) {
            Ok(Some(FromProcess::Ready(ios))) if ios.len() == generators.len() => Ok(ios),
            Ok(Some(FromProcess::Refused(message, hint))) => Err(RunError { message, hint }),
            answer => Err(RunError::new(
                format!(
                    "the process of generators {} to {} did not begin ({})",
                    generators.start,
                    generators.end,
                    answer.err().map_or_else(|| "it ended".to_owned(), |error| error.to_string())
                ),
                "look at what it said on standard error",
            )),
        }
    }

    /// The side that tells it things.
    pub(crate) fn link(&mut self) -> Result<Link, RunError> {
        let socket = self.socket.try_clone().map_err(|error| {
            RunError::new(format!("cannot open a further descriptor: {error}"), "raise ulimit -n")
        })?;
        self.is_linked = true;
        Ok(Link(Arc::new(Writer(Mutex::new(socket)))))
    }

    /// The body of the thread that hears it, until it has ended. Whichever of its generators has
    /// not ended by then is said to have failed.
    pub(crate) fn hear(mut self, reports: &Sender<(u32, FromGenerator)>, facts: &Sender<Batch>) {
        let mut running: BTreeSet<u32> = self.generators.clone().collect();
        let broken = loop {
            match wire::read(&mut self.from) {
                Ok(Some(FromProcess::Report(index, report))) => {
                    if matches!(report, FromGenerator::Ended(_)) {
                        running.remove(&index);
                    }
                    // A coordinator that is gone needs no reports.
                    let _ignored = reports.send((index, report));
                }
                Ok(Some(FromProcess::Facts(batch))) => {
                    let _ignored = facts.send(batch);
                }
                Ok(Some(FromProcess::Ready(_) | FromProcess::Refused(..))) => {}
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        // Nothing more comes of it: it has ended or will, since its socket is closed.
        let _ignored = self.socket.shutdown(Shutdown::Both);
        let status = self.child.wait().map_or_else(|error| error.to_string(), |it| it.to_string());
        let why = match broken {
            Some(error) => format!("its process ended early ({status}; {error})"),
            None => format!("its process ended early ({status})"),
        };
        for index in running {
            let _ignored = reports.send((index, FromGenerator::Ended(Err(why.clone()))));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_linked {
            // It was started and never told to make load.
            let _ignored = self.socket.shutdown(Shutdown::Both);
            let _ignored = self.child.kill();
        }
        let _ignored = self.child.wait();
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
