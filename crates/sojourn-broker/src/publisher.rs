//! Publishing, for journeys that start with a message.

use std::sync::Arc;

use crate::BrokerError;

/// Sends messages without blocking; outcomes come back by token.
///
/// A publisher connects in the background, and again whenever its connection is lost: nobody has to
/// wait for [`Self::ready`], but who measures does.
pub trait Publisher: Send {
    /// Returns when it is known to work: connected, logged in, and each of these topics is there
    /// where a message does not make it. Errs clearly, as [`crate::Tap::open`] does, when the first
    /// attempt has failed.
    fn ready(&mut self, topics: &[String]) -> Result<(), BrokerError> {
        let _unused = topics;
        Ok(())
    }

    /// Queues one message; `Err` when the bounded queue is full, or when the message can't be sent
    /// at all. `topic` is the broker's word for where: topic, subject, routing key, stream, queue,
    /// table. A broker without keys or headers carries them as its page in `docs/brokers/` says.
    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String>;

    /// Outcomes since the last call, without waiting. Each message has exactly one.
    fn poll(&mut self, outcomes: &mut Vec<Outcome>);
}

/// What a publisher is made with.
#[derive(Clone)]
pub struct PublisherSettings {
    /// Most messages without an outcome; a further one is refused.
    pub queue_max: usize,
    /// Called from any thread when there are outcomes to be polled, so that nobody has to ask in
    /// vain. Cheap, and never blocks.
    pub wake: Arc<dyn Fn() + Send + Sync>,
    /// Which of a run's publishers to the channel it is, from 0: each generator has one. What a
    /// broker knows a publisher by, and allows once, is to differ by it.
    pub member: u32,
}

impl std::fmt::Debug for PublisherSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublisherSettings")
            .field("queue_max", &self.queue_max)
            .field("member", &self.member)
            .finish_non_exhaustive()
    }
}

impl Default for PublisherSettings {
    fn default() -> Self {
        Self { queue_max: 10_000, wake: Arc::new(|| {}), member: 0 }
    }
}

/// What became of a published message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The caller's.
    pub token: u64,
    /// When the broker's acknowledgement was read, CLOCK_MONOTONIC nanoseconds.
    pub acked_ns: u64,
    /// The broker's refusal, where it refused; stable words without ids or addresses, since
    /// reports count by them.
    pub error: Option<String>,
}
