//! Webhook: an HTTP receiver that turns requests into events.
