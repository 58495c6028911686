//! An attack whose generators are processes of their own, here or elsewhere.

use sojourn_engine::{Joined, Processes, RunError, Stop};

use super::{Attack, prepared::Prepared};
use crate::{errors::UsageError, fleet_flags::Gathered, process_flags, shelf::Shelf};

/// The processes that make an attack's load besides this one.
pub(super) enum Spread {
    /// There are none.
    Nowhere,
    /// They are started here.
    Here(Processes),
    /// They have dialled in.
    Joined(Gathered),
}

impl Spread {
    /// As asked, with what their attack is made of; waits for those that dial in.
    pub(super) fn of(command: &Attack, shelf: Shelf, stop: &Stop) -> Result<Self, UsageError> {
        if let Some(fleet) = command.listen.fleet() {
            let gathered = fleet.gather(&command.spread, shelf.into_parcel(), stop)?;
            return Ok(Self::Joined(gathered));
        }
        Ok(match command.spread.processes()? {
            None => Self::Nowhere,
            // Standard input can be read only once, and targets may stand in a pipe.
            Some(processes) => {
                Self::Here(Processes { parcel: Some(shelf.into_parcel()), ..processes })
            }
        })
    }

    /// For the run's options.
    pub(super) fn processes(&self) -> Option<Processes> {
        match self {
            Self::Nowhere => None,
            Self::Here(processes) => Some(processes.clone()),
            Self::Joined(gathered) => Some(gathered.processes.clone()),
        }
    }
}

/// Where an attack's files are noted for its processes, if it has any.
pub(super) fn shelf(command: &Attack) -> Result<Shelf, UsageError> {
    if command.spread.count().is_none() {
        return Ok(Shelf::Here);
    }
    if command.lazy {
        return Err(UsageError::new(
            "-lazy with -generators: several processes can't take turns at one stream of targets",
            "leave -lazy out: all targets are read first, and every process has them; or have one \
             process with more -threads",
        ));
    }
    let are_elsewhere = command.on.is_asked() || command.listen.fleet().is_some();
    if are_elsewhere && command.connections.has_local_addresses() {
        let flag = if command.on.is_asked() { "-on" } else { "-listen" };
        return Err(UsageError::new(
            format!(
                "-laddr with {flag}: an address is one machine's, and generators are on others"
            ),
            "leave -laddr out; each generator's machine has addresses and ports of its own",
        ));
    }
    Ok(Shelf::noting())
}

/// The command line that an attack is made of.
pub(super) fn words(command: &Attack) -> Result<Vec<String>, UsageError> {
    match command.spread.count() {
        Some(_) => process_flags::words(),
        None => {
            let words = std::env::args_os().skip(1);
            Ok(words.map(|word| word.to_string_lossy().into_owned()).collect())
        }
    }
}

/// Makes the load of the same attack for the process that coordinates it.
pub(crate) fn join(command: &Attack, joined: Joined) -> Result<(), RunError> {
    let shelf = Shelf::of(&joined);
    let run_id = joined.run_id().to_owned();
    match Prepared::of(command, joined.words(), &shelf, run_id) {
        Ok(Prepared { plan, options, attack, .. }) => joined.serve_attack(&plan, &options, attack),
        Err(error) => Err(joined.refuse(error.into())),
    }
}
