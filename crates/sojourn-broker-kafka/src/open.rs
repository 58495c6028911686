//! Finding the topics' partitions and their ends.

use std::collections::BTreeSet;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::metadata::Metadata;
use rdkafka::{Offset, TopicPartitionList};
use sojourn_broker::BrokerError;
use sojourn_clock::{MILLISECOND_NS, now_ns};

use crate::tap::KafkaTap;
use crate::watch::Watch;

/// Longest single request while opening, so that errors are looked at in between.
const OPEN_STEP: Duration = Duration::from_millis(1_000);

impl KafkaTap {
    /// Every partition of our topics. Asks for all topics: asking for one by name could create it.
    pub(crate) fn find_partitions(
        &self,
        consumer: &BaseConsumer<Watch>,
        deadline_ns: u64,
    ) -> Result<TopicPartitionList, BrokerError> {
        let metadata =
            self.until(consumer, deadline_ns, |step| consumer.fetch_metadata(None, step))?;
        let mut partitions = TopicPartitionList::new();
        for topic in &self.topics {
            let known = metadata.topics().iter().find(|known| known.name() == topic);
            match known {
                Some(known) if !known.partitions().is_empty() => {
                    for partition in known.partitions() {
                        partitions.add_partition(topic, partition.id());
                    }
                }
                _ => return Err(missing(&self.kafka.brokers, topic, &metadata)),
            }
        }
        Ok(partitions)
    }

    /// The partitions at their present ends. One request per broker, by asking for the offset "at"
    /// the special time −1 (Kafka's ListOffsets: latest; under read_committed the last stable
    /// offset).
    pub(crate) fn at_their_ends(
        &self,
        consumer: &BaseConsumer<Watch>,
        mut partitions: TopicPartitionList,
        deadline_ns: u64,
    ) -> Result<TopicPartitionList, BrokerError> {
        partitions.set_all_offsets(Offset::End).map_err(|error| self.failed(&error))?;
        self.until(consumer, deadline_ns, |step| {
            let ends = consumer.offsets_for_times(partitions.clone(), step)?;
            for end in ends.elements() {
                end.error()?;
                if !matches!(end.offset(), Offset::Offset(_)) {
                    return Err(KafkaError::OffsetFetch(RDKafkaErrorCode::LeaderNotAvailable));
                }
            }
            Ok(ends)
        })
    }

    /// Tries until it works or the deadline has passed, serving librdkafka's errors in between.
    pub(crate) fn until<T>(
        &self,
        consumer: &BaseConsumer<Watch>,
        deadline_ns: u64,
        mut attempt: impl FnMut(Duration) -> Result<T, KafkaError>,
    ) -> Result<T, BrokerError> {
        loop {
            let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
            let outcome = attempt(left.min(OPEN_STEP));
            let error = match outcome {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            // Nothing is assigned yet: only events come, and a bounded number of them is looked at.
            for _ in 0..64 {
                let served = consumer.context().served();
                let came = consumer.poll(Duration::from_millis(1));
                if came.is_none() && consumer.context().served() == served {
                    break;
                }
            }
            let health = consumer.context().health();
            if now_ns() + 10 * MILLISECOND_NS >= deadline_ns || health.refused {
                let reason = health.last_error.clone();
                let reason = reason.unwrap_or_else(|| self.redactor.redact(&error.to_string()));
                return Err(unreachable(&self.kafka.brokers, &reason, health.refused));
            }
            drop(health);
            // A refused request returns at once; the brokers get a moment.
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// There is no such topic.
pub(crate) fn missing(brokers: &str, topic: &str, metadata: &Metadata) -> BrokerError {
    let similar = similar_topics(topic, metadata.topics().iter().map(|known| known.name()));
    let error = BrokerError::new(format!("kafka at {brokers} has no topic `{topic}`"));
    if similar.is_empty() {
        error.with_hint("create it first: a run never creates topics")
    } else {
        error.with_hint(format!("it has {}", similar.join(", ")))
    }
}

/// No broker could be asked, for librdkafka's reason; `refused`: the credentials were.
pub(crate) fn unreachable(brokers: &str, reason: &str, refused: bool) -> BrokerError {
    let hint = if refused { CREDENTIALS } else { what_to_do(reason) };
    BrokerError::new(format!("cannot reach kafka at {brokers}: {reason}")).with_hint(hint)
}

const CREDENTIALS: &str =
    "check the properties `sasl.mechanism`, `sasl.username` and `sasl.password`";

/// What to do about librdkafka's reason why a broker cannot be reached.
fn what_to_do(reason: &str) -> &'static str {
    let reason = reason.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    // librdkafka says the same of a certificate for another name.
    if says(&["certificate verify failed", "certificate could not be verified"]) {
        "the server's certificate is not signed by an authority that is trusted, or is for another \
         name than this address: set the property `ssl.ca.location` to the file of its authority's \
         certificate, and connect by a name that it has"
    } else if says(&["security.protocol", "apiversion", "ssl handshake"])
        || says(&["disconnected", "broken pipe", "connection reset"])
    {
        "there is something that ends the connection: is the property `security.protocol` what \
         this listener speaks (plaintext, ssl, sasl_plaintext, sasl_ssl)?"
    } else {
        "is the broker running, and is this its address?"
    }
}

/// Up to five topics to offer instead of a missing one, the most similar first.
fn similar_topics<'t>(wanted: &str, known: impl Iterator<Item = &'t str>) -> Vec<String> {
    let known: BTreeSet<&str> = known.filter(|name| !name.starts_with("__")).collect();
    let mut scored: Vec<_> =
        known.iter().map(|name| (strsim::jaro_winkler(wanted, name), *name)).collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let offered = scored.iter().take(5);
    offered.map(|(_, name)| format!("`{name}`")).collect()
}
