//! What the demo did, in numbers.

use crate::truth_record::Kind;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// Running counts, shared by all parts.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) accepted: AtomicU64,
    pub(crate) rejected: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) published: [AtomicU64; 4],
    pub(crate) dead_lettered: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) consumed: AtomicU64,
    pub(crate) unconsumed: AtomicU64,
    pub(crate) append_conflicts: AtomicU64,
    pub(crate) queue_waits: AtomicU64,
    pub(crate) psp_calls: AtomicU64,
    pub(crate) psp_charges: AtomicU64,
    pub(crate) notifications: AtomicU64,
    /// CLOCK_MONOTONIC of the first accepted payment, nanoseconds; 0 before it.
    pub(crate) first_accepted_ns: AtomicU64,
}

impl Counters {
    pub(crate) fn published(&self, kind: Kind) -> &AtomicU64 {
        let [first, redelivery, republication, reordered] = &self.published;
        match kind {
            Kind::First => first,
            Kind::Redelivery => redelivery,
            Kind::Republication => republication,
            Kind::Reordered => reordered,
        }
    }

    pub(crate) fn counts(&self) -> DemoCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DemoCounts {
            accepted: of(&self.accepted),
            rejected: of(&self.rejected),
            refused: of(&self.refused),
            published_first: of(self.published(Kind::First)),
            published_redelivery: of(self.published(Kind::Redelivery)),
            published_republication: of(self.published(Kind::Republication)),
            published_reordered: of(self.published(Kind::Reordered)),
            dead_lettered: of(&self.dead_lettered),
            dropped: of(&self.dropped),
            consumed: of(&self.consumed),
            unconsumed: of(&self.unconsumed),
            append_conflicts: of(&self.append_conflicts),
            queue_waits: of(&self.queue_waits),
            psp_calls: of(&self.psp_calls),
            psp_charges: of(&self.psp_charges),
            notifications: of(&self.notifications),
            ..DemoCounts::default()
        }
    }
}

/// Adds one.
pub(crate) fn bump(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// A demo's counts so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DemoCounts {
    /// Payments answered with 200.
    pub accepted: u64,
    /// Payments answered with 400.
    pub rejected: u64,
    /// Payments answered with 503: too many at once, or the embedded broker is full.
    pub refused: u64,
    /// Events published once, in order.
    pub published_first: u64,
    /// Publications again with the same message id.
    pub published_redelivery: u64,
    /// Publications again with a new message id.
    pub published_republication: u64,
    /// Events published after their successor.
    pub published_reordered: u64,
    /// Messages on the dead-letter topic.
    pub dead_lettered: u64,
    /// Events dropped by the relay on purpose.
    pub dropped: u64,
    /// Messages that the demo's consumers were done with.
    pub consumed: u64,
    /// Messages left lying by a stopped stage.
    pub unconsumed: u64,
    /// Appends that lost against another one.
    pub append_conflicts: u64,
    /// Waits of the consumer or the relay for a full stage queue.
    pub queue_waits: u64,
    /// Waits for the ground-truth log's full queue.
    pub truth_waits: u64,
    /// Requests to the provider's mock.
    pub psp_calls: u64,
    /// Payments that the provider created; more than one per payment is money taken twice.
    pub psp_charges: u64,
    /// Notifications sent; a repeated one with the same idempotency key counts once.
    pub notifications: u64,
    /// What makes the demo's own behaviour doubtful.
    pub problems: Vec<String>,
}
