//! A generator's publishers, one for each channel that its plan publishes to.

use std::sync::{Arc, OnceLock};

use sojourn_broker::{Awaited, Outcome, Publisher, PublisherSettings, Registry};
use sojourn_http::Waker;
use sojourn_plan::{Action, Plan, PublishAction};

use crate::{RunError, coordinator::taps::naming};

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
    /// Generator number `member`'s publisher for each channel that some step publishes to. `waker`
    /// is filled in once the generator has one.
    pub(crate) fn new(
        member: u32,
        plan: &Plan,
        registry: &Registry,
        waker: &Arc<OnceLock<Waker>>,
    ) -> Result<Self, RunError> {
        let used: Vec<usize> = published(plan).map(|action| action.channel).collect();
        let mut channels = Vec::new();
        for (index, channel) in plan.channels.iter().enumerate() {
            let waker = Arc::clone(waker);
            let wake = move || {
                if let Some(waker) = waker.get() {
                    waker.wake();
                }
            };
            let settings = PublisherSettings { queue_max: QUEUE_MAX, wake: Arc::new(wake), member };
            channels.push(match used.contains(&index) {
                true => Some(registry.of(channel)?.publisher(channel, settings)?),
                false => None,
            });
        }
        Ok(Self { channels, ..Self::default() })
    }

    /// Waits until each of them is known to work: a run measures neither their connecting nor what
    /// never could.
    pub(crate) fn ready(&mut self, plan: &Plan) -> Result<(), RunError> {
        for (index, publisher) in self.channels.iter_mut().enumerate() {
            let Some(publisher) = publisher else { continue };
            let ready = publisher.ready(&known_topics(plan, index));
            ready.map_err(|error| naming(&plan.channels[index], error))?;
        }
        Ok(())
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

fn published(plan: &Plan) -> impl Iterator<Item = &PublishAction> {
    let steps = plan.journeys.iter().flat_map(|journey| &journey.steps);
    steps.filter_map(|step| match &step.action {
        Action::Publish(action) => Some(action),
        Action::Http(_) => None,
    })
}

/// Topics of a channel that messages certainly go to: those that no value is put into.
pub(crate) fn known_topics(plan: &Plan, channel: usize) -> Vec<String> {
    let of_channel = published(plan).filter(|action| action.channel == channel);
    let mut topics: Vec<_> =
        of_channel.filter_map(|action| action.topic.as_literal().map(str::to_owned)).collect();
    topics.sort_unstable();
    topics.dedup();
    topics
}

#[cfg(test)]
mod tests {
    use sojourn_broker::BrokerError;
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

    /// Its broker lacks whatever it is asked for.
    struct Lacking;

    impl Publisher for Lacking {
        fn ready(&mut self, topics: &[String]) -> Result<(), BrokerError> {
            Err(BrokerError::new(format!("there is no {}", topics.join(" and no "))))
        }

        fn try_publish(
            &mut self,
            _token: u64,
            _topic: &str,
            _key: Option<&[u8]>,
            _headers: &[(&str, &[u8])],
            _payload: &[u8],
        ) -> Result<(), String> {
            Ok(())
        }

        fn poll(&mut self, _outcomes: &mut Vec<Outcome>) {}
    }

    #[test]
    fn what_is_not_ready_is_named_and_asked_for_the_topics_that_are_known() {
        let text = r#"
name: orders
channels:
  heard: { nats: { url: "nats://127.0.0.1:4222", subjects: [seen] } }
  orders: { nats: { url: "nats://127.0.0.1:4222", subjects: [new] } }
journeys:
  order:
    steps:
      - { name: first, publish: { to: orders, json: { n: 1 } }, key: "{{ uuid() }}" }
      - { name: more, publish: { to: orders, topic: "x.{{ key }}", json: { n: 2 } } }
    stages: [{ name: seen, on: heard, key: $.id }]
    within: 2s
load: [{ rate: 20/s, steady: 1s }]
"#;
        let plan = crate::testing::plan(text, "http://127.0.0.1:1");
        let mut publishers =
            Publishers { channels: vec![None, Some(Box::new(Lacking))], ..Publishers::default() };
        let error = publishers.ready(&plan).unwrap_err();
        assert_eq!(error.message, "channel `orders`: there is no new");
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
