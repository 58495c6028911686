//! Keeps watch over the embedded broker, which silently forgets.
//!
//! librdkafka's mock cluster keeps 5 MiB or 100,000 batches per partition and then deletes the
//! oldest (`rdkafka_mock.c`, `max_size`, `max_cnt`). A tap that is a little behind would lose
//! messages and the demo would look lossy. So bytes are counted from above, as if each message
//! were a batch of its own, and the demo stops taking payments, then publishing, before the limit.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a partition keeps, bytes.
const PARTITION_BYTES_MAX: u64 = 5 * 1024 * 1024;
/// What a partition keeps, batches.
const PARTITION_BATCHES_MAX: u64 = 100_000;
/// Of the limit, percent: from here on the API takes no more payments.
const NO_MORE_PAYMENTS_PERCENT: u64 = 80;
/// Of the limit, percent: from here on nothing is published.
const NO_MORE_EVENTS_PERCENT: u64 = 95;
/// A record batch's header (61 bytes) and a record's lengths and deltas, from above.
const OVERHEAD_BYTES: u64 = 61 + 40;

/// How full a topic of the embedded broker is.
pub(crate) struct Retention {
    partitions: Vec<AtomicU64>,
    /// The fullest partition, bytes or batches scaled to bytes.
    fullest: AtomicU64,
}

/// What is still allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Room {
    /// Everything.
    Enough,
    /// Journeys in flight may end, none may start.
    NoMorePayments,
    /// Nothing more fits.
    Full,
}

impl Retention {
    pub(crate) fn new(partitions: u16) -> Self {
        Self {
            partitions: (0..partitions).map(|_| AtomicU64::new(0)).collect(),
            fullest: AtomicU64::new(0),
        }
    }

    /// Counts a delivered message: key, payload and headers, bytes.
    pub(crate) fn add(&self, partition: i32, bytes: u64) {
        let Some(kept) = usize::try_from(partition)
            .ok()
            .and_then(|index| self.partitions.get(index))
        else {
            return;
        };
        // A message takes its bytes, and at worst one of the batches.
        let share = (bytes + OVERHEAD_BYTES).max(PARTITION_BYTES_MAX / PARTITION_BATCHES_MAX);
        let now = kept.fetch_add(share, Ordering::Relaxed) + share;
        self.fullest.fetch_max(now, Ordering::Relaxed);
    }

    pub(crate) fn room(&self) -> Room {
        let percent = self.fullest.load(Ordering::Relaxed) * 100 / PARTITION_BYTES_MAX;
        if percent >= NO_MORE_EVENTS_PERCENT {
            Room::Full
        } else if percent >= NO_MORE_PAYMENTS_PERCENT {
            Room::NoMorePayments
        } else {
            Room::Enough
        }
    }
}

/// The words for a full embedded broker.
pub(crate) const FULL: &str = "the embedded broker keeps only 5 MiB per partition and is nearly \
     full; use more partitions, a shorter run, or a real Kafka";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warns_before_the_broker_forgets() {
        let retention = Retention::new(2);
        let message = 1_000;
        let mut events = 0;
        let mut events_at = Vec::new();
        let mut room = Room::Enough;
        while room != Room::Full {
            retention.add(1, message);
            events += 1;
            if retention.room() != room {
                room = retention.room();
                events_at.push((room, events * message));
            }
        }
        assert_eq!(events_at[0].0, Room::NoMorePayments);
        assert!(events_at[1].1 < PARTITION_BYTES_MAX, "{events_at:?}");
        assert!(events_at[0].1 > PARTITION_BYTES_MAX / 2, "{events_at:?}");
        retention.add(9, message);
    }

    #[test]
    fn small_messages_count_as_batches() {
        let retention = Retention::new(1);
        for _ in 0..PARTITION_BATCHES_MAX {
            retention.add(0, 0);
        }
        assert_eq!(retention.room(), Room::Full);
    }
}
