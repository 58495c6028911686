//! From a channel's settings to librdkafka's, and errors without their secrets.

use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaConfRes;
use sojourn_broker::TapError;
use sojourn_plan::KafkaChannel;

/// Interval of the statistics that the tap's health is read from, milliseconds.
pub(crate) const STATISTICS_MS: u64 = 500;

/// What a tap uses unless the channel's properties say otherwise.
const TAP_DEFAULTS: [(&str, &str); 13] = [
    ("client.id", "sojourn"),
    // librdkafka wants a name before it assigns partitions; no group is joined under it.
    ("group.id", "sojourn-tap"),
    // The longest a broker holds an empty answer back: bounds the delay where a broker (such as
    // librdkafka's mock) does not answer at once when a message comes.
    ("fetch.wait.max.ms", "5"),
    ("fetch.min.bytes", "1"),
    ("fetch.error.backoff.ms", "50"),
    // Bounds the messages held for us, 64 MiB. When full, look again soon: the default is a second.
    ("queued.max.messages.kbytes", "65536"),
    ("fetch.queue.backoff.ms", "1"),
    ("socket.nagle.disable", "true"),
    // Partitions added during a run are found at this interval.
    ("topic.metadata.refresh.interval.ms", "5000"),
    ("reconnect.backoff.ms", "50"),
    ("reconnect.backoff.max.ms", "500"),
    ("log.connection.close", "false"),
    ("allow.auto.create.topics", "false"),
];

/// What makes a tap passive and its losses visible: properties can't change these.
const TAP_FIXED: [(&str, &str); 4] = [
    ("enable.auto.commit", "false"),
    ("enable.auto.offset.store", "false"),
    ("enable.partition.eof", "false"),
    // Messages deleted before we read them are an error, not a silent jump.
    ("auto.offset.reset", "error"),
];

/// What a group member uses unless the properties say otherwise.
const CONSUMER_DEFAULTS: [(&str, &str); 7] = [
    ("client.id", "sojourn"),
    ("fetch.wait.max.ms", "50"),
    ("fetch.error.backoff.ms", "50"),
    ("queued.max.messages.kbytes", "65536"),
    ("socket.nagle.disable", "true"),
    ("log.connection.close", "false"),
    ("allow.auto.create.topics", "false"),
];

/// What a publisher uses unless properties say otherwise.
const PUBLISHER_DEFAULTS: [(&str, &str); 7] = [
    ("client.id", "sojourn"),
    ("acks", "all"),
    // Its own retries must not look like the system's duplicates.
    ("enable.idempotence", "true"),
    ("linger.ms", "0"),
    ("message.timeout.ms", "30000"),
    ("socket.nagle.disable", "true"),
    ("log.connection.close", "false"),
];

/// A tap's librdkafka configuration.
pub(crate) fn tap_config(kafka: &KafkaChannel) -> ClientConfig {
    let mut config = with_properties(kafka, &TAP_DEFAULTS);
    for (name, value) in TAP_FIXED {
        config.set(name, value);
    }
    config.set("statistics.interval.ms", STATISTICS_MS.to_string());
    config
}

/// The configuration of a client that reads a stretch again and must know where a partition ends.
pub(crate) fn replay_config(kafka: &KafkaChannel) -> ClientConfig {
    let mut config = tap_config(kafka);
    config.set("enable.partition.eof", "true");
    config
}

/// A group member's librdkafka configuration. `reset`: where it begins when the group has committed
/// nothing, `earliest` or `latest`.
pub(crate) fn consumer_config(kafka: &KafkaChannel, group: &str, reset: &str) -> ClientConfig {
    let mut config = with_properties(kafka, &CONSUMER_DEFAULTS);
    // What was handed over is marked as such by us, and committed when asked.
    config.set("enable.auto.commit", "false");
    config.set("enable.auto.offset.store", "false");
    config.set("group.id", group);
    config.set("auto.offset.reset", reset);
    config
}

/// A publisher's librdkafka configuration, with a queue of at most `queue_max` messages.
pub(crate) fn publisher_config(kafka: &KafkaChannel, queue_max: usize) -> ClientConfig {
    let mut config = with_properties(kafka, &PUBLISHER_DEFAULTS);
    config.set("queue.buffering.max.messages", queue_max.to_string());
    config
}

fn with_properties(kafka: &KafkaChannel, defaults: &[(&str, &str)]) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set_log_level(RDKafkaLogLevel::Error);
    for (name, value) in defaults {
        config.set(*name, *value);
    }
    for (name, value) in &kafka.properties {
        config.set(name, value);
    }
    config.set("bootstrap.servers", &kafka.brokers);
    config
}

/// Takes the values of properties out of librdkafka's messages.
#[derive(Clone, Debug)]
pub(crate) struct Redactor {
    values: Vec<String>,
}

impl Redactor {
    /// Hides every property's value.
    pub(crate) fn new(kafka: &KafkaChannel) -> Self {
        let values = kafka.properties.iter().map(|(_, value)| value.clone());
        let mut values: Vec<_> = values.filter(|value| !value.is_empty()).collect();
        // Longest first: a value inside another must not leave the rest of it readable.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }

    /// The text with every property's value replaced by `***`.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for value in &self.values {
            shown = shown.replace(value, "***");
        }
        shown
    }

    /// Why a client could not be made from its configuration.
    pub(crate) fn refused_config(&self, error: &KafkaError) -> TapError {
        match error {
            // Its description may quote the value.
            KafkaError::ClientConfig(RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN, _, name, _) => {
                TapError::new(format!("unknown kafka property `{name}`")).with_hint(
                    "properties are librdkafka's: \
                     https://github.com/confluentinc/librdkafka/blob/master/CONFIGURATION.md",
                )
            }
            KafkaError::ClientConfig(_, _, name, _) => TapError::new(format!(
                "kafka property `{name}` has a value that this build of librdkafka refuses"
            ))
            .with_hint("its values are listed in docs/brokers/kafka.md and librdkafka's own page"),
            KafkaError::ClientCreation(reason) => {
                TapError::new(format!("cannot make a kafka client: {}", self.redact(reason)))
            }
            other => TapError::new(self.redact(&format!("cannot make a kafka client: {other}"))),
        }
    }
}
