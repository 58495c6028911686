//! Keeps watch over the embedded broker, which silently forgets.
//!
//! librdkafka's mock cluster keeps 5 MiB or 100,000 batches per partition and then deletes the
//! oldest (`rdkafka_mock.c`, `max_size`, `max_cnt`). A tap that is a little behind would lose
//! messages and the demo would look lossy. So bytes are counted from above, as if each message
//! were a batch of its own. Each accepted payment is a promise of four events: no more are taken
//! than there is room for. Should more events come than were promised (naive consumers repeat whole
//! journeys), nothing is published beyond the limit.
//!
//! The dead-letter topic needs no watch: each partition of it gets fewer messages than the same
//! partition of the events topic, which is therefore full first.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a partition keeps, bytes.
const PARTITION_BYTES_MAX: u64 = 5 * 1024 * 1024;
/// What a partition keeps, batches.
const PARTITION_BATCHES_MAX: u64 = 100_000;
/// Of the limit, percent: promises end here. The rest is for keys that hash unevenly.
const PROMISED_PERCENT_MAX: u64 = 80;
/// Of the limit, percent: nothing is published beyond it.
const PUBLISHED_PERCENT_MAX: u64 = 95;
/// A batch's header (61 bytes) and a record's varints, from above.
const OVERHEAD_BYTES: u64 = 61 + 19;
/// Key, payload and headers of the longest event, from above, bytes.
const EVENT_BYTES: u64 = 270;

/// How full the events topic of the embedded broker is.
pub(crate) struct Retention {
    /// Bytes per partition.
    published: Vec<AtomicU64>,
    published_in_fullest: AtomicU64,
    /// Bytes of all partitions that the accepted payments will need.
    promised: AtomicU64,
    /// What one payment will need, bytes.
    payment_bytes: u64,
}

impl Retention {
    /// For a topic on which `duplicated_percent` of the events are published twice.
    pub(crate) fn new(partitions: u16, duplicated_percent: f64) -> Self {
        let events = 4.0 * (1.0 + duplicated_percent / 100.0);
        Self {
            published: (0..partitions).map(|_| AtomicU64::new(0)).collect(),
            published_in_fullest: AtomicU64::new(0),
            promised: AtomicU64::new(0),
            payment_bytes: (events * (EVENT_BYTES + OVERHEAD_BYTES) as f64).ceil() as u64,
        }
    }

    /// Makes room for a payment; false when there is none left.
    pub(crate) fn promise(&self) -> bool {
        let partitions = self.published.len() as u64;
        let limit = PARTITION_BYTES_MAX * partitions * PROMISED_PERCENT_MAX / 100;
        let promised = self.promised.fetch_add(self.payment_bytes, Ordering::Relaxed);
        if promised + self.payment_bytes > limit {
            self.promised.fetch_sub(self.payment_bytes, Ordering::Relaxed);
        }
        promised + self.payment_bytes <= limit
    }

    /// Counts a delivered message: key, payload and headers, bytes.
    pub(crate) fn add(&self, partition: i32, bytes: u64) {
        let Some(published) =
            usize::try_from(partition).ok().and_then(|index| self.published.get(index))
        else {
            return;
        };
        // A message takes its bytes, and at worst one of the batches.
        let share = (bytes + OVERHEAD_BYTES).max(PARTITION_BYTES_MAX / PARTITION_BATCHES_MAX + 1);
        let now = published.fetch_add(share, Ordering::Relaxed) + share;
        self.published_in_fullest.fetch_max(now, Ordering::Relaxed);
    }

    /// Whether nothing more may be published.
    pub(crate) fn is_full(&self) -> bool {
        let fullest = self.published_in_fullest.load(Ordering::Relaxed);
        fullest >= PARTITION_BYTES_MAX * PUBLISHED_PERCENT_MAX / 100
    }
}

/// The words for a full embedded broker.
pub(crate) const FULL: &str = "the embedded broker keeps only 5 MiB per partition and is nearly \
     full; use more partitions, a shorter run, or a real Kafka";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_fit_and_use_most_of_the_room() {
        for duplicated_percent in [0.0, 50.0, 100.0] {
            let retention = Retention::new(3, duplicated_percent);
            let payments = (0..).take_while(|_| retention.promise()).count();
            let events = payments as f64 * 4.0 * (1.0 + duplicated_percent / 100.0);
            let bytes = events * (EVENT_BYTES + OVERHEAD_BYTES) as f64;
            let share = bytes / (3 * PARTITION_BYTES_MAX) as f64;
            assert!((0.79..=0.8).contains(&share), "{share}");
            assert!(!retention.promise());
        }
    }

    #[test]
    fn is_full_before_the_broker_forgets() {
        let retention = Retention::new(2, 0.0);
        let mut bytes = 0;
        while !retention.is_full() {
            retention.add(1, 1_000);
            bytes += 1_000;
        }
        let range = PARTITION_BYTES_MAX * 8 / 10..PARTITION_BYTES_MAX;
        assert!(range.contains(&bytes), "{bytes}");
        // A partition that is not ours.
        retention.add(9, 1_000);
    }

    #[test]
    fn small_messages_count_as_batches() {
        let retention = Retention::new(1, 0.0);
        for _ in 0..PARTITION_BATCHES_MAX {
            retention.add(0, 0);
        }
        assert!(retention.is_full());
    }
}
