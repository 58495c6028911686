//! The tap's connection: noticing that it was lost, waiting for it, and catching up.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{Offset, TopicPartitionList};
use sojourn_broker::BrokerError;
use sojourn_clock::now_ns;

use crate::tap::KafkaTap;
use crate::watch::Watch;

/// Longest wait for the ends of partitions whose leaders are back.
const ENDS_WAIT: Duration = Duration::from_secs(1);

impl KafkaTap {
    /// After a poll: opens a stretch without connection, or brings it to its end. Errs when a
    /// leader of ours has been away for too long.
    pub(crate) fn follow_connection(
        &mut self,
        consumer: &BaseConsumer<Watch>,
    ) -> Result<(), BrokerError> {
        self.note_losses(consumer);
        let Some(since_ns) = self.outages.since_ns() else {
            return Ok(());
        };
        let now_ns = now_ns();
        let away = {
            let health = consumer.context().health();
            let mut away = self.outages.away();
            away.any(|(topic, partition, _)| !health.links.reaches(&self.topics[topic], partition))
        };
        if away {
            let patience_ns = u64::try_from(self.give_up_after.as_nanos()).unwrap_or(u64::MAX);
            return match now_ns.saturating_sub(since_ns) > patience_ns {
                true => Err(self.gone(consumer)),
                false => Ok(()),
            };
        }
        if self.outages.away().any(|(_, _, end)| end.is_none()) {
            self.find_ends(consumer);
        }
        let health = consumer.context().health();
        let caught_up = self.outages.away().all(|(topic, partition, end)| {
            end.is_some_and(|end| {
                self.outages.has_caught_up(topic, partition, end)
                    || health.has_read(&self.topics[topic], partition, end)
            })
        });
        drop(health);
        if caught_up {
            self.outages.finish(now_ns);
        }
        Ok(())
    }

    fn note_losses(&mut self, consumer: &BaseConsumer<Watch>) {
        let watch = consumer.context();
        if !watch.has_lost() && !watch.health().news {
            return;
        }
        watch.losses_are_taken();
        let mut health = watch.health();
        for loss in health.links.take_losses() {
            let led = health.links.led_by(loss.broker);
            let led: Vec<_> = led
                .filter_map(|(topic, partition)| Some((self.topic_index(topic)?, partition)))
                .collect();
            self.outages.begin(loss.from_ns, loss.exact, &led);
        }
        if std::mem::take(&mut health.news) {
            self.outages.mark();
        }
    }

    /// Asks where the partitions end that were away. Without an answer it is asked again after the
    /// next poll.
    fn find_ends(&mut self, consumer: &BaseConsumer<Watch>) {
        let mut partitions = TopicPartitionList::new();
        for (topic, partition, _) in self.outages.away() {
            partitions.add_partition(&self.topics[topic], partition);
        }
        if partitions.set_all_offsets(Offset::End).is_err() {
            return;
        }
        let Ok(ends) = consumer.offsets_for_times(partitions, ENDS_WAIT) else { return };
        for end in ends.elements() {
            if let (Some(topic), Offset::Offset(offset), Ok(())) =
                (self.topic_index(end.topic()), end.offset(), end.error())
            {
                self.outages.ends_at(topic, end.partition(), offset);
            }
        }
    }

    fn gone(&self, consumer: &BaseConsumer<Watch>) -> BrokerError {
        let health = consumer.context().health();
        let reason = health.last_error.as_deref().unwrap_or("no answer");
        let seconds = self.give_up_after.as_secs_f64();
        let lost = health.links.lost();
        BrokerError::new(format!("lost kafka at {lost}, for more than {seconds} s: {reason}"))
            .with_hint("what the tap missed is not known, so the run is void")
    }
}
