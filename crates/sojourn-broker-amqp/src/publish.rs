//! Publishing, with confirms by token.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sojourn_broker::{BrokerError, Handover, Outcome, Publisher, PublisherSettings, Readiness};
use sojourn_plan::AmqpChannel;
use sojourn_socket::Bell;

use crate::config::Settings;
use crate::connection::FRAME_BYTES_MAX;
use crate::sender::{Letter, Sender as Worker, Signal};
use crate::wire::content::MESSAGE_BYTES_MAX;
use crate::wire::frame::FRAME_OVERHEAD;
use crate::wire::properties;
use crate::wire::writer::Writer;

/// Sends messages to an exchange without blocking. A thread of its own has the connection and
/// stamps confirms as they come.
pub struct AmqpPublisher {
    handover: Handover<Letter>,
    readiness: Readiness,
    signal: Arc<Signal>,
}

impl AmqpPublisher {
    /// A publisher. It connects in the background: an unreachable broker shows in the outcomes.
    pub fn new(channel: &AmqpChannel, how: PublisherSettings) -> Result<Self, BrokerError> {
        let settings = Settings::new(channel)?;
        let (handover, waiting, told) = Handover::new(how.queue_max, "the broker");
        let unable = |error: std::io::Error| {
            BrokerError::new(format!("{}: cannot publish: {error}", settings.name()))
        };
        let signal = Arc::new(Signal {
            bell: Bell::new().map_err(unable)?,
            asleep: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let (readiness, first) = Readiness::new();
        let (own, bell) = (settings.clone(), Arc::clone(&signal));
        let worker = Worker::new(own, channel, (waiting, told), bell, how, first);
        std::thread::Builder::new()
            .name("amqp publisher".to_owned())
            .spawn(move || worker.run())
            .map_err(unable)?;
        Ok(Self { handover, readiness, signal })
    }
}

impl Publisher for AmqpPublisher {
    /// A topic is a routing key: whether a queue is bound to it shows in the outcomes.
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
        if topic.len() > 255 {
            return Err("the routing key is longer than AMQP's 255 bytes".to_owned());
        }
        if payload.len() as u64 > MESSAGE_BYTES_MAX {
            return Err("the message is longer than 512 MiB".to_owned());
        }
        let mut bytes = Writer { bytes: Vec::with_capacity(payload.len() + 256) };
        properties::write(&mut bytes, payload.len() as u64, key, headers)
            .map_err(|malformed| malformed.0.to_owned())?;
        let mut bytes = bytes.bytes;
        let header_length = bytes.len();
        if header_length > FRAME_BYTES_MAX - FRAME_OVERHEAD {
            return Err("the headers are longer than AMQP's frame of 128 KiB".to_owned());
        }
        bytes.extend_from_slice(payload);
        let letter = Letter { token, routing_key: topic.into(), bytes, header_length };
        self.handover.send(letter)?;
        self.signal.wake_sleeper();
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        self.handover.poll(outcomes);
    }
}

impl Drop for AmqpPublisher {
    fn drop(&mut self) {
        self.signal.stop.store(true, Ordering::SeqCst);
        self.signal.bell.ring();
    }
}

impl std::fmt::Debug for AmqpPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AmqpPublisher")
            .field("pending", &self.handover.pending())
            .finish_non_exhaustive()
    }
}
