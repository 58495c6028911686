//! Processes that have been told their words, for work whose messages are not those of generators.

use std::{
    io,
    net::Shutdown,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, Command, Stdio},
    time::Duration,
};

use sojourn_clock::{Anchor, now_ns};
use sojourn_fleet::{MemberEnd, Standing};
use sojourn_session::Offer;

use super::{
    Assignment, Processes, SUBCOMMAND, ToProcess,
    peer::{Peer, name_of},
    wire,
};
use crate::RunError;

/// How often it is looked whether a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A process that has been told its words, and no more: what is said over its socket from then on
/// is for whoever launched it to know. At its other end is
/// [`Joined::into_link`](super::Joined::into_link).
#[derive(Debug)]
pub struct Launched {
    number: u32,
    /// Its near end. The process ends when it does.
    pub socket: UnixStream,
    peer: Peer,
}

/// Tells so many processes their words: those that have dialled in, or new ones of this program.
/// `anchor` is how all of them know the time of day.
///
/// # Errors
/// There can be no further process, or no socket; or one that had dialled in has gone.
pub fn launch(processes: &Processes, anchor: Anchor) -> Result<Vec<Launched>, RunError> {
    let assignment = |number: u32| Assignment {
        words: processes.words.clone(),
        fingerprint: 0,
        run_id: String::new(),
        generators: number..number + 1,
        of: processes.count,
        anchor_ns: (anchor.monotonic_ns, anchor.unix_ns),
        files: Offer::default(),
        parcel: processes.parcel.clone(),
        variables: Vec::new(),
        passes_results: false,
    };
    let Some(fleet) = &processes.fleet else {
        let begun = (0..processes.count).map(|number| {
            let (socket, child) = start().map_err(not_started)?;
            Ok(Launched { number, socket, peer: Peer::Child(child) }.told(assignment(number)))
        });
        return begun.collect();
    };
    let members = (0..).zip(fleet.take());
    let begun = members.map(|(number, (socket, end))| {
        let peer = Peer::Member { end, end_within: fleet.patience() };
        Launched { number, socket, peer }.told(assignment(number))
    });
    Ok(begun.collect())
}

impl Launched {
    fn told(mut self, assignment: Assignment) -> Self {
        // One that is gone already is found out by whoever reads.
        let _ignored = wire::write(&mut self.socket, &ToProcess::Begin(Box::new(assignment)));
        self
    }

    /// Its number, from 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// As people know it.
    pub fn name(&self) -> String {
        match &self.peer {
            Peer::Child(child) => format!("generator process {} (pid {})", self.number, child.id()),
            Peer::Member { end, .. } => name_of(self.number, &end.now()),
        }
    }

    /// How long nothing may be heard of one that is not lost, where a cut of its connection is no
    /// loss; `None`: it is on this machine.
    pub fn patience(&self) -> Option<Duration> {
        match &self.peer {
            Peer::Child(_) => None,
            Peer::Member { end_within, .. } => Some(*end_within),
        }
    }

    /// Whether it is heard of: one whose connection is cut may come back.
    pub fn is_heard_of(&self) -> bool {
        match &self.peer {
            Peer::Child(_) => true,
            Peer::Member { end, .. } => !matches!(end.now().standing, Standing::Cut(_)),
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        match &mut self.peer {
            Peer::Child(child) => !matches!(child.try_wait(), Ok(None)),
            Peer::Member { end, .. } => !end.now().goes_on(),
        }
    }

    /// Ends it at once, if it is on this machine; another one ends when it hears that its socket
    /// has.
    pub fn kill(&mut self) {
        if let Peer::Child(child) = &mut self.peer {
            // One that has ended already can't be killed.
            let _ignored = child.kill();
        }
    }

    /// How one ended that says nothing more, waiting at most so long for its end.
    pub fn how_it_ended(&mut self, most: Duration) -> String {
        match &mut self.peer {
            Peer::Child(child) => how_a_child_ended(child, most),
            Peer::Member { end, .. } => how_a_member_ended(end, most),
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        // Who hears nothing more ends.
        let _ignored = self.socket.shutdown(Shutdown::Both);
        if let Peer::Child(child) = &mut self.peer {
            let _ignored = child.wait();
        }
    }
}

fn how_a_child_ended(child: &mut Child, most: Duration) -> String {
    let until_ns = now_ns().saturating_add(most.as_nanos() as u64);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.to_string(),
            Ok(None) if now_ns() < until_ns => std::thread::sleep(LOOK_EVERY),
            Ok(None) => return "it closed its socket".to_owned(),
            Err(error) => return error.to_string(),
        }
    }
}

fn how_a_member_ended(end: &MemberEnd, most: Duration) -> String {
    match end.wait_for(most).standing {
        Standing::Lost(why) => why,
        _ => "it closed its socket".to_owned(),
    }
}

/// Starts this program anew. It has its own process group, so that Ctrl-C reaches the coordinator
/// alone.
pub(super) fn start() -> io::Result<(UnixStream, Child)> {
    let (near, far) = UnixStream::pair()?;
    let program = std::env::current_exe()?;
    let child = Command::new(program)
        .arg(SUBCOMMAND)
        .stdin(Stdio::from(OwnedFd::from(far)))
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()?;
    Ok((near, child))
}

pub(super) fn not_started(error: io::Error) -> RunError {
    RunError::new(
        format!("cannot start a process of generators: {error}"),
        "check ulimit -u and the memory that is left",
    )
}
