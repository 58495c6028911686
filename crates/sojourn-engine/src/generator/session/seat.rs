//! One client of a session: where it stands, what it has under way, whose connections it has.

use smallvec::SmallVec;
use sojourn_cookies::Jar;
use sojourn_http::OriginId;
use sojourn_session::Client as Walker;

use super::origins::{OriginIndex, Origins};
use crate::generator::world::World;

/// Longest message whose buffer a client keeps for its next one, bytes.
const MESSAGE_KEPT_MAX: usize = 2_048;

/// A client from its arrival to its end.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) walker: Walker,
    /// Its session's journey in the plan.
    pub(super) kind: u16,
    /// Tells its completions and timers from those of the place's earlier clients.
    pub(super) generation: u32,
    /// Its number among all clients.
    pub(super) number: u64,
    /// Its scheduled instant, nanoseconds.
    pub(super) t0_ns: u64,
    /// From when on it could go on: when its next request is due.
    pub(super) due_ns: u64,
    /// How many requests it has sent, redirects included.
    pub(super) requests: u32,
    /// How many things were told of it.
    pub(super) told: u32,
    /// Its request under way.
    pub(super) asked: Option<Asked>,
    /// The message of the request under way: a redirect asks for it again.
    pub(super) message: Vec<u8>,
    /// Where its session publishes or waits for events.
    pub(super) events: Option<Box<SeatEvents>>,
    /// Its cookies, once it has been given one.
    pub(super) jar: Option<Box<Jar>>,
    /// Its own connections, by origin: mostly one.
    origins: SmallVec<[(OriginIndex, OriginId); 1]>,
}

/// What a client of a session with events remembers.
#[derive(Debug, Default)]
pub(super) struct SeatEvents {
    /// When the first request or message since its last pause or event was due.
    pub(super) t0_ns: u64,
    /// When that began.
    pub(super) t1_ns: u64,
    /// Since then it has not paused, nor waited for an event.
    is_acting: bool,
    /// Its message under way.
    pub(super) publishing: Option<Publishing>,
    /// Its wait under way.
    pub(super) expecting: Option<Expecting>,
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Publishing {
    /// Its step in the journey.
    pub(super) step: u16,
    pub(super) began_ns: u64,
    pub(super) sent_bytes: u64,
}

/// An event that is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expecting {
    /// Its step in the journey.
    pub(super) step: u16,
    pub(super) began_ns: u64,
}

impl SeatEvents {
    /// A request or message was due and begins.
    pub(super) fn acts(&mut self, due_ns: u64, now_ns: u64) {
        if !self.is_acting {
            (self.t0_ns, self.t1_ns, self.is_acting) = (due_ns, now_ns, true);
        }
    }

    /// An event is waited for, which some action before has caused; one that nothing was asked for
    /// before counts from here.
    pub(super) fn waits(&mut self, due_ns: u64, now_ns: u64) {
        if self.t1_ns == 0 {
            self.acts(due_ns, now_ns);
        }
        self.is_acting = false;
    }
}

/// A request under way, over all its redirects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Its step in the journey.
    pub(super) step: u16,
    pub(super) origin: OriginIndex,
    pub(super) redirects: u16,
    /// Whether the answer's body is kept.
    pub(super) needs_body: bool,
    pub(super) began_ns: u64,
    /// Whether the script gives its own cookies: then none of the client's go with it.
    pub(super) names_cookies: bool,
    /// Bytes of redirects before: sent, received.
    pub(super) bytes_before: (u64, u64),
}

impl Seat {
    pub(super) fn new(walker: Walker, kind: u16, number: u64, t0_ns: u64, generation: u32) -> Self {
        Self {
            events: None,
            jar: None,
            walker,
            kind,
            generation,
            number,
            t0_ns,
            due_ns: t0_ns,
            requests: 0,
            told: 0,
            asked: None,
            message: Vec::new(),
            origins: SmallVec::new(),
        }
    }

    /// Its connections to an origin.
    pub(super) fn origin(
        &mut self,
        index: OriginIndex,
        origins: &mut Origins,
        client: &mut impl World,
    ) -> OriginId {
        if let Some((_, id)) = self.origins.iter().find(|(known, _)| *known == index) {
            return *id;
        }
        let id = origins.take(index, client);
        self.origins.push((index, id));
        id
    }

    /// A request or message of its begins; how much later than it was due.
    pub(super) fn acts(&mut self, now_ns: u64) -> u64 {
        if let Some(events) = &mut self.events {
            events.acts(self.due_ns, now_ns);
        }
        now_ns.saturating_sub(self.due_ns)
    }

    /// It pauses: from when it could go on, not from when we came to look at it.
    pub(super) fn pauses(&mut self, ns: u64) {
        self.due_ns = self.due_ns.saturating_add(ns);
        if let Some(events) = &mut self.events {
            events.is_acting = false;
        }
    }

    /// Its request is over.
    pub(super) fn answered(&mut self) {
        self.asked = None;
        if self.message.capacity() > MESSAGE_KEPT_MAX {
            self.message = Vec::new();
        }
    }

    /// Closes its connections.
    pub(super) fn leave(&mut self, origins: &mut Origins, client: &mut impl World) {
        for (index, id) in self.origins.drain(..) {
            origins.give_back(index, id, client);
        }
    }
}
