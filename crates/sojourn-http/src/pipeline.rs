//! Several requests in one message, answered one after the other on one connection.

use crate::codec::BodyError;

/// How far such a message has been answered.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// Answers to come, the present one included; never zero.
    left: u32,
    answers: Vec<Whole>,
}

/// An answer that has wholly come.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) ended_ns: u64,
    pub(crate) first_read_ns: u64,
    pub(crate) bytes_in: u64,
    pub(crate) status: u16,
    pub(crate) head: Vec<u8>,
    /// What was kept of the body, and its length.
    pub(crate) body: Result<(Vec<u8>, u64), BodyError>,
}

impl Pipeline {
    /// A message of so many requests, at least one.
    pub(crate) fn new(requests: u32) -> Self {
        Self { left: requests.max(1), answers: Vec::new() }
    }

    /// The present answer is not the last.
    pub(crate) fn goes_on(&self) -> bool {
        self.left > 1
    }

    /// Answers to come, the present one included.
    pub(crate) fn left(&self) -> u32 {
        self.left
    }

    /// The present answer is whole, and the next one's turn has come.
    pub(crate) fn answered(&mut self, whole: Whole) {
        self.answers.push(whole);
        self.left -= 1;
    }

    /// Not one answer is whole.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.answers.is_empty()
    }

    /// The answers before the present one, in order.
    pub(crate) fn into_answers(self) -> Vec<Whole> {
        self.answers
    }
}
