//! Log lines that are said while a screen has the terminal: they are shown on it one at a time, and
//! written when it has gone.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most lines held; of more the oldest are dropped, and counted.
const LINES_MAX: usize = 10_000;

static HELD: Mutex<Held> = Mutex::new(Held { lines: VecDeque::new(), dropped: 0 });

struct Held {
    lines: VecDeque<Vec<u8>>,
    dropped: u64,
}

/// Standard error, but while a screen has the terminal.
pub(super) struct Terminal;

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        if !sojourn_terminal::tell(text.trim_end()) {
            return io::stderr().write(bytes);
        }
        let mut held = held();
        if held.lines.len() >= LINES_MAX {
            held.lines.pop_front();
            held.dropped += 1;
        }
        held.lines.push_back(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Writes what was held.
pub(super) fn release() {
    let mut held = held();
    if held.dropped > 0 {
        eprintln!("{} lines of the log before these were dropped", held.dropped);
        held.dropped = 0;
    }
    let mut out = io::stderr().lock();
    for line in held.lines.drain(..) {
        // A terminal that is gone takes no lines.
        let _ignored = out.write_all(&line);
    }
}

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}
