//! `sojourn generator`: a process that makes load for another one's run.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use sojourn_engine::{EXIT_INTERRUPTED, EXIT_VOID, Joined, RunError, Stop};
use sojourn_fleet::{FleetError, JoinAt, JoinKey, Joining, KEY_VARIABLE, Left};

use super::{Command, attack, coordinator, run};
#[cfg(feature = "script")]
use super::{k6, session};
use crate::{errors::UsageError, signals};

/// Make load for a coordinator on another machine
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn generator --join 10.0.0.5:7000 --key-file fleet.key
  SOJOURN_FLEET_KEY=$(cat fleet.key) sojourn generator --join coordinator:7000

It gets the plan and its files from the coordinator. Exit codes: 0 the run is over and everything
was delivered, 2 it could not join or was refused, 3 the coordinator was lost, 105 interrupted.")]
pub(crate) struct Generator {
    /// The coordinator's host and port [default: what a run with --generators starts]
    #[arg(long, value_name = "HOST:PORT")]
    join: Option<String>,
    /// Copy of the coordinator's key file [default: the key is in SOJOURN_FLEET_KEY]
    #[arg(long, value_name = "FILE", requires = "join")]
    key_file: Option<PathBuf>,
    /// Number among the run's generators, from 0 [default: the next that is free]
    #[arg(long, value_name = "N", requires = "join")]
    number: Option<u32>,
    /// How long a coordinator is waited for that is not there yet
    #[arg(long, value_name = "D", default_value = "120s", requires = "join")]
    #[arg(value_parser = sojourn_plan::duration_ns)]
    join_within: u64,
}

/// Makes load for the run that is joined, or whose socket is standard input.
pub(crate) fn run(command: &Generator) -> Result<u8, UsageError> {
    if let Some(address) = &command.join {
        return command.dial(address);
    }
    // Whatever becomes of it: the coordinator says so.
    let _said = make(Joined::from_standard_input()?);
    Ok(0)
}

impl Generator {
    fn dial(&self, address: &str) -> Result<u8, UsageError> {
        sojourn_clock::shift_for_tests();
        let at = JoinAt {
            address: address.to_owned(),
            key: self.key()?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            number: self.number,
            within_ns: self.join_within,
        };
        // It may wait for a long time, and in a pod no signal ends a process that does not mind it.
        let stop = signals::stop_generating_on_signals();
        let joined = Joining::join_unless(&at, true, &|| stop.graceful());
        let (joining, socket) = joined.map_err(|error| {
            let is_interrupted = matches!(error, FleetError::Interrupted(_));
            let error = UsageError::from(error);
            if is_interrupted { error.with_code(EXIT_INTERRUPTED) } else { error }
        })?;
        eprintln!(
            "joined {address} as generator {} of {}, clock within {:.3} ms; waiting for the run",
            joining.number,
            joining.of,
            joining.clock.uncertainty_ns as f64 / 1e6
        );
        if !has_word(&socket, &stop) {
            // Its connection ends with this process, and another one may take its place.
            let message = "interrupted while it waited for the run";
            return Err(UsageError::with(message, None).with_code(EXIT_INTERRUPTED));
        }
        // From here on a signal is a departure, which the coordinator hears of.
        let made = Joined::dialled(socket).and_then(|joined| make(joined.ending_on(stop.clone())));
        match (joining.leave(), made) {
            (Left::Lost(why), _) => Err(UsageError::new(
                format!("the coordinator was lost: {why}"),
                "what it had not acknowledged is missing in its report; look whether it still \
                 runs, and whether its machine can be reached",
            )
            .with_code(EXIT_VOID)),
            (Left::Delivered, Ok(())) => {
                eprintln!("the run is over; everything was delivered");
                Ok(0)
            }
            (Left::Delivered, Err(error)) => {
                let error = UsageError::from(error);
                Err(if stop.graceful() { error.with_code(EXIT_INTERRUPTED) } else { error })
            }
        }
    }

    fn key(&self) -> Result<JoinKey, UsageError> {
        if let Some(path) = &self.key_file {
            return Ok(JoinKey::read(path)?);
        }
        let text = std::env::var(KEY_VARIABLE).map_err(|_| {
            UsageError::new(
                format!("a generator must have its coordinator's key: {KEY_VARIABLE} is not set"),
                "give a copy of the coordinator's key file: --key-file FILE",
            )
        })?;
        Ok(JoinKey::parse(&text)?)
    }
}

/// Waits until the coordinator says something, or has gone; false where this process is asked to
/// end before that.
fn has_word(socket: &UnixStream, stop: &Stop) -> bool {
    let look_every = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while !stop.graceful() {
        match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&look_every)) {
            Ok(0) | Err(Errno::INTR) => {}
            // Whatever it is, the reader meets it.
            _ => return true,
        }
    }
    false
}

/// Makes the load of the coordinator's command line.
fn make(joined: Joined) -> Result<(), RunError> {
    let words = std::iter::once("sojourn").chain(joined.words().iter().map(String::as_str));
    match crate::parse(words.map(Into::into).collect()) {
        Ok(Command::Run(command)) => run::join(&command, joined),
        Ok(Command::Attack(command)) => attack::join(&command, joined),
        Ok(Command::Coordinator(command)) => coordinator::join(&command, joined),
        #[cfg(feature = "script")]
        Ok(Command::Session(command)) => session::join(&command, joined),
        #[cfg(feature = "script")]
        Ok(Command::K6(command)) => k6::join(&command, joined),
        // The coordinator read the same words, and is one of the above.
        Ok(_) => Err(joined.refuse(RunError::with("this command makes no load", None))),
        Err(error) => Err(joined.refuse(RunError::with(error.to_string(), None))),
    }
}
