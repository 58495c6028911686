//! Listening without disturbing.

use std::time::Duration;

use crate::{BrokerError, Gap, RawMessage, Span};

/// Where a tap's messages go. Called on the tap's own thread, in the order received.
pub trait Sink {
    /// Takes one message.
    fn message(&mut self, message: &RawMessage<'_>);

    /// Takes a message that the tap could not accept as an event, and why: a signature is wrong.
    /// Whoever keeps books must count it; others need not look at it.
    fn unacceptable(&mut self, message: &RawMessage<'_>, reason: &str) {
        let _unused = (message, reason);
    }
}

/// One passive, shared subscription to a channel. Never takes messages from the system's own
/// consumers: no group joined, nothing committed, nothing acknowledged on their behalf.
pub trait Tap: Send {
    /// Subscribes from now on and returns when nothing published after this call can be missed.
    /// Errs clearly when the broker is not there or the channel does not exist.
    fn open(&mut self) -> Result<TapInfo, BrokerError>;

    /// How long a lost connection is tried to be had again before [`Self::poll`] errs, for a tap
    /// that is not open yet; [`crate::Backoff::GIVE_UP_AFTER`] unless told here.
    fn give_up_after(&mut self, patience: Duration) {
        let _unused = patience;
    }

    /// Waits up to `timeout` for messages and hands over what there is, oldest first.
    /// An error means that the tap is lost and the run void.
    ///
    /// A lost connection is not an error at once: the tap connects again ([`crate::Backoff`]) while
    /// polls find nothing and the watermark stands still, reads on from where it had stopped if the
    /// broker can, and tells of the stretch by [`Self::take_gaps`]. It errs when it gives up.
    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError>;

    /// Stretches without a connection that ended since the last call.
    fn take_gaps(&mut self) -> Vec<Gap> {
        Vec::new()
    }

    /// Every message received before this instant has been handed over. It moves only when a poll
    /// has found nothing more to hand over, so that a tap that can't keep up is seen to be behind.
    fn watermark_ns(&self) -> u64;

    /// Reads a stretch of the channel's past again: hands over, once, each message of it that the
    /// broker still has, every partition's in its order, stamped as received now; returns how many.
    /// The subscription stays where it is, and [`Self::poll`] goes on with it afterwards.
    ///
    /// Errs when the channel keeps no past, when a part of the span has been deleted, and when not
    /// everything has come within `timeout`; what came until then has been handed over.
    fn replay(
        &mut self,
        span: &Span,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<u64, BrokerError> {
        let _unused = (span, timeout, sink);
        Err(BrokerError::new("this channel keeps nothing that could be read again"))
    }

    /// How far behind the channel's end the tap reads, nanoseconds, where it can tell: generator
    /// health.
    fn behind_ns(&self) -> Option<u64> {
        None
    }

    /// Messages that reached the tap and were refused at one of its bounds: never seen by the
    /// ledger. Above zero, the run is void.
    fn refused(&self) -> u64 {
        0
    }
}

/// What an open tap listens to, for the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TapInfo {
    /// In words: `kafka 127.0.0.1:9092, topic payments.events, 16 partitions from their end`.
    pub listens_to: String,
    /// Address bound, for a receiver with a listener of its own.
    pub address: Option<std::net::SocketAddr>,
}
