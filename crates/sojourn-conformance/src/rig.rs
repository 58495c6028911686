//! What a connector's tests give the script: a server, a channel, and what the broker can do.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use sojourn_broker::Connect;
use sojourn_plan::Channel;
use sojourn_services::CutProxy;

use crate::{Message, Seen};

/// One connector at one real server, with one topic, subject or queue that nobody else uses. Made
/// anew for each promise. Its methods panic when the server does not do as it is told.
pub trait Rig {
    /// The connector.
    fn connector(&self) -> &dyn Connect;

    /// The channel, with the server at this address instead of its own.
    fn channel(&self, through: Option<SocketAddr>) -> Channel;

    /// Where the server listens.
    fn address(&self) -> SocketAddr;

    /// A proxy before the server; [`Rig::channel`] is told its address.
    fn proxy(&self) -> CutProxy {
        CutProxy::start(self.address()).unwrap()
    }

    /// Ends the server at once, as by a power cut.
    fn kill(&mut self);

    /// Starts it again, on the same port with what it has kept, and makes anew what it has not.
    fn restart(&mut self);

    /// Publishes these messages in their order, straight to the server, and returns when it has
    /// them all. [`crate::publish_all`] does it by the connector's own publisher.
    fn publish(&mut self, messages: &[Message]);

    /// What the broker does.
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    /// The number of a message that came.
    fn number(&self, seen: &Seen) -> Option<u64> {
        seen.number()
    }

    /// Channels that cannot work, and what the tap must say of them.
    fn wrong(&mut self) -> Vec<Wrong>;

    /// Whether one of [`Rig::wrong`] is wrong for a publisher too, which does not take messages and
    /// by which some brokers make what is missing.
    fn stops_publishers(&self, _wrong: &Wrong) -> bool {
        true
    }

    /// A consumer of the system's own, in place and at the end when this returns. `None`: the
    /// broker has no other consumers.
    fn system(&mut self) -> Option<Box<dyn System>>;

    /// What clients have left in the broker by name: groups, queues, consumers, subscriptions. Not
    /// counts that other tests move.
    fn footprint(&mut self) -> Vec<String>;

    /// What the broker says, in figures by name, of the messages that [`Rig::system`] has not
    /// acknowledged: how many wait, are taken, have come again. Empty: it says nothing of them.
    fn unacknowledged(&mut self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Where messages are published, by the broker's word.
    fn topic(&self) -> String {
        self.channel(None).connector.usual_topic().unwrap_or_default().to_owned()
    }

    /// Numbers of the messages that the broker keeps, read by other means than the connector.
    /// `None`: it keeps none, or nothing can be published.
    fn stored(&mut self) -> Option<Vec<u64>> {
        None
    }

    /// The backlog's name of what [`Rig::system`] consumes by. `None`: the broker tells none.
    fn backlog(&self) -> Option<String> {
        None
    }

    /// A channel that is asked for the backlog of this name alone.
    fn channel_with_backlog(&self, name: &str) -> Channel {
        Channel { backlog: vec![name.to_owned()], ..self.channel(None) }
    }
}

/// A consumer that belongs to the system under test: by the broker's own client, not the
/// connector's.
pub trait System {
    /// Takes and acknowledges so many messages; their numbers in the order received. Fewer when no
    /// more come within some seconds.
    fn take(&mut self, count: usize) -> Vec<u64>;
}

/// What a broker does.
#[derive(Clone, Debug)]
pub struct Abilities {
    /// A tap reads on where it had stopped.
    pub keeps_a_past: bool,
    /// A restart loses what the broker had kept, with the places it was kept in.
    pub forgets_by_restart: bool,
    /// What was read is gone from the broker: nothing is read again.
    pub forgets_what_is_read: bool,
    /// Messages come in any order.
    pub unordered: bool,
    /// Messages carry keys.
    pub keys: bool,
    /// Messages carry headers.
    pub headers: bool,
    /// Payloads of any bytes.
    pub binary: bool,
    /// Empty payloads.
    pub empty: bool,
    /// The longest payload to be tried, bytes.
    pub payload_bytes_max: usize,
    /// Within this a silent connection is noticed.
    pub stall_noticed: Duration,
    /// What a tap that is not polled is flooded with: messages, bytes each.
    pub flood: (u64, usize),
    /// The most that this process may grow by during the flood, bytes.
    pub flood_growth_max: u64,
    /// It is seen that what comes was sent a while ago, over a slow link.
    pub sees_late_messages: bool,
    /// A message is stored once, however often its acknowledgement was lost.
    pub idempotent: bool,
}

impl Default for Abilities {
    fn default() -> Self {
        Self {
            keeps_a_past: false,
            forgets_by_restart: false,
            forgets_what_is_read: false,
            unordered: false,
            keys: true,
            headers: true,
            binary: true,
            empty: true,
            payload_bytes_max: 500_000,
            stall_noticed: Duration::from_secs(3),
            flood: (60_000, 2_000),
            flood_growth_max: 100 << 20,
            sees_late_messages: true,
            idempotent: false,
        }
    }
}

/// A channel that cannot work.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// What is wrong: `the password`.
    pub what: &'static str,
    /// The channel.
    pub channel: Channel,
    /// What the error must name, in message or hint: broker, address, the missing topic.
    pub says: Vec<String>,
    /// What it must not show.
    pub secret: Option<String>,
}

/// An address of this machine where nobody listens.
pub fn dead_address() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, sojourn_services::closed_port().unwrap()))
}
