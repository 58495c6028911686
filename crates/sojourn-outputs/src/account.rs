//! What an output was given and what of it arrived.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// So many frames, points and journeys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Seconds of the run.
    pub frames: u64,
    /// Series that were written to in those seconds, second by second.
    pub points: u64,
    /// Kept journeys, each once for each thing that it is kept as; of outputs that carry journeys.
    pub journeys: u64,
}

/// An output's book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The output, without secrets.
    pub what: String,
    /// What the run brought while the output was there.
    pub given: Counts,
    /// What the receiver took; of StatsD, what was handed to the network.
    pub sent: Counts,
    /// All else: what found the queue full, was given up, was refused, or was not done in time.
    pub dropped: Counts,
    /// The latest thing that went wrong.
    pub last_failure: Option<String>,
}

impl Account {
    /// The line that is said at the end.
    pub fn line(&self) -> String {
        let words = |counts: &Counts| {
            let mut words = format!("{} seconds, {} points", counts.frames, counts.points);
            if self.given.journeys > 0 {
                words.push_str(&format!(", {} journeys", counts.journeys));
            }
            words
        };
        let mut line = format!("output    {}: sent {}", self.what, words(&self.sent));
        if self.dropped != Counts::default() {
            line.push_str(&format!("; dropped {}", words(&self.dropped)));
        }
        if let Some(failure) = &self.last_failure {
            line.push_str(&format!(" (last failure: {failure})"));
        }
        line
    }
}

/// The same while it is written to by two threads.
#[derive(Debug, Default)]
pub(crate) struct Book {
    given: Tally,
    sent: Tally,
    last_failure: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct Tally {
    frames: AtomicU64,
    points: AtomicU64,
    journeys: AtomicU64,
}

impl Book {
    pub(crate) fn give(&self, counts: Counts) {
        self.given.add(counts);
    }

    pub(crate) fn send(&self, counts: Counts) {
        self.sent.add(counts);
    }

    pub(crate) fn fail(&self, words: String) {
        *self.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }

    pub(crate) fn account(&self, what: &str) -> Account {
        // In this order: what is sent later than this is not more than what was given.
        let (sent, given) = (self.sent.read(), self.given.read());
        let dropped = Counts {
            frames: given.frames.saturating_sub(sent.frames),
            points: given.points.saturating_sub(sent.points),
            journeys: given.journeys.saturating_sub(sent.journeys),
        };
        let failure = self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Account { what: what.to_owned(), given, sent, dropped, last_failure: failure }
    }
}

impl Tally {
    fn add(&self, counts: Counts) {
        self.frames.fetch_add(counts.frames, Ordering::AcqRel);
        self.points.fetch_add(counts.points, Ordering::AcqRel);
        self.journeys.fetch_add(counts.journeys, Ordering::AcqRel);
    }

    fn read(&self) -> Counts {
        Counts {
            frames: self.frames.load(Ordering::Acquire),
            points: self.points.load(Ordering::Acquire),
            journeys: self.journeys.load(Ordering::Acquire),
        }
    }
}
