//! The tap: opens, listens, and cleans up what it made.

use std::time::Duration;

use sojourn_aws::environment;
use sojourn_broker::{Backoff, BrokerError, Gap, Sink, Tap, TapInfo};
use sojourn_plan::{SqsChannel, SqsSource};

use crate::api::Api;
use crate::config::{Service, Settings};
use crate::listening::{Beginning, Listening};
use crate::open::take_over;
use crate::queue::{Queue, TIMEOUT, created};
use crate::sns::Subscription;

/// A tap on a queue of the test's own, or on a topic through a queue that it makes.
pub struct SqsTap {
    channel: SqsChannel,
    settings: Settings,
    give_up_after: Duration,
    listening: Option<Listening>,
    /// What was made for a topic, to be removed at the end.
    subscription: Option<Subscription>,
    lost: Option<BrokerError>,
    watermark_ns: u64,
}

impl SqsTap {
    /// A tap, not yet open. Errs when there are no keys or no region, or when the endpoint is no
    /// URL.
    pub fn new(channel: &SqsChannel) -> Result<Self, BrokerError> {
        Ok(Self {
            channel: channel.clone(),
            settings: Settings::new(channel, Service::Sqs, &environment)?,
            give_up_after: Backoff::GIVE_UP_AFTER,
            listening: None,
            subscription: None,
            lost: None,
            watermark_ns: 0,
        })
    }
}

impl Tap for SqsTap {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        let mut api = Api::new(self.settings.clone())?;
        let place = self.settings.place();
        let (queue, floor_unix_ms, listens_to) = match &self.channel.source {
            SqsSource::Queue(name) => {
                let queue = Queue::find(&mut api, name)?;
                let floor_unix_ms = take_over(&mut api, &queue, self.channel.discard)?;
                let listens_to = format!("{place}, queue {}", queue.name);
                (queue, floor_unix_ms, listens_to)
            }
            SqsSource::Topic(topic) => {
                let settings = Settings::new(&self.channel, Service::Sns, &environment)?;
                let subscription = Subscription::make(&mut api, settings, topic)?;
                let queue = subscription.queue.clone();
                self.subscription = Some(subscription);
                let listens_to = format!("{place}, topic {topic} through queue {}", queue.name);
                (queue, 0, listens_to)
            }
        };
        self.watermark_ns = sojourn_clock::now_ns();
        let created = created(&queue.attributes(&mut api, TIMEOUT)?);
        let beginning = Beginning { floor_unix_ms, created, at_ns: self.watermark_ns };
        let listening = Listening::new(api, queue, beginning, self.give_up_after);
        self.listening = Some(listening);
        Ok(TapInfo { listens_to, address: None })
    }

    fn give_up_after(&mut self, patience: Duration) {
        self.give_up_after = patience;
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        if let Some(error) = &self.lost {
            return Err(error.clone());
        }
        let Some(listening) = &mut self.listening else {
            return Err(BrokerError::new("sqs: the tap is not open"));
        };
        let polled = listening.poll(timeout, sink);
        self.watermark_ns = listening.watermark_ns();
        self.lost = polled.as_ref().err().cloned();
        polled
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        self.listening.as_mut().map(Listening::take_gaps).unwrap_or_default()
    }

    fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }
}

impl Drop for SqsTap {
    fn drop(&mut self) {
        if let Some(listening) = &mut self.listening {
            listening.finish();
        }
        if let Some(subscription) = &mut self.subscription {
            subscription.remove();
        }
    }
}

impl std::fmt::Debug for SqsTap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqsTap").field("channel", &self.channel).finish_non_exhaustive()
    }
}
