//! One client of a session: where it stands, what it has under way, whose connections it has.

use smallvec::SmallVec;
use sojourn_http::OriginId;
use sojourn_session::Client as Walker;

use super::origins::{OriginIndex, Origins};

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
    /// Its own connections, by origin: mostly one.
    origins: SmallVec<[(OriginIndex, OriginId); 1]>,
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
    /// Bytes of redirects before: sent, received.
    pub(super) bytes_before: (u64, u64),
}

impl Seat {
    pub(super) fn new(walker: Walker, kind: u16, number: u64, t0_ns: u64, generation: u32) -> Self {
        Self {
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
        client: &mut sojourn_http::Client,
    ) -> OriginId {
        if let Some((_, id)) = self.origins.iter().find(|(known, _)| *known == index) {
            return *id;
        }
        let id = origins.take(index, client);
        self.origins.push((index, id));
        id
    }

    /// Its request is over.
    pub(super) fn answered(&mut self) {
        self.asked = None;
        if self.message.capacity() > MESSAGE_KEPT_MAX {
            self.message = Vec::new();
        }
    }

    /// Closes its connections.
    pub(super) fn leave(&mut self, origins: &mut Origins, client: &mut sojourn_http::Client) {
        for (index, id) in self.origins.drain(..) {
            origins.give_back(index, id, client);
        }
    }
}
