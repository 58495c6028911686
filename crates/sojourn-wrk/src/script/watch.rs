//! Watches how long a script runs: an endless loop is interrupted.
//!
//! Lua calls [`Watch::look`] every some ten thousand instructions. A clock is only read then, never
//! when a script is called, which is the common case by far.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use sojourn_clock::{SECOND_NS, now_ns};

/// What of a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Call {
    /// The file itself, from top to bottom.
    File,
    Setup,
    Init,
    Request,
    Delay,
    Response,
    Done,
}

impl Call {
    const ALL: [Self; 7] = [
        Self::File,
        Self::Setup,
        Self::Init,
        Self::Request,
        Self::Delay,
        Self::Response,
        Self::Done,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::File => "the script",
            Self::Setup => "setup()",
            Self::Init => "init()",
            Self::Request => "request()",
            Self::Delay => "delay()",
            Self::Response => "response()",
            Self::Done => "done()",
        }
    }

    /// How long it may run, nanoseconds. What runs under load holds everything else up.
    fn limit_ns(self) -> u64 {
        match self {
            Self::File | Self::Setup | Self::Init | Self::Done => 60 * SECOND_NS,
            Self::Request | Self::Delay | Self::Response => 5 * SECOND_NS,
        }
    }
}

/// One state's watch. Only its own thread writes; the atomics let it move there.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    call: AtomicU32,
    calls: AtomicU64,
    seen: AtomicU64,
    since_ns: AtomicU64,
    /// Why it was told to end.
    interruption: OnceLock<String>,
    /// Instead of the usual limits, nanoseconds; 0: the usual.
    limit_ns: AtomicU64,
}

impl Watch {
    /// Something begins to run.
    pub(crate) fn enter(&self, call: Call) {
        self.call.store(call as u32, Relaxed);
        self.calls.store(self.calls.load(Relaxed) + 1, Relaxed);
    }

    /// Sets a limit of its own.
    #[cfg(test)]
    pub(crate) fn limit(&self, limit_ns: u64) {
        self.limit_ns.store(limit_ns, Relaxed);
    }

    /// What runs now.
    pub(crate) fn call(&self) -> Call {
        Call::ALL[self.call.load(Relaxed) as usize % Call::ALL.len()]
    }

    /// Why it was told to end, if it was: it can still hide that by another error.
    pub(crate) fn interruption(&self) -> Option<&str> {
        self.interruption.get().map(String::as_str)
    }

    /// Says why it must end, if it has run for too long; `place` is where it is.
    pub(crate) fn look(&self, place: impl FnOnce() -> String) -> Option<&str> {
        let calls = self.calls.load(Relaxed);
        let now = now_ns();
        if self.seen.load(Relaxed) != calls {
            self.seen.store(calls, Relaxed);
            self.since_ns.store(now, Relaxed);
            return None;
        }
        let limit_ns = match self.limit_ns.load(Relaxed) {
            0 => self.call().limit_ns(),
            own_ns => own_ns,
        };
        if now.saturating_sub(self.since_ns.load(Relaxed)) < limit_ns {
            return None;
        }
        let why = || {
            let (place, name) = (place(), self.call().name());
            format!("{place}{name} has run for {} s: an endless loop?", limit_ns / SECOND_NS)
        };
        Some(self.interruption.get_or_init(why))
    }
}
