//! A generator's publishers, one for each channel that its plan publishes to.

use std::sync::{Arc, OnceLock};

use sojourn_broker::{Awaited, Outcome, Publisher, PublisherSettings, Registry};
use sojourn_http::Waker;
use sojourn_plan::{Action, Plan};

use crate::RunError;

/// Most messages of a channel without an acknowledgement, for each generator.
const QUEUE_MAX: usize = 100_000;

/// Publishers by channel, and the messages on their way.
#[derive(Default)]
pub(crate) struct Publishers {
    channels: Vec<Option<Box<dyn Publisher>>>,
    awaited: Awaited,
    outcomes: Vec<Outcome>,
}

/// A message, rendered.
pub(crate) struct Message<'a> {
    pub(crate) channel: usize,
    pub(crate) topic: &'a str,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) headers: &'a [(&'a str, &'a [u8])],
    pub(crate) payload: &'a [u8],
    pub(crate) timeout_ns: u64,
}

impl Publishers {
    /// A publisher for each channel that some step publishes to. `waker` is filled in once the
    /// generator has one.
    pub(crate) fn new(
        plan: &Plan,
        registry: &Registry,
        waker: &Arc<OnceLock<Waker>>,
    ) -> Result<Self, RunError> {
        let steps = plan.journeys.iter().flat_map(|journey| &journey.steps);
        let used: Vec<usize> = steps
            .filter_map(|step| match &step.action {
                Action::Publish(action) => Some(action.channel),
                Action::Http(_) => None,
            })
            .collect();
        let mut channels = Vec::new();
        for (index, channel) in plan.channels.iter().enumerate() {
            let waker = Arc::clone(waker);
            let wake = move || {
                if let Some(waker) = waker.get() {
                    waker.wake();
                }
            };
            let settings = PublisherSettings { queue_max: QUEUE_MAX, wake: Arc::new(wake) };
            channels.push(match used.contains(&index) {
                true => Some(registry.of(channel)?.publisher(channel, settings)?),
                false => None,
            });
        }
        Ok(Self { channels, ..Self::default() })
    }

    /// Hands a message over. Errs when the publisher has no place for it.
    pub(crate) fn send(
        &mut self,
        now_ns: u64,
        token: u64,
        message: &Message<'_>,
    ) -> Result<(), String> {
        let publisher = self.channels.get_mut(message.channel).and_then(Option::as_mut);
        let Some(publisher) = publisher else {
            return Err("the channel has no publisher".to_owned());
        };
        let Message { topic, key, headers, payload, .. } = *message;
        publisher.try_publish(token, topic, key, headers, payload)?;
        self.awaited.add(now_ns, token, message.timeout_ns);
        Ok(())
    }

    /// What came of messages since the last call: acknowledged, refused, or given up by now. Each
    /// message ends once; what is said of it later is passed over.
    pub(crate) fn outcomes(&mut self, now_ns: u64, ended: &mut Vec<Outcome>) {
        if self.awaited.is_empty() {
            return;
        }
        for publisher in self.channels.iter_mut().flatten() {
            publisher.poll(&mut self.outcomes);
        }
        let awaited = &mut self.awaited;
        ended.extend(self.outcomes.drain(..).filter(|outcome| awaited.settle(outcome.token)));
        awaited.give_up(now_ns, |token| {
            let error = Some(Awaited::NOT_ACKNOWLEDGED.to_owned());
            ended.push(Outcome { token, acked_ns: now_ns, error });
        });
    }

    /// When overdue messages are looked for next; the end of time when none is on its way.
    pub(crate) fn next_ns(&self) -> u64 {
        self.awaited.next_ns()
    }
}

#[cfg(test)]
mod tests {
    use sojourn_clock::MILLISECOND_NS;

    use super::*;

    const LOOK_NS: u64 = 10 * MILLISECOND_NS;

    /// Acknowledges what it is told to.
    #[derive(Default)]
    struct Told(Arc<std::sync::Mutex<Vec<Outcome>>>);

    impl Publisher for Told {
        fn try_publish(
            &mut self,
            _token: u64,
            topic: &str,
            _key: Option<&[u8]>,
            _headers: &[(&str, &[u8])],
            _payload: &[u8],
        ) -> Result<(), String> {
            if topic == "full" { Err("full".to_owned()) } else { Ok(()) }
        }

        fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
            outcomes.append(&mut self.0.lock().unwrap());
        }
    }

    fn message(topic: &str, timeout_ns: u64) -> Message<'_> {
        Message { channel: 0, topic, key: None, headers: &[], payload: b"", timeout_ns }
    }

    #[test]
    fn each_message_ends_once_acknowledged_or_given_up() {
        let told = Told::default();
        let acks = Arc::clone(&told.0);
        let mut publishers =
            Publishers { channels: vec![Some(Box::new(told))], ..Publishers::default() };
        assert_eq!(publishers.next_ns(), u64::MAX);
        publishers.send(0, 1, &message("t", 100 * MILLISECOND_NS)).unwrap();
        publishers.send(0, 2, &message("t", 1)).unwrap();
        assert_eq!(publishers.send(0, 3, &message("full", 1)), Err("full".to_owned()));
        assert_eq!(publishers.next_ns(), LOOK_NS);
        let ack = |token| Outcome { token, acked_ns: 5, error: None };
        acks.lock().unwrap().push(ack(1));
        let mut ended = Vec::new();
        publishers.outcomes(LOOK_NS, &mut ended);
        assert_eq!(ended.iter().map(|outcome| outcome.token).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(ended[1].error.as_deref(), Some(Awaited::NOT_ACKNOWLEDGED));
        acks.lock().unwrap().push(ack(2));
        publishers.send(LOOK_NS, 4, &message("t", 1)).unwrap();
        ended.clear();
        publishers.outcomes(LOOK_NS + 1, &mut ended);
        assert_eq!(ended, [], "the late acknowledgement of 2 is passed over");
    }
}
