//! A connection being made: where it may go, what is being tried, what went wrong.

use std::fmt;
use std::net::IpAddr;

use rustix::io::Errno;

use crate::driver::Remote;
use crate::proxy::Tunnel;
use crate::route::Target;

/// How long the latest attempt is alone before the next address is tried beside it (RFC 8305 §5).
pub(crate) const NEXT_ADDRESS_NS: u64 = 250 * sojourn_clock::MILLISECOND_NS;

/// A connection being made.
#[derive(Debug)]
pub(crate) struct Dialling {
    pub(crate) target: Target,
    /// What is left to try, the next one last.
    pub(crate) untried: Vec<Remote>,
    /// What is being tried, each in a connection slot of its own.
    pub(crate) attempts: Vec<Attempt>,
    /// When to try the next one beside them.
    pub(crate) next_at_ns: u64,
    /// The last attempt that failed, and why.
    pub(crate) failed: Option<(Attempt, Errno)>,
    /// On its way through a proxy.
    pub(crate) tunnel: Option<Tunnel>,
}

/// An address being tried.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// The connection slot it has.
    pub(crate) slot: u32,
    pub(crate) remote: Remote,
    /// Where it comes from, if not from where the kernel chose.
    pub(crate) local: Option<IpAddr>,
}

impl Dialling {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            untried: Vec::new(),
            attempts: Vec::new(),
            next_at_ns: 0,
            failed: None,
            tunnel: None,
        }
    }

    /// Takes an attempt off.
    pub(crate) fn end_attempt(&mut self, slot: u32) -> Option<Attempt> {
        let place = self.attempts.iter().position(|attempt| attempt.slot == slot)?;
        Some(self.attempts.swap_remove(place))
    }
}

impl Attempt {
    /// Both ends, where `label` names the far one but not always its address.
    pub(crate) fn between(&self, label: &str) -> String {
        match (label.ends_with(&self.remote.to_string()), self.local) {
            (true, None) => label.to_owned(),
            (true, Some(local)) => format!("{label} from {local}"),
            (false, _) => format!("{label} at {self}"),
        }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.remote.fmt(formatter)?;
        match self.local {
            Some(local) => write!(formatter, " from {local}"),
            None => Ok(()),
        }
    }
}
