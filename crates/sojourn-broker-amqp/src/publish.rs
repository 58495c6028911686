//! Publishing, with confirms by token.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rustix::event::{EventfdFlags, eventfd};
use sojourn_broker::{BrokerError, Outcome, Publisher, PublisherSettings};
use sojourn_plan::AmqpChannel;

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
    letters: Sender<Letter>,
    outcomes: Receiver<Outcome>,
    signal: Arc<Signal>,
    queue_max: usize,
    /// Messages sent whose outcome has not been handed over. It bounds the outcomes too, so that
    /// their channel never fills up.
    pending: usize,
}

impl AmqpPublisher {
    /// A publisher. It connects in the background: an unreachable broker shows in the outcomes.
    pub fn new(channel: &AmqpChannel, how: PublisherSettings) -> Result<Self, BrokerError> {
        let settings = Settings::new(channel)?;
        let queue_max = how.queue_max.max(1);
        let (letters, waiting) = bounded(queue_max);
        let (told, outcomes) = bounded(queue_max);
        let unable = |error: std::io::Error| {
            BrokerError::new(format!("{}: cannot publish: {error}", settings.name()))
        };
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let signal = Arc::new(Signal {
            event: event.map_err(|error| unable(error.into()))?,
            asleep: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let worker = Worker::new(settings.clone(), channel, waiting, told, signal.clone(), how);
        std::thread::Builder::new()
            .name("amqp publisher".to_owned())
            .spawn(move || worker.run())
            .map_err(unable)?;
        Ok(Self { letters, outcomes, signal, queue_max, pending: 0 })
    }
}

impl Publisher for AmqpPublisher {
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
        match self.letters.try_send(letter) {
            Ok(()) => {
                self.pending += 1;
                self.signal.wake_sleeper();
                Ok(())
            }
            Err(TrySendError::Full(_)) => Err("the publisher's queue is full".to_owned()),
            Err(TrySendError::Disconnected(_)) => Err("the publisher has ended".to_owned()),
        }
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        let before = outcomes.len();
        outcomes.extend(self.outcomes.try_iter());
        self.pending = self.pending.saturating_sub(outcomes.len() - before);
    }
}

impl Drop for AmqpPublisher {
    fn drop(&mut self) {
        self.signal.stop.store(true, Ordering::SeqCst);
        self.signal.wake();
    }
}

impl std::fmt::Debug for AmqpPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AmqpPublisher").field("pending", &self.pending).finish_non_exhaustive()
    }
}
