//! The connectors that this build has.

use sojourn_broker::Registry;

/// Every connector whose cargo feature is on.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    #[cfg(feature = "amqp")]
    let registry = registry.with("amqp", sojourn_broker_amqp::Amqp);
    #[cfg(feature = "kafka")]
    let registry = registry.with("kafka", sojourn_broker_kafka::Kafka);
    #[cfg(feature = "mqtt")]
    let registry = registry.with("mqtt", sojourn_broker_mqtt::Mqtt);
    #[cfg(feature = "nats")]
    let registry = registry.with("nats", sojourn_broker_nats::Nats);
    #[cfg(feature = "postgres")]
    let registry = registry.with("postgres", sojourn_broker_postgres::Postgres);
    #[cfg(feature = "redis")]
    let registry = registry.with("redis", sojourn_broker_redis::Redis);
    #[cfg(feature = "sqs")]
    let registry = registry.with("sqs", sojourn_broker_sqs::Sqs);
    #[cfg(feature = "sse")]
    let registry = registry.with("sse", sojourn_broker_stream::Sse);
    #[cfg(feature = "webhook")]
    let registry = registry.with("webhook", sojourn_broker_webhook::tap);
    #[cfg(feature = "websocket")]
    let registry = registry.with("websocket", sojourn_broker_stream::WebSocket);
    registry
}
