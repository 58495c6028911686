//! Consuming, as the system's own consumers do.

use std::time::Duration;

use crate::{BrokerError, Sink};

/// Where a group begins that there was not before. One that there is goes on where it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// At the oldest message that the broker has. A queue's consumers always do.
    Earliest,
    /// Behind the newest.
    #[default]
    Latest,
}

/// A real member of a consumer group: what it takes, no other member of the group gets. For scripts
/// that play a part of the system; measuring is a [`crate::Tap`]'s work.
///
/// At least once: a message whose offset was not committed comes again, to this member or another,
/// after a member has left or joined.
pub trait Consumer: Send {
    /// Hands over up to `messages_max` messages, waiting up to `timeout` for the first; returns how
    /// many. The group is joined by the first calls, which find nothing until it has shared the
    /// partitions out. Errs when the topic does not exist or access is refused; of a broker that is
    /// away nothing comes.
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError>;

    /// Tells the broker that everything handed over so far is done, and waits for its answer. Errs
    /// when the broker did not take it, as after a rebalance that gave the partitions away.
    fn commit(&mut self) -> Result<(), BrokerError>;

    /// Keeps the membership while its owner does something else: answers the broker, takes part in
    /// rebalances. To be called a few times a second between other calls; hands nothing over.
    fn idle(&mut self) {}

    /// Whether a commit means anything to the broker. Where it keeps nothing, members share what
    /// comes, and what was not committed never comes again.
    fn commits(&self) -> bool {
        true
    }

    /// Partitions that the group has given to this member; none before it has been joined.
    fn assigned(&self) -> usize;

    /// Leaves the group, so that the others take over at once. Whatever was not committed comes
    /// again. No message comes after this.
    fn leave(&mut self);
}
