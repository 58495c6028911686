//! The module's metrics, `mqtt_*`: six by the names that k6's documentation lists, and six by those
//! that the extension's own tests look at. Scripts have thresholds on either.

use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use sojourn_clock::now_ns;
use sojourn_k6::metrics::{Contains, MetricId, MetricKind, TagSet};
use sojourn_script::js::{self, Ctx, Exception};

use super::options::Tags;
use crate::user::User;

/// The metrics' ids.
#[derive(Clone, Copy)]
pub(super) struct Meters {
    /// Attempts to connect.
    pub(super) connects: MetricId,
    /// Of those that came to something.
    pub(super) connect_time: MetricId,
    publishes: MetricId,
    subscribes: MetricId,
    messages_sent: MetricId,
    messages_received: MetricId,
    /// Calls of methods, and messages that came.
    calls: MetricId,
    errors: MetricId,
    message_sent: MetricId,
    message_received: MetricId,
    /// Bytes of payloads.
    data_sent: MetricId,
    data_received: MetricId,
}

impl Meters {
    /// Declares all of them, or finds them declared.
    pub(super) fn declare(ctx: &Ctx<'_>, user: &User) -> js::Result<Self> {
        let registry = &user.host.settings.registry;
        let mut registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
        let mut declare = |name: &str, kind, contains| {
            let declared = registry.declare(name, kind, contains);
            declared.map_err(|error| Exception::throw_message(ctx, &error.to_string()))
        };
        let mut counter = |name: &str| declare(name, MetricKind::Counter, Contains::Default);
        Ok(Self {
            connects: counter("mqtt_connects")?,
            publishes: counter("mqtt_publishes")?,
            subscribes: counter("mqtt_subscribes")?,
            messages_sent: counter("mqtt_messages_sent")?,
            messages_received: counter("mqtt_messages_received")?,
            calls: counter("mqtt_calls")?,
            errors: counter("mqtt_errors")?,
            message_sent: counter("mqtt_message_sent")?,
            message_received: counter("mqtt_message_received")?,
            connect_time: declare("mqtt_connect_duration", MetricKind::Trend, Contains::Time)?,
            data_sent: declare("mqtt_data_sent", MetricKind::Counter, Contains::Data)?,
            data_received: declare("mqtt_data_received", MetricKind::Counter, Contains::Data)?,
        })
    }
}

/// Where samples go: the tags that the user has, and those that the script has named.
#[derive(Clone)]
pub(super) struct Account {
    user: Rc<User>,
    meters: Meters,
    tags: Arc<TagSet>,
}

impl Account {
    /// Later tags take the place of earlier ones.
    pub(super) fn new(user: &Rc<User>, meters: Meters, tags: &[&Tags]) -> Self {
        let own = Arc::clone(&user.tags.borrow());
        let pairs: Vec<(&str, &str)> = tags
            .iter()
            .flat_map(|tags| tags.iter())
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let tags = if pairs.is_empty() { own } else { user.host.tags(&own, &pairs) };
        Self { user: Rc::clone(user), meters, tags }
    }

    pub(super) fn add(&self, metric: MetricId, at_ns: u64, value: f64) {
        self.user.add_tagged(metric, &self.tags, at_ns, value);
    }

    /// A method is called.
    pub(super) fn called(&self) {
        self.add(self.meters.calls, now_ns(), 1.0);
    }

    pub(super) fn publishes(&self) {
        self.add(self.meters.publishes, now_ns(), 1.0);
    }

    pub(super) fn subscribes(&self) {
        self.add(self.meters.subscribes, now_ns(), 1.0);
    }

    /// The broker has answered to a message; of QoS 0, it is on its way.
    pub(super) fn sent(&self, payload_bytes: usize) {
        let at_ns = now_ns();
        self.add(self.meters.messages_sent, at_ns, 1.0);
        self.add(self.meters.message_sent, at_ns, 1.0);
        self.add(self.meters.data_sent, at_ns, payload_bytes as f64);
    }

    pub(super) fn received(&self, payload_bytes: usize, at_ns: u64) {
        self.add(self.meters.calls, at_ns, 1.0);
        self.add(self.meters.messages_received, at_ns, 1.0);
        self.add(self.meters.message_received, at_ns, 1.0);
        self.add(self.meters.data_received, at_ns, payload_bytes as f64);
    }

    /// Something went wrong.
    pub(super) fn failed(&self) {
        self.add(self.meters.errors, now_ns(), 1.0);
    }
}
