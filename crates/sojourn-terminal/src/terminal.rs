//! The terminal's state: raw mode and the alternate screen, taken and given back. One screen at a
//! time has it, and whoever ends the process can give it back.

use std::{
    io::{self, stderr},
    sync::{
        Mutex, MutexGuard, Once, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crossbeam_channel::Sender;
use crossterm::{
    cursor::{Hide, Show},
    execute,
    terminal::{
        EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
        enable_raw_mode,
    },
};

static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static NOTICES: Mutex<Option<Sender<String>>> = Mutex::new(None);

/// Takes the terminal. Errs when another screen has it, or it is none.
pub(crate) fn take(notices: Sender<String>) -> io::Result<()> {
    restore_on_panic();
    if IS_TAKEN.swap(true, Ordering::SeqCst) {
        return Err(io::Error::other("another display has the terminal"));
    }
    let entered = enable_raw_mode().and_then(|()| execute!(stderr(), EnterAlternateScreen, Hide));
    match entered {
        Ok(()) => *listener() = Some(notices),
        Err(_) => restore(),
    }
    entered
}

/// Whether a screen has the terminal.
pub(crate) fn is_taken() -> bool {
    IS_TAKEN.load(Ordering::SeqCst)
}

/// Gives the terminal back as it was, if a screen has it: to be called before the process ends
/// otherwise than by returning.
pub fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        *listener() = None;
        // A terminal that is gone can't be given back.
        let _ignored = execute!(stderr(), EndSynchronizedUpdate, LeaveAlternateScreen, Show);
        let _ignored = disable_raw_mode();
    }
}

/// Says something on the screen, if there is one; `false` when the caller has to say it itself.
pub fn tell(notice: &str) -> bool {
    match &*listener() {
        // A full queue has things to say already.
        Some(notices) => {
            let _ignored = notices.try_send(notice.to_owned());
            true
        }
        None => false,
    }
}

/// A panic's own words belong on a terminal that can show them.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}

fn listener() -> MutexGuard<'static, Option<Sender<String>>> {
    NOTICES.lock().unwrap_or_else(PoisonError::into_inner)
}
