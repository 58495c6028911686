//! Publishing: a bounded queue, and a thread with a session of its own that sends and hears.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sojourn_broker::{BrokerError, Handover, Outcome, Publisher, PublisherSettings, Readiness};
use sojourn_plan::{MqttChannel, MqttVersion};
use sojourn_socket::Bell;

use crate::codec::{Message, write_publish};
use crate::config::{Role, Settings};
use crate::filter::is_topic;
use crate::sender::Sending;

/// A message as it will be sent.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) token: u64,
    pub(crate) packet: Vec<u8>,
    /// Where its packet number goes; none of QoS 0.
    pub(crate) id_place: Option<usize>,
}

/// What publisher and thread share beside the queues.
#[derive(Debug)]
pub(crate) struct Signals {
    pub(crate) bell: Bell,
    /// The thread waits, or is about to.
    pub(crate) is_waiting: AtomicBool,
    pub(crate) is_over: AtomicBool,
}

/// Publishes without blocking. Its thread connects at once; a message that meets no connection has
/// an error for its outcome.
pub struct MqttPublisher {
    version: MqttVersion,
    qos: u8,
    handover: Handover<Queued>,
    readiness: Readiness,
    signals: Arc<Signals>,
}

impl MqttPublisher {
    /// A publisher.
    ///
    /// # Errors
    /// A TLS file is of no use, or the system has no thread or descriptor left.
    pub fn new(mqtt: &MqttChannel, how: PublisherSettings) -> Result<Self, BrokerError> {
        let settings = Settings::new(mqtt, Role::Publisher)?;
        let (handover, queued, done) = Handover::new(how.queue_max, "the broker");
        let failed = |error: std::io::Error| settings.endpoint.error(&error.to_string());
        let signals = Arc::new(Signals {
            bell: Bell::new().map_err(failed)?,
            is_waiting: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let (readiness, first) = Readiness::new();
        let sending = Sending {
            settings: settings.clone(),
            queued,
            done,
            wake: how.wake,
            first,
            signals: Arc::clone(&signals),
        };
        std::thread::Builder::new()
            .name("mqtt-publisher".to_owned())
            .spawn(move || sending.run())
            .map_err(failed)?;
        let (version, qos) = (settings.version(), settings.qos());
        Ok(Self { version, qos, handover, readiness, signals })
    }
}

impl Publisher for MqttPublisher {
    /// Topics come into being by messages.
    fn ready(&mut self, _topics: &[String]) -> Result<(), BrokerError> {
        self.readiness.wait()
    }

    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        self.handover.check_room()?;
        if !is_topic(topic) {
            return Err("not a topic that can be published to: empty, or with `+` or `#`".into());
        }
        let mut packet = Vec::new();
        let message = Message { qos: self.qos, retain: false, topic, key, headers, payload };
        let id_place = write_publish(&mut packet, self.version, &message)?;
        self.handover.send(Queued { token, packet, id_place })?;
        if self.signals.is_waiting.swap(false, Ordering::SeqCst) {
            self.signals.bell.ring();
        }
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        self.handover.poll(outcomes);
    }
}

impl Drop for MqttPublisher {
    fn drop(&mut self) {
        self.signals.is_over.store(true, Ordering::SeqCst);
        self.signals.bell.ring();
    }
}

impl std::fmt::Debug for MqttPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MqttPublisher")
            .field("pending", &self.handover.pending())
            .finish_non_exhaustive()
    }
}
