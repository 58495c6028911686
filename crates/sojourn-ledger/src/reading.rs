//! Readings of foreign clocks, kept with their journey.

use serde::{Deserialize, Serialize};

use crate::journey::Journey;

/// What one answer or event of a journey showed of a foreign clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The source's number for the clock.
    pub clock: u8,
    /// Where it was read.
    pub at: Where,
    /// When the answer or the event was there, CLOCK_MONOTONIC nanoseconds: the clock showed the
    /// time no later than this.
    pub read_ns: u64,
    /// What it showed: whole milliseconds since the Unix epoch, the rest cut off.
    pub unix_ms: Result<u64, Unread>,
}

/// What a foreign clock showed in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The source's number for the clock.
    pub clock: u8,
    /// Milliseconds since the Unix epoch.
    pub unix_ms: Result<u64, Unread>,
}

/// Why a foreign clock could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unread {
    /// There was no value.
    Missing,
    /// The value was no time.
    Invalid,
}

/// Where a foreign clock was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Where {
    /// In the answer to a step.
    Answer {
        /// The generator's number for the step.
        step: u8,
        /// When the step was due, CLOCK_MONOTONIC nanoseconds.
        due_ns: u64,
        /// When its request began to be sent: the clock showed the time no earlier than this.
        sent_ns: u64,
    },
    /// In an event.
    Event {
        /// Its stage.
        stage: u8,
    },
}

impl Where {
    /// Whether both are in answers to the same step, or in events of the same stage.
    fn is_same_place(self, other: Self) -> bool {
        match (self, other) {
            (Self::Answer { step, .. }, Self::Answer { step: other, .. }) => step == other,
            (Self::Event { stage }, Self::Event { stage: other }) => stage == other,
            _ => false,
        }
    }
}

impl Journey {
    /// Keeps a reading, the first of its step or stage, while the journey is in flight.
    #[cold]
    pub(crate) fn read(&mut self, reading: Reading) {
        if !self.is_open() {
            return;
        }
        let readings = &mut self.extra_mut().readings;
        if !readings.iter().any(|known| known.at.is_same_place(reading.at)) {
            readings.push(reading);
        }
    }

    /// Hands the readings over at its end.
    pub(crate) fn take_readings(&mut self) -> Vec<Reading> {
        self.extra.as_mut().map_or_else(Vec::new, |extra| std::mem::take(&mut extra.readings))
    }
}
