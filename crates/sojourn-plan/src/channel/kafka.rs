//! Kafka topics.

/// Kafka topics, read from their end without joining a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KafkaChannel {
    /// `host:port`, comma-separated.
    pub brokers: String,
    /// Topics.
    pub topics: Vec<String>,
    /// Further librdkafka properties, as they are (may hold secrets: never printed).
    pub properties: Vec<(String, String)>,
}
