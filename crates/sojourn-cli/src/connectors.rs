//! The connectors that this build has.

use sojourn_broker::Registry;

/// Every connector whose cargo feature is on.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    #[cfg(feature = "kafka")]
    let registry = registry.with("kafka", sojourn_broker_kafka::tap);
    #[cfg(feature = "webhook")]
    let registry = registry.with("webhook", sojourn_broker_webhook::tap);
    registry
}
