//! Webhook: an HTTP receiver that turns requests into events.
//!
//! [`WebhookTap`] listens on an address of its own. A request to its path is stamped once its whole
//! body is here, queued, and answered at once; the tap's poll hands it over with the path as topic
//! and the request's headers. CloudEvents in either mode are the decoder's business, as everywhere.
//!
//! Invariants: the connections, the queue and the bytes held are bounded; what they refuse is
//! answered 503 (413 where the body itself is too large) and counted in `Tap::refused`. A request
//! whose signature is wrong is answered 401 and handed over as unacceptable, never as an event.
//! Stamping and queueing happen under one lock, and so does the reading of the watermark: no
//! message can be stamped before a watermark and queued after it.

mod answers;
mod config;
mod listener;
mod queue;
mod receiver;
mod signature;
#[cfg(test)]
mod signed_tests;
mod tap;
#[cfg(test)]
mod tests;

use sojourn_broker::{BrokerError, Tap};
use sojourn_plan::{Channel, Connector};

pub use tap::WebhookTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "webhook";

/// Makes a channel's tap, for the registry. Errs when the channel is not a webhook.
pub fn tap(channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
    match &channel.connector {
        Connector::Webhook(webhook) => Ok(Box::new(WebhookTap::new(webhook.clone()))),
        _ => Err(BrokerError::new(format!("channel `{}` is not a webhook", channel.name))),
    }
}
