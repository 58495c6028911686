//! Ctrl-C and SIGTERM.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sojourn_engine::{EXIT_INTERRUPTED, Stop};

/// A [`Stop`] for a run: the first signal asks for a graceful end, the second for one at once; a
/// third ends the process.
pub(crate) fn stop_on_signals() -> Stop {
    on_signals("no new arrivals, the rest is waited for (again: at once)")
}

/// The same for a script.
#[cfg(feature = "script")]
pub(crate) fn stop_script_on_signals() -> Stop {
    on_signals("iterations are cut, teardown is called (again: at once)")
}

/// The same for a server.
pub(crate) fn stop_serving_on_signals() -> Stop {
    on_signals("no new connections, what is held is answered (again: at once)")
}

/// The same for several runs, one after the other.
pub(crate) fn stop_several_on_signals() -> Stop {
    on_signals("this run is drained, no further one is made (again: at once)")
}

/// The same for a run in a cluster.
pub(crate) fn stop_cluster_on_signals() -> Stop {
    on_signals("the run is told to end gracefully (again: all of it is deleted)")
}

/// The same for who keeps a run's results.
pub(crate) fn stop_keeping_on_signals() -> Stop {
    on_signals("results are kept no longer")
}

/// The same for a generator of a run elsewhere.
pub(crate) fn stop_generating_on_signals() -> Stop {
    on_signals("this generator leaves, and counts as lost if its run has begun (third: at once)")
}

/// The same for a look at channels.
pub(crate) fn stop_watching_on_signals() -> Stop {
    on_signals("no more is watched")
}

/// The same for checks.
pub(crate) fn stop_checking_on_signals() -> Stop {
    on_signals("no further check is begun")
}

/// What is to be ended, and how often that was asked for.
struct Stopping {
    stop: Stop,
    first: &'static str,
    asked: u32,
}

/// That of this process's command.
static STOPPING: Mutex<Option<Stopping>> = Mutex::new(None);

fn on_signals(first: &'static str) -> Stop {
    let stop = Stop::default();
    *stopping() = Some(Stopping { stop: stop.clone(), first, asked: 0 });
    let signals = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
    ]);
    // Without signals the run can still be made; it then ends as any process does.
    if let Ok(mut signals) = signals {
        std::thread::spawn(move || signals.forever().for_each(|_| ask()));
    }
    stop
}

/// Asks as a signal does: for the keys that would be signals, were the terminal not a display's.
pub(crate) fn ask() {
    let mut stopping = stopping();
    let Some(Stopping { stop, first, asked }) = stopping.as_mut() else { return };
    *asked += 1;
    match *asked {
        1 => say(&format!("stopping: {first}")),
        2 => say("stopping at once"),
        _ => {
            sojourn_terminal::restore();
            std::process::exit(EXIT_INTERRUPTED.into())
        }
    }
    stop.request();
}

fn stopping() -> MutexGuard<'static, Option<Stopping>> {
    STOPPING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says it where it can be read: on the display, where one has the terminal.
pub(crate) fn say(words: &str) {
    if !sojourn_terminal::tell(words) {
        eprintln!("\n{words}");
    }
}
