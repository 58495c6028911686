//! What clients do, for somebody who looks on: all that a validation shows.

mod dump;
mod show;

use crate::client::Ended;

pub use dump::Dump;
pub(crate) use show::is_secret_name;

/// Most bytes of a message or body that are handed on.
pub const SHOWN_BYTES_MAX: usize = 16 << 10;

/// One thing that a client did.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// Since the run's start, nanoseconds.
    pub at_ns: u64,
    /// Index of the client's session.
    pub session: usize,
    /// The client's number among all clients.
    pub client: u64,
    /// Counts what this client did, from 0: a gap shows that something was lost on the way.
    pub number: u32,
    /// What it did.
    pub what: Trace,
}

/// What a client did.
#[derive(Clone, Debug, PartialEq)]
pub enum Trace {
    /// It sent a message.
    Sent {
        /// Scheme, host and port.
        origin: String,
        /// Head and body.
        message: Shown,
    },
    /// An answer came.
    Answered {
        /// The status line and header fields.
        head: Shown,
        /// Decompressed.
        body: Shown,
        /// Since it was sent, nanoseconds.
        after_ns: u64,
    },
    /// No answer came: why.
    Unanswered {
        /// In words.
        why: String,
        /// Since it was sent, nanoseconds.
        after_ns: u64,
    },
    /// A request was not sent, or a redirect not followed.
    Refused {
        /// Where it would have gone.
        url: String,
        /// In words.
        why: String,
    },
    /// A check or an assertion.
    Checked {
        /// Index into [`Program::checks`](crate::Program::checks).
        check: usize,
        /// Whether it held.
        is_ok: bool,
    },
    /// It pauses.
    Waits {
        /// How long, nanoseconds.
        ns: u64,
    },
    /// It wrote to the user's log.
    Logged(String),
    /// It has ended.
    Ended(Ended),
}

/// Bytes, as far as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The first of them.
    pub bytes: Vec<u8>,
    /// How many there were.
    pub total: u64,
}

impl Shown {
    /// The first [`SHOWN_BYTES_MAX`] bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_more(bytes, bytes.len() as u64)
    }

    /// The same of bytes that are only the first of more.
    pub fn of_more(bytes: &[u8], total: u64) -> Self {
        let end = bytes.len().min(SHOWN_BYTES_MAX);
        Self { bytes: bytes[..end].to_vec(), total: total.max(bytes.len() as u64) }
    }
}
