//! Publishing: a bounded queue, and a thread with a session of its own that sends and hears.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use sojourn_broker::{BrokerError, Outcome, Publisher, PublisherSettings};
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
    queue: Sender<Queued>,
    outcomes: Receiver<Outcome>,
    signals: Arc<Signals>,
    queue_max: usize,
    /// Messages taken whose outcome has not been handed over. It bounds the outcomes too.
    pending: usize,
}

impl MqttPublisher {
    /// A publisher.
    ///
    /// # Errors
    /// A TLS file is of no use, or the system has no thread or descriptor left.
    pub fn new(mqtt: &MqttChannel, how: PublisherSettings) -> Result<Self, BrokerError> {
        let settings = Settings::new(mqtt, Role::Publisher)?;
        let queue_max = how.queue_max.max(1);
        let (queue, queued) = bounded(queue_max);
        let (done, outcomes) = bounded(queue_max);
        let failed = |error: std::io::Error| settings.endpoint.error(&error.to_string());
        let signals = Arc::new(Signals {
            bell: Bell::new().map_err(failed)?,
            is_waiting: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let sending = Sending {
            settings: settings.clone(),
            queued,
            done,
            wake: how.wake,
            signals: Arc::clone(&signals),
        };
        std::thread::Builder::new()
            .name("mqtt-publisher".to_owned())
            .spawn(move || sending.run())
            .map_err(failed)?;
        let (version, qos) = (settings.version(), settings.qos());
        Ok(Self { version, qos, queue, outcomes, signals, queue_max, pending: 0 })
    }
}

impl Publisher for MqttPublisher {
    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        if self.pending >= self.queue_max {
            return Err(format!("{} messages wait for the broker", self.pending));
        }
        if !is_topic(topic) {
            return Err("not a topic that can be published to: empty, or with `+` or `#`".into());
        }
        let mut packet = Vec::new();
        let message = Message { qos: self.qos, topic, key, headers, payload };
        let id_place = write_publish(&mut packet, self.version, &message)?;
        match self.queue.try_send(Queued { token, packet, id_place }) {
            Ok(()) => self.pending += 1,
            Err(TrySendError::Full(_)) => return Err("the queue is full".to_owned()),
            Err(TrySendError::Disconnected(_)) => return Err("the sender has ended".to_owned()),
        }
        if self.signals.is_waiting.swap(false, Ordering::SeqCst) {
            self.signals.bell.ring();
        }
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        let before = outcomes.len();
        outcomes.extend(self.outcomes.try_iter());
        self.pending = self.pending.saturating_sub(outcomes.len() - before);
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
        f.debug_struct("MqttPublisher").field("pending", &self.pending).finish_non_exhaustive()
    }
}
