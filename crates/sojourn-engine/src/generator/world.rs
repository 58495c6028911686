//! What a generator of sessions has to do with the world: time and connections. Beside the real one
//! there is one that is simulated ([`crate::simulated`]).

use std::io;

use sojourn_clock::now_ns;
use sojourn_http::{Client, Completion, Exchange, Origin, OriginId};

use crate::health::Connections;

/// See the module's page.
pub(crate) trait World {
    /// The present instant, nanoseconds.
    fn now_ns(&self) -> u64;

    /// Waits until then, or for answers.
    fn wait_until(&mut self, deadline_ns: u64, done: &mut Vec<Completion>) -> io::Result<()>;

    /// Sends a request, whose completion comes by [`Self::wait_until`].
    fn send(&mut self, now_ns: u64, exchange: Exchange<'_>);

    /// A number for an origin whose connections are one client's own.
    fn own_origin(&mut self, origin: &Origin) -> OriginId;

    /// Closes the connections that are not used just now.
    fn close_idle(&mut self, origin: OriginId);

    /// Whether nothing further should begin before answers were looked at.
    fn is_behind(&self) -> bool;

    /// How many connections there are.
    fn connections(&self) -> Connections;
}

impl World for Client {
    fn now_ns(&self) -> u64 {
        now_ns()
    }

    fn wait_until(&mut self, deadline_ns: u64, done: &mut Vec<Completion>) -> io::Result<()> {
        self.wait_until(deadline_ns, done)
    }

    fn send(&mut self, now_ns: u64, exchange: Exchange<'_>) {
        self.send(now_ns, exchange);
    }

    fn own_origin(&mut self, origin: &Origin) -> OriginId {
        self.own_origin(origin)
    }

    fn close_idle(&mut self, origin: OriginId) {
        self.close_idle(origin);
    }

    fn is_behind(&self) -> bool {
        self.is_behind()
    }

    fn connections(&self) -> Connections {
        Connections::of(self)
    }
}
