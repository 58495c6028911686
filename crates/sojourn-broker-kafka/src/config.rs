//! From a channel's settings to librdkafka's, and errors without their secrets.

use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaConfRes;
use sojourn_broker::{BrokerError, PublisherSettings};
use sojourn_clock::MILLISECOND_NS;
use sojourn_plan::KafkaChannel;

/// Interval of the statistics that the tap's health is read from, milliseconds.
pub(crate) const STATISTICS_MS: u64 = 500;

/// How long a broker may hold an empty answer to a tap back, unless properties say otherwise.
const FETCH_WAIT_MS: &str = "5";

/// What a tap uses unless the channel's properties say otherwise.
const TAP_DEFAULTS: [(&str, &str); 14] = [
    ("client.id", "sojourn"),
    // librdkafka wants a name before it assigns partitions; no group is joined under it.
    ("group.id", "sojourn-tap"),
    // The longest a broker holds an empty answer back: bounds the delay where a broker (such as
    // librdkafka's mock) does not answer at once when a message comes.
    ("fetch.wait.max.ms", FETCH_WAIT_MS),
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
    // A connection that answers nothing for so long is made anew: the default is a minute.
    ("socket.timeout.ms", "5000"),
    ("socket.keepalive.enable", "true"),
    ("allow.auto.create.topics", "false"),
];

/// What makes a tap passive and its losses visible: properties can't change these.
const TAP_FIXED: [(&str, &str); 5] = [
    ("enable.auto.commit", "false"),
    ("enable.auto.offset.store", "false"),
    ("enable.partition.eof", "false"),
    // Messages deleted before we read them are an error, not a silent jump.
    ("auto.offset.reset", "error"),
    // Logged, a lost connection is known at once.
    ("log.connection.close", "true"),
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

/// What a reader of backlogs uses unless the properties say otherwise.
const BACKLOG_DEFAULTS: [(&str, &str); 5] = [
    ("client.id", "sojourn"),
    ("socket.timeout.ms", "5000"),
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
    // Logged, a connection that ends says why there is none: the listener may speak otherwise.
    ("log.connection.close", "true"),
];

/// The property that makes a publisher publish in transactions.
const TRANSACTIONAL_ID: &str = "transactional.id";

/// A tap's librdkafka configuration.
pub(crate) fn tap_config(kafka: &KafkaChannel) -> ClientConfig {
    let mut config = with_properties(kafka, &TAP_DEFAULTS);
    for (name, value) in TAP_FIXED {
        config.set(name, value);
    }
    config.set("statistics.interval.ms", STATISTICS_MS.to_string());
    config.set_log_level(RDKafkaLogLevel::Info);
    config
}

/// How long a broker may hold an empty answer to a tap back, nanoseconds.
pub(crate) fn fetch_wait_ns(kafka: &KafkaChannel) -> u64 {
    let named = kafka.properties.iter().rev().find(|(name, _)| name == "fetch.wait.max.ms");
    let text = named.map_or(FETCH_WAIT_MS, |(_, value)| value.as_str());
    text.trim().parse().unwrap_or(0_u64).saturating_mul(MILLISECOND_NS)
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

/// The configuration of a client that creates topics and looks at them.
pub(crate) fn admin_config(kafka: &KafkaChannel) -> ClientConfig {
    with_properties(kafka, &[("client.id", "sojourn"), ("log.connection.close", "false")])
}

/// The configuration of a client that asks for a group's offsets without joining it.
pub(crate) fn backlog_config(kafka: &KafkaChannel, group: &str) -> ClientConfig {
    let mut config = with_properties(kafka, &BACKLOG_DEFAULTS);
    config.set("group.id", group);
    config.set("enable.auto.commit", "false");
    // Every message that is there, those too of transactions that are not over.
    config.set("isolation.level", "read_uncommitted");
    config
}

/// The configuration of a consumer that a script drives: of a group, or, without its name, of
/// partitions that it assigns itself. `reset`: `earliest` or `latest`.
pub(crate) fn reader_config(
    kafka: &KafkaChannel,
    group: Option<&str>,
    reset: &str,
) -> ClientConfig {
    // librdkafka wants a name before it assigns partitions; no group is joined under it.
    let mut config = consumer_config(kafka, group.unwrap_or("sojourn-reader"), reset);
    // Tells that a partition's end was reached, and so that the broker answers.
    config.set("enable.partition.eof", "true");
    config
}

/// The transactional id, if it publishes in transactions.
pub(crate) fn transactional_id(kafka: &KafkaChannel) -> Option<&str> {
    let named = kafka.properties.iter().rev().find(|(name, _)| name == TRANSACTIONAL_ID);
    named.map(|(_, id)| id.as_str())
}

/// A publisher's librdkafka configuration.
pub(crate) fn publisher_config(kafka: &KafkaChannel, how: &PublisherSettings) -> ClientConfig {
    let mut config = with_properties(kafka, &PUBLISHER_DEFAULTS);
    config.set("queue.buffering.max.messages", how.queue_max.max(1).to_string());
    // Who asks for fewer acknowledgements can't have both, and librdkafka would refuse it.
    let asked = |names: &[&str]| {
        let mut properties = kafka.properties.iter().rev();
        properties.find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value.trim())
    };
    let acks = asked(&["acks", "request.required.acks"]);
    let fewer = acks.is_some_and(|acks| !["all", "-1"].contains(&acks));
    if fewer && asked(&["enable.idempotence"]).is_none() && transactional_id(kafka).is_none() {
        config.set("enable.idempotence", "false");
    }
    // A broker ends the first of two that come under one id.
    if let Some(id) = transactional_id(kafka).filter(|_| how.member > 0) {
        config.set(TRANSACTIONAL_ID, format!("{id}-{}", how.member));
    }
    config.set_log_level(RDKafkaLogLevel::Info);
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

/// What to do in a build without OpenSSL.
const NO_TLS: &str =
    "TLS, SASL/SCRAM and tokens need OpenSSL: build sojourn with `--features kafka-tls`";

/// Whether a property was refused because this build has no TLS.
fn needs_tls(property: &str) -> bool {
    !cfg!(feature = "tls") && (property == "security.protocol" || property.starts_with("ssl."))
}

/// Whether a value is one of librdkafka's own words or a number, of a property that is no secret by
/// its name: replaced, these would leave neither addresses nor advice readable.
fn is_public(name: &str, value: &str) -> bool {
    const WORDS: [&str; 19] = [
        "true",
        "false",
        "none",
        "all",
        "plaintext",
        "ssl",
        "sasl_plaintext",
        "sasl_ssl",
        "plain",
        "scram-sha-256",
        "scram-sha-512",
        "gssapi",
        "oauthbearer",
        "gzip",
        "snappy",
        "lz4",
        "zstd",
        "read_committed",
        "read_uncommitted",
    ];
    let secret = ["password", "username", "secret", "token", "key", "jaas", "pem"]
        .iter()
        .any(|word| name.contains(word));
    let number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // An empty value hides nothing.
    value.is_empty() || !secret && (number || WORDS.contains(&value.to_ascii_lowercase().as_str()))
}

/// Takes the values of properties out of librdkafka's messages.
#[derive(Clone, Debug)]
pub(crate) struct Redactor {
    values: Vec<String>,
}

impl Redactor {
    /// Hides every property's value that could be anybody's secret.
    pub(crate) fn new(kafka: &KafkaChannel) -> Self {
        let hidden = kafka.properties.iter().filter(|(name, value)| !is_public(name, value));
        let mut values: Vec<_> = hidden.map(|(_, value)| value.clone()).collect();
        // Longest first: a value inside another must not leave the rest of it readable.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }

    /// The text with every such value replaced by `***`.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for value in &self.values {
            shown = shown.replace(value, "***");
        }
        shown
    }

    /// Why a client could not be made from its configuration.
    pub(crate) fn refused_config(&self, error: &KafkaError) -> BrokerError {
        match error {
            // Its description may quote the value.
            KafkaError::ClientConfig(RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN, _, name, _) => {
                BrokerError::new(format!("unknown kafka property `{name}`")).with_hint(
                    "properties are librdkafka's: \
                     https://github.com/confluentinc/librdkafka/blob/master/CONFIGURATION.md",
                )
            }
            KafkaError::ClientConfig(_, _, name, _) if needs_tls(name) => {
                BrokerError::new(format!("kafka property `{name}` asks for TLS")).with_hint(NO_TLS)
            }
            KafkaError::ClientConfig(_, _, name, _) => BrokerError::new(format!(
                "kafka property `{name}` has a value that this build of librdkafka refuses"
            ))
            .with_hint("its values are listed in docs/brokers/kafka.md and librdkafka's own page"),
            KafkaError::ClientCreation(reason) => {
                let shown = self.redact(reason);
                let error = BrokerError::new(format!("cannot make a kafka client: {shown}"));
                match reason.contains("recompile librdkafka") {
                    true => error.with_hint(NO_TLS),
                    false => error,
                }
            }
            other => BrokerError::new(self.redact(&format!("cannot make a kafka client: {other}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_words_stay_readable() {
        let properties = [
            ("security.protocol", "SSL"),
            ("fetch.wait.max.ms", "5"),
            ("sasl.username", "ssl"),
            ("sasl.password", "12"),
            ("ssl.key.password", ""),
            ("ssl.ca.location", "/secrets/ca.pem"),
        ];
        let properties = properties.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let kafka = KafkaChannel { properties: properties.into(), ..KafkaChannel::default() };
        let redactor = Redactor::new(&kafka);
        assert_eq!(redactor.redact("SSL at h:595: 12 /secrets/ca.pem"), "SSL at h:595: *** ***");
        assert_eq!(redactor.redact("user ssl"), "user ***");
    }
}
