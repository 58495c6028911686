//! The connectors that this build has.

use sojourn_broker::Registry;

/// Every connector whose cargo feature is on.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    #[cfg(feature = "kafka")]
    sojourn_broker_kafka::register(&mut registry);
    #[cfg(feature = "webhook")]
    sojourn_broker_webhook::register(&mut registry);
    registry
}
