//! What taps listen to, and where journeys publish.

mod amqp;
mod decoder;
mod kafka;
mod mqtt;
mod nats;
mod postgres;
mod redis;
mod server;
mod sqs;
mod stream;
mod webhook;

pub use amqp::AmqpChannel;
pub use decoder::{AvroSchema, Decoder, ProtobufSchema, SchemaRegistry};
pub use kafka::KafkaChannel;
pub use mqtt::{MqttChannel, MqttVersion};
pub use nats::NatsChannel;
pub use postgres::{Outbox, PostgresChannel, PostgresSource, PostgresTable};
pub use redis::{RedisChannel, RedisSource};
pub use server::{Secret, Server, Tls};
pub use sqs::{SqsChannel, SqsCredentials, SqsSource};
pub use stream::{SseChannel, WebSocketChannel};
pub use webhook::{WebhookAnswer, WebhookCase, WebhookChannel, WebhookFailures, WebhookSignature};

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
    /// decoder's own (CloudEvents `id`, MassTransit `messageId`, NServiceBus `MessageId`, header
    /// `message-id` or `webhook-id`).
    pub message_id: Option<crate::Selector>,
    /// Where a message carries the run marker; `None`: header `sojourn-run`.
    pub marker: Option<crate::Selector>,
    /// Whose backlog is read each second while the run goes on: consumer groups, durable consumers,
    /// queues, by the broker's own names.
    pub backlog: Vec<String>,
}

/// Which connector, with its settings. Its word is the field in the journey file and the cargo
/// feature that brings it.
#[derive(Clone, Debug)]
pub enum Connector {
    /// Kafka topics.
    Kafka(KafkaChannel),
    /// Requests received by Sojourn itself.
    Webhook(WebhookChannel),
    /// NATS subjects, with or without JetStream.
    Nats(NatsChannel),
    /// An exchange of RabbitMQ or another AMQP 0.9.1 broker.
    Amqp(AmqpChannel),
    /// Redis streams, pub/sub or keyspace notifications.
    Redis(RedisChannel),
    /// MQTT topics.
    Mqtt(MqttChannel),
    /// Notifications, a table or the changes of a Postgres database.
    Postgres(PostgresChannel),
    /// An SQS queue, or an SNS topic through a queue of its own.
    Sqs(SqsChannel),
    /// Messages of a WebSocket.
    WebSocket(WebSocketChannel),
    /// Server-sent events.
    Sse(SseChannel),
}

impl Connector {
    /// Its word: `kafka`, `webhook`, `nats`, `amqp`, `redis`, `mqtt`, `postgres`, `sqs`,
    /// `websocket`, `sse`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Kafka(_) => "kafka",
            Self::Webhook(_) => "webhook",
            Self::Nats(_) => "nats",
            Self::Amqp(_) => "amqp",
            Self::Redis(_) => "redis",
            Self::Mqtt(_) => "mqtt",
            Self::Postgres(_) => "postgres",
            Self::Sqs(_) => "sqs",
            Self::WebSocket(_) => "websocket",
            Self::Sse(_) => "sse",
        }
    }

    /// Whether messages can be published to it.
    pub fn publishes(&self) -> bool {
        match self {
            Self::Redis(redis) => !matches!(redis.source, RedisSource::Keyspace(_)),
            other => !matches!(other, Self::Webhook(_) | Self::WebSocket(_) | Self::Sse(_)),
        }
    }

    /// Where a message is published that names no topic: the first one that is no pattern.
    pub fn usual_topic(&self) -> Option<&str> {
        let plain = |names: &[String], wildcards: &[char]| {
            names.iter().position(|name| !name.contains(wildcards))
        };
        let (names, wildcards): (&[String], &[char]) = match self {
            Self::Kafka(kafka) => (&kafka.topics, &[]),
            Self::Nats(nats) => (&nats.subjects, &['*', '>']),
            Self::Amqp(amqp) => (&amqp.routing, &['*', '#']),
            Self::Redis(redis) => (redis.source.names(), &['*', '?', '[']),
            Self::Mqtt(mqtt) => (&mqtt.filters, &['+', '#']),
            Self::Postgres(postgres) => (postgres.source.names(), &[]),
            Self::Sqs(sqs) => (std::slice::from_ref(sqs.source.name()), &[]),
            Self::Webhook(_) | Self::WebSocket(_) | Self::Sse(_) => (&[], &[]),
        };
        plain(names, wildcards).map(|place| names[place].as_str())
    }
}
