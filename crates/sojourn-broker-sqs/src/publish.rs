//! Publishing: messages are handed to a thread of its own, outcomes come back by token.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use sojourn_broker::{BrokerError, Handover, Outcome, Publisher, PublisherSettings};
use sojourn_http::Waker;
use sojourn_plan::SqsChannel;

use crate::api::Api;
use crate::message::Outgoing;
use crate::sending::{Job, Sending};

/// Sends messages to queues, or to a topic, without blocking.
pub struct SqsPublisher {
    handover: Handover<Job>,
    /// A message to the channel itself goes to these.
    usual: Arc<[String]>,
    source: String,
    waker: Waker,
    /// The thread waits and must be woken for a new message.
    asleep: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SqsPublisher {
    pub(crate) fn new(
        api: Api,
        channel: &SqsChannel,
        how: PublisherSettings,
    ) -> Result<Self, BrokerError> {
        let (handover, to_send, done) = Handover::new(how.queue_max, "SQS");
        let source = channel.source.name().clone();
        let usual: Arc<[String]> = match channel.publish.is_empty() {
            true => Arc::from([source.clone()]),
            false => channel.publish.clone().into(),
        };
        let (waker, asleep) = (api.waker(), Arc::new(AtomicBool::new(false)));
        let place = api.settings.place();
        let sending = Sending::new(api, to_send, done, how.wake, Arc::clone(&asleep));
        let thread = std::thread::Builder::new().name("sqs publisher".to_owned());
        let thread = thread.spawn(move || sending.run()).map_err(|error| {
            BrokerError::new(format!("{place}: no thread to publish with: {error}"))
        })?;
        Ok(Self { handover, usual, source, waker, asleep, thread: Some(thread) })
    }
}

impl Publisher for SqsPublisher {
    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        self.handover.check_room()?;
        let message = Outgoing::new(key, headers, payload)?;
        let targets = match topic == self.source {
            true => Arc::clone(&self.usual),
            false => Arc::from([topic.to_owned()]),
        };
        self.handover.send(Job { token, targets, message })?;
        if self.asleep.swap(false, Ordering::AcqRel) {
            self.waker.wake();
        }
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        self.handover.poll(outcomes);
    }
}

impl Drop for SqsPublisher {
    fn drop(&mut self) {
        self.handover.close();
        self.waker.wake();
        // It ends within a second.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl std::fmt::Debug for SqsPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqsPublisher").field("usual", &self.usual).finish_non_exhaustive()
    }
}
