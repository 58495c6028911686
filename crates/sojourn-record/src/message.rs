//! What is kept of the messages of kept journeys.

use serde::{Deserialize, Serialize};

/// What was kept of one message of a kept journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageSample {
    /// The stage that it was matched to.
    pub stage: String,
    /// When it was observed: the stage's instant, or a duplicate's.
    pub seen_ns: u64,
    /// Its beginning; `None` where it was no longer held when the journey was kept.
    pub head: Option<MessageHead>,
}

/// The beginning of a message, secrets replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageHead {
    /// Topic, subject, exchange, path.
    pub topic: String,
    /// The broker's message key.
    pub key: Option<String>,
    /// Headers in order, as far as there was room.
    pub headers: Vec<(String, String)>,
    /// The payload's beginning: text, or hexadecimal digits where it is none.
    pub body: String,
    /// Whether `body` is text.
    pub is_text: bool,
    /// Length of the whole payload.
    pub bytes: u64,
}
