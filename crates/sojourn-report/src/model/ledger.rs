//! The book: what became of every journey and every event.

use schemars::JsonSchema;
use serde::Serialize;

/// Journeys and events, by class.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Ledger {
    /// One line per journey, in the plan's order.
    pub journeys: Vec<JourneyLine>,
    /// One line for each journey's poisoned ones, which are in no line of `journeys`.
    pub poisoned: Vec<JourneyLine>,
    /// All of `journeys`; `name` is `total`.
    pub journeys_total: JourneyLine,
    /// One line per channel.
    pub events: Vec<EventLine>,
    /// All of them; `channel` is `total`.
    pub events_total: EventLine,
    /// Whether every line adds up.
    pub balanced: bool,
}

/// A journey's line.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct JourneyLine {
    /// Journey's name.
    pub name: String,
    /// Those whose t0 fell in the steady phase.
    pub steady: JourneyCounts,
    /// Warm-up and steady phase.
    pub whole_run: JourneyCounts,
}

/// Journeys by class. `scheduled = started + missed`, and `started` is the sum of the classes from
/// `completed` to `in_flight_at_cutoff`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct JourneyCounts {
    /// Arrivals scheduled.
    pub scheduled: u64,
    /// Not started.
    pub missed: u64,
    /// Started.
    pub started: u64,
    /// Completed in time.
    pub completed: u64,
    /// Completed after the deadline.
    pub late: u64,
    /// Overdue when observation ended.
    pub lost: u64,
    /// Reached a failure stage.
    pub failed: u64,
    /// Root refused or unanswered.
    pub root_failed: u64,
    /// Not yet overdue when observation ended.
    pub in_flight_at_cutoff: u64,
    /// Keys that came again while in flight (an attribute, not a class).
    pub key_reused: u64,
    /// Stages seen without the point they follow (an attribute, not a class).
    pub hops_without_predecessor: u64,
}

impl JourneyCounts {
    /// Whether the two equations hold.
    pub fn balances(&self) -> bool {
        let classes = self.completed
            + self.late
            + self.lost
            + self.failed
            + self.root_failed
            + self.in_flight_at_cutoff;
        self.scheduled == self.started + self.missed && self.started == classes
    }

    /// Adds another line.
    pub fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.missed += other.missed;
        self.started += other.started;
        self.completed += other.completed;
        self.late += other.late;
        self.lost += other.lost;
        self.failed += other.failed;
        self.root_failed += other.root_failed;
        self.in_flight_at_cutoff += other.in_flight_at_cutoff;
        self.key_reused += other.key_reused;
        self.hops_without_predecessor += other.hops_without_predecessor;
    }
}

/// A channel's line.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EventLine {
    /// Channel.
    pub channel: String,
    /// Its events over the whole run.
    pub whole_run: EventCounts,
}

/// Events by class. `seen` is the sum of all but `reread`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EventCounts {
    /// Received.
    pub seen: u64,
    /// The first of its stage and journey (and member).
    pub matched: u64,
    /// Again, with the same message id.
    pub redelivery: u64,
    /// Again, with another message id.
    pub republication: u64,
    /// Again, without a message id.
    pub duplicate_unknown: u64,
    /// Of a journey that had failed.
    pub after_failure: u64,
    /// Carries our run's marker and fits no journey.
    pub orphan: u64,
    /// Carries another run's marker.
    pub foreign: u64,
    /// Carries no marker and fits no journey.
    pub unattributed: u64,
    /// Not readable, or without a key.
    pub undecodable: u64,
    /// Read again by ourselves after a reconnect and dropped; not part of `seen`.
    pub reread: u64,
}

impl EventCounts {
    /// Duplicates of every kind.
    pub fn duplicates(&self) -> u64 {
        self.redelivery + self.republication + self.duplicate_unknown
    }

    /// Whether the equation holds.
    pub fn balances(&self) -> bool {
        self.seen
            == self.matched
                + self.duplicates()
                + self.after_failure
                + self.orphan
                + self.foreign
                + self.unattributed
                + self.undecodable
    }

    /// Adds another line.
    pub fn add(&mut self, other: &Self) {
        self.seen += other.seen;
        self.matched += other.matched;
        self.redelivery += other.redelivery;
        self.republication += other.republication;
        self.duplicate_unknown += other.duplicate_unknown;
        self.after_failure += other.after_failure;
        self.orphan += other.orphan;
        self.foreign += other.foreign;
        self.unattributed += other.unattributed;
        self.undecodable += other.undecodable;
        self.reread += other.reread;
    }
}
