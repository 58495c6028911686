//! Published messages whose outcome is awaited, each until its time is up.

use std::collections::HashMap;

use sojourn_clock::MILLISECOND_NS;

/// How often overdue messages are looked for: one is given up so much late at most.
const LOOK_NS: u64 = 10 * MILLISECOND_NS;

/// Messages by token. Each ends once: what is said of it later is passed over. Bounded by the
/// publishers' queues.
#[derive(Debug, Default)]
pub struct Awaited {
    /// When each is given up, CLOCK_MONOTONIC nanoseconds.
    due_ns: HashMap<u64, u64>,
    look_ns: u64,
}

impl Awaited {
    /// Why a message was given up; reports count by it.
    pub const NOT_ACKNOWLEDGED: &'static str = "not acknowledged in time";

    /// A message is on its way from now on, for `timeout_ns` at most.
    pub fn add(&mut self, now_ns: u64, token: u64, timeout_ns: u64) {
        if self.due_ns.is_empty() {
            self.look_ns = now_ns + LOOK_NS;
        }
        self.due_ns.insert(token, now_ns.saturating_add(timeout_ns));
    }

    /// A message has an outcome; false when it had ended before.
    pub fn settle(&mut self, token: u64) -> bool {
        self.due_ns.remove(&token).is_some()
    }

    /// Gives up the messages that are overdue by now, if it is time to look.
    pub fn give_up(&mut self, now_ns: u64, mut given_up: impl FnMut(u64)) {
        if now_ns < self.look_ns || self.due_ns.is_empty() {
            return;
        }
        self.look_ns = now_ns + LOOK_NS;
        self.due_ns.retain(|token, due_ns| {
            let is_overdue = *due_ns <= now_ns;
            if is_overdue {
                given_up(*token);
            }
            !is_overdue
        });
    }

    /// When overdue messages are looked for next; the end of time when none is on its way.
    pub fn next_ns(&self) -> u64 {
        if self.due_ns.is_empty() { u64::MAX } else { self.look_ns }
    }

    /// Messages on their way.
    pub fn len(&self) -> usize {
        self.due_ns.len()
    }

    /// Whether no message is on its way.
    pub fn is_empty(&self) -> bool {
        self.due_ns.is_empty()
    }
}
