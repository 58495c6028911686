//! What is known of a link's other side, for whoever looks.

use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::ClockFigures;

/// A generator's process as the coordinator knows it; at the other end, the coordinator.
#[derive(Clone, Debug, Default)]
pub struct MemberState {
    /// Its number among those of the run, from 0.
    pub number: u32,
    /// Its machine's name, as it says.
    pub host: String,
    /// Where it dialled from, the last time.
    pub address: Option<SocketAddr>,
    /// Its clock, once it has set it.
    pub clock: Option<ClockFigures>,
    /// How it stands.
    pub standing: Standing,
    /// How often its connection ended before its stream did.
    pub cuts: u64,
    /// The longest time without a connection, nanoseconds.
    pub cut_ns_max: u64,
    /// Bytes that were sent to it again after a cut.
    pub resent_bytes: u64,
    /// How often nothing more could be kept for it.
    pub held_up: u64,
}

impl MemberState {
    /// The link is neither over nor lost.
    pub fn goes_on(&self) -> bool {
        !matches!(self.standing, Standing::Over | Standing::Lost(_))
    }
}

/// How a link stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Not there yet.
    #[default]
    Missing,
    /// Connected.
    Connected,
    /// Connected, and not heard of for seconds.
    Suspect,
    /// Without a connection since this instant of the machine's clock, nanoseconds.
    Cut(u64),
    /// Everything was delivered both ways.
    Over,
    /// Given up: why.
    Lost(String),
}

/// A state that is looked at and waited for. A clone is the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch(Arc<(Mutex<MemberState>, Condvar)>);

impl Watch {
    pub(crate) fn get(&self) -> MemberState {
        self.lock().clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut MemberState)) {
        change(&mut self.lock());
        self.0.1.notify_all();
    }

    /// Waits until the link is over or lost.
    fn ended(&self) -> MemberState {
        let ended = self.0.1.wait_while(self.lock(), |state| state.goes_on());
        ended.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same for at most so long.
    fn ended_within(&self, most: Duration) -> MemberState {
        let ended = self.0.1.wait_timeout_while(self.lock(), most, |state| state.goes_on());
        ended.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn lock(&self) -> MutexGuard<'_, MemberState> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a member's end shows.
#[derive(Clone, Debug)]
pub struct MemberEnd(pub(crate) Watch);

impl MemberEnd {
    /// How it stands now.
    pub fn now(&self) -> MemberState {
        self.0.get()
    }

    /// Waits until the link has ended, which it does some time after either side of the stream
    /// has; how.
    pub fn wait(&self) -> MemberState {
        self.0.ended()
    }

    /// The same, and how it stands if it has not ended within so long.
    pub fn wait_for(&self, most: Duration) -> MemberState {
        self.0.ended_within(most)
    }
}
