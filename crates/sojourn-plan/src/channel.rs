//! What taps listen to.

/// A named channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Name in the plan.
    pub name: String,
    /// Where it is.
    pub connector: Connector,
    /// How its messages are read.
    pub decoder: Decoder,
    /// Where a message declares its id, to tell redelivery from republication; `None`: the
    /// decoder's own (CloudEvents `id`, MassTransit `messageId`, header `message-id`).
    pub message_id: Option<crate::Selector>,
    /// Where a message carries the run marker; `None`: header `sojourn-run`.
    pub marker: Option<crate::Selector>,
}

/// Which connector, with its settings.
#[derive(Clone, Debug)]
pub enum Connector {
    /// Kafka topics.
    Kafka(KafkaChannel),
    /// Requests received by Sojourn itself.
    Webhook(WebhookChannel),
}

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

/// A receiver of webhooks.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookChannel {
    /// Address to listen on, `127.0.0.1:9000`; port 0 takes a free one.
    pub listen: String,
    /// Path, or a prefix ending in `*`.
    pub path: String,
    /// Status to answer with.
    pub respond: u16,
}

/// How messages are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decoder {
    /// CloudEvents and MassTransit where recognised, else JSON, else bytes.
    #[default]
    Auto,
    /// Plain JSON.
    Json,
    /// CloudEvents, structured or binary.
    CloudEvents,
    /// MassTransit's envelope.
    MassTransit,
}
