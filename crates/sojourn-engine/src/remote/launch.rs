//! Starting processes of this program, with a socket for their standard input.

use std::{
    io,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Child, Command, Stdio},
};

use sojourn_session::Offer;

use super::{Assignment, SUBCOMMAND, ToProcess, wire};
use crate::RunError;

/// A process that has been told its words, and no more: what is said over its socket from then on
/// is for whoever launched it to know.
#[derive(Debug)]
pub struct Launched {
    /// Its near end.
    pub socket: UnixStream,
    /// It ends when the socket does.
    pub child: Child,
}

/// Starts the process `number` of so many, from 0, for work whose messages are not those of
/// generators. At its other end is [`Joined::into_link`](super::Joined::into_link).
///
/// # Errors
/// There can be no further process, or no socket.
pub fn launch(words: Vec<String>, number: u32, of: u32) -> Result<Launched, RunError> {
    let (mut socket, child) = start().map_err(not_started)?;
    let assignment = Assignment {
        words,
        fingerprint: 0,
        run_id: String::new(),
        generators: number..number + 1,
        of,
        anchor_ns: (0, 0),
        files: Offer::default(),
        parcel: None,
        variables: Vec::new(),
        passes_results: false,
    };
    // One that is gone already is found out by whoever reads.
    let _ignored = wire::write(&mut socket, &ToProcess::Begin(Box::new(assignment)));
    Ok(Launched { socket, child })
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
