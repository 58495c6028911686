//! Publishing: messages are handed to a thread of its own, outcomes come back by token.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use sojourn_broker::{BrokerError, Handover, Outcome, Publisher, PublisherSettings, Readiness};
use sojourn_http::Waker;
use sojourn_plan::SqsChannel;

use crate::api::Api;
use crate::config::{Service, Settings};
use crate::message::Outgoing;
use crate::queue::Queue;
use crate::sending::{Ends, Job, Sending};
use crate::sns;

/// Sends messages to queues, or to a topic, without blocking.
pub struct SqsPublisher {
    handover: Handover<Job>,
    readiness: Readiness,
    settings: Settings,
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
        let (readiness, first) = Readiness::new();
        let settings = api.settings.clone();
        let ends = Ends { jobs: to_send, done, wake: how.wake, asleep: Arc::clone(&asleep), first };
        let sending = Sending::new(api, ends, Arc::clone(&usual));
        let thread = std::thread::Builder::new().name("sqs publisher".to_owned());
        let thread = thread.spawn(move || sending.run()).map_err(|error| {
            BrokerError::new(format!("{place}: no thread to publish with: {error}"))
        })?;
        let thread = Some(thread);
        Ok(Self { handover, readiness, settings, usual, source, waker, asleep, thread })
    }
}

impl Publisher for SqsPublisher {
    fn ready(&mut self, topics: &[String]) -> Result<(), BrokerError> {
        self.readiness.wait()?;
        let others: Vec<_> = topics.iter().filter(|topic| **topic != self.source).collect();
        if others.is_empty() {
            return Ok(());
        }
        let mut api = Api::new(self.settings.clone())?;
        others.into_iter().try_for_each(|name| find(&mut api, name))
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

/// Errs where a queue or a topic is not there.
pub(crate) fn find(api: &mut Api, name: &str) -> Result<(), BrokerError> {
    match api.settings.service {
        Service::Sns => sns::find(api, name),
        // Nothing is published to CloudWatch.
        Service::Sqs | Service::CloudWatch => Queue::find(api, name).map(drop),
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
