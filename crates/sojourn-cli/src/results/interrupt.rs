//! The first Ctrl-C ends the input, the second the process; and an input that has nothing for a
//! while does not hold up what is due.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    os::unix::net::UnixStream,
    rc::Rc,
    sync::{Arc, atomic::AtomicBool},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::SIGINT;
use sojourn_clock::now_ns;

/// Tells of Ctrl-C and of time.
#[derive(Debug)]
pub(crate) struct Interrupt {
    /// Readable once the signal has come; `None` where signals cannot be caught.
    signal: Option<UnixStream>,
    /// A tick is due this often, nanoseconds; 0 is never.
    every_ns: u64,
    /// When the next is due, CLOCK_MONOTONIC.
    tick_ns: std::cell::Cell<u64>,
}

impl Interrupt {
    /// From now on the first signal is only told of.
    pub(crate) fn new(every_ns: u64) -> Self {
        let tick_ns = std::cell::Cell::new(now_ns() + every_ns);
        Self { signal: catch().ok(), every_ns, tick_ns }
    }

    /// Whether a tick is due; the next one is then due after another interval.
    fn take_tick(&self) -> bool {
        let now_ns = now_ns();
        let is_due = self.every_ns > 0 && now_ns >= self.tick_ns.get();
        if is_due {
            self.tick_ns.set(now_ns + self.every_ns);
        }
        is_due
    }

    /// Waits until the file can be read, the signal has come or a tick is due.
    fn wait(&self, file: &File) -> std::io::Result<Event> {
        let mut events = vec![PollFd::new(file, PollFlags::IN)];
        events.extend(self.signal.as_ref().map(|signal| PollFd::new(signal, PollFlags::IN)));
        loop {
            if self.take_tick() {
                return Ok(Event::Tick);
            }
            let left_ns = self.tick_ns.get().saturating_sub(now_ns());
            let timeout = Timespec {
                tv_sec: i64::try_from(left_ns / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: (left_ns % 1_000_000_000) as _,
            };
            match poll(&mut events, (self.every_ns > 0).then_some(&timeout)) {
                Ok(_) if events.get(1).is_some_and(|signal| !signal.revents().is_empty()) => {
                    return Ok(Event::Signal);
                }
                Ok(_) if !events[0].revents().is_empty() => return Ok(Event::Readable),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

enum Event {
    Readable,
    Signal,
    Tick,
}

/// A stream that becomes readable with the first SIGINT; the second ends the process.
fn catch() -> std::io::Result<UnixStream> {
    let (told, tell) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(SIGINT, tell)?;
    let is_second = Arc::new(AtomicBool::new(false));
    // Handlers run in this order: the first signal finds the mark unset, and sets it.
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&is_second))?;
    signal_hook::flag::register(SIGINT, is_second)?;
    Ok(told)
}

/// A file that ends with Ctrl-C, and that has nothing in time when a tick is due.
#[derive(Debug)]
pub(crate) struct Interruptible {
    file: File,
    interrupt: Rc<Interrupt>,
}

impl Interruptible {
    pub(crate) fn new(file: File, interrupt: Rc<Interrupt>) -> Self {
        Self { file, interrupt }
    }
}

impl Read for Interruptible {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.interrupt.wait(&self.file)? {
            Event::Readable => self.file.read(into),
            Event::Signal => Ok(0),
            Event::Tick => Err(ErrorKind::TimedOut.into()),
        }
    }
}

impl Interrupt {
    /// Whether the signal has come.
    pub(crate) fn has_come(&self) -> bool {
        self.signal.as_ref().is_some_and(|signal| {
            let mut events = [PollFd::new(signal, PollFlags::IN)];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            matches!(poll(&mut events, Some(&now)), Ok(1..))
        })
    }
}
