//! Publishing, for journeys that start with a message.

/// Sends messages without blocking; outcomes come back by token.
pub trait Publisher: Send {
    /// Queues one message; `Err` when the bounded queue is full.
    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String>;

    /// Outcomes since the last call, without waiting.
    fn poll(&mut self, outcomes: &mut Vec<Outcome>);
}

/// What became of a published message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The caller's.
    pub token: u64,
    /// When the broker's acknowledgement was read, CLOCK_MONOTONIC nanoseconds.
    pub acked_ns: u64,
    /// The broker's refusal, where it refused.
    pub error: Option<String>,
}
