//! The brokers that callbacks publish to: a publisher for each channel, and the messages on their
//! way.

use std::sync::Arc;

use sojourn_broker::{Awaited, BrokerError, Outcome, Publisher, PublisherSettings, Registry};
use sojourn_http::Waker;
use sojourn_plan::Channel;

/// Most messages of a channel without an acknowledgement.
const QUEUE_MAX: usize = 10_000;

/// A channel and what publishes to it. It is known by its address: a book read again has channels
/// of its own.
pub(super) struct Line {
    channel: Arc<Channel>,
    publisher: Box<dyn Publisher>,
    /// Messages without an outcome.
    pending: usize,
}

impl Line {
    /// A line to each of these channels. Errs when this build has no such connector, or one that
    /// cannot publish, and when it can be seen that the settings cannot work. Nothing is connected
    /// yet: a broker may come later than the mock.
    pub(super) fn open(
        channels: &[Arc<Channel>],
        registry: &Registry,
        waker: &Waker,
    ) -> Result<Vec<Self>, BrokerError> {
        let open = |channel: &Arc<Channel>| {
            let waker = waker.clone();
            let wake = Arc::new(move || waker.wake());
            let settings =
                PublisherSettings { queue_max: QUEUE_MAX, wake, ..PublisherSettings::default() };
            let publisher = registry.of(channel)?.publisher(channel, settings)?;
            Ok(Self { channel: channel.clone(), publisher, pending: 0 })
        };
        channels.iter().map(open).collect()
    }
}

/// A message, rendered.
#[derive(Debug)]
pub(crate) struct Letter {
    pub(crate) channel: Arc<Channel>,
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) payload: Vec<u8>,
    /// How long its acknowledgement is waited for, nanoseconds.
    pub(crate) timeout_ns: u64,
}

/// All lines, and what is on its way.
#[derive(Default)]
pub(super) struct Brokers {
    lines: Vec<Line>,
    awaited: Awaited,
    next_token: u64,
    outcomes: Vec<Outcome>,
}

impl Brokers {
    /// Takes lines of a new book in. Those of earlier books go once nobody has anything more to
    /// send on them.
    pub(super) fn add(&mut self, mut lines: Vec<Line>) {
        let is_over = |line: &mut Line| line.pending == 0 && Arc::strong_count(&line.channel) == 1;
        let over: Vec<Line> = self.lines.extract_if(.., is_over).collect();
        self.lines.append(&mut lines);
        if !over.is_empty() {
            // A publisher may take seconds to say goodbye, while callbacks fall due here. Without a
            // thread to be had, they wait for it.
            let retired = std::thread::Builder::new().name("retired publishers".to_owned());
            let _spawned = retired.spawn(move || drop(over));
        }
    }

    /// Hands a message over. Errs when its publisher does not take it.
    pub(super) fn send(&mut self, now_ns: u64, letter: &Letter) -> Result<(), String> {
        let is_its = |line: &&mut Line| Arc::ptr_eq(&line.channel, &letter.channel);
        let Some(line) = self.lines.iter_mut().find(is_its) else {
            return Err("the channel has no publisher".to_owned());
        };
        let headers: Vec<(&str, &[u8])> =
            letter.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
        let (key, payload) = (letter.key.as_deref(), &letter.payload);
        let token = self.next_token;
        line.publisher.try_publish(token, &letter.topic, key, &headers, payload)?;
        line.pending += 1;
        self.next_token += 1;
        self.awaited.add(now_ns, token, letter.timeout_ns);
        Ok(())
    }

    /// What came of messages since the last call, by `told`: acknowledged, or why not. Each message
    /// ends once; what is said of it after it was given up is passed over.
    pub(super) fn outcomes(&mut self, now_ns: u64, mut told: impl FnMut(Result<(), String>)) {
        for line in &mut self.lines {
            if line.pending == 0 {
                continue;
            }
            line.publisher.poll(&mut self.outcomes);
            line.pending = line.pending.saturating_sub(self.outcomes.len());
            for outcome in self.outcomes.drain(..) {
                if self.awaited.settle(outcome.token) {
                    told(outcome.error.map_or(Ok(()), Err));
                }
            }
        }
        self.awaited.give_up(now_ns, |_| told(Err(Awaited::NOT_ACKNOWLEDGED.to_owned())));
    }

    /// Messages without an outcome.
    pub(super) fn pending(&self) -> usize {
        self.awaited.len()
    }

    /// When overdue messages are looked for next; the end of time when none is on its way.
    pub(super) fn next_ns(&self) -> u64 {
        self.awaited.next_ns()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use crossbeam_channel::{Receiver, Sender, bounded};
    use sojourn_clock::MILLISECOND_NS;
    use sojourn_plan::{Connector, Decoder, KafkaChannel};

    use super::*;

    const LOOK_NS: u64 = 10 * MILLISECOND_NS;

    /// Acknowledges what it is told to.
    struct Told(Arc<Mutex<Vec<Outcome>>>);

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

    fn channel() -> Arc<Channel> {
        Arc::new(Channel {
            name: "events".to_owned(),
            connector: Connector::Kafka(KafkaChannel::default()),
            decoder: Decoder::Auto,
            message_id: None,
            marker: None,
            backlog: Vec::new(),
        })
    }

    fn letter(channel: &Arc<Channel>, topic: &str, timeout_ns: u64) -> Letter {
        Letter {
            channel: channel.clone(),
            topic: topic.to_owned(),
            key: None,
            headers: Vec::new(),
            payload: Vec::new(),
            timeout_ns,
        }
    }

    #[test]
    fn each_message_ends_once_and_a_line_goes_when_nobody_needs_it() {
        let (channel, other) = (channel(), channel());
        let acks = Arc::new(Mutex::new(Vec::new()));
        let line = |channel: &Arc<Channel>| Line {
            channel: channel.clone(),
            publisher: Box::new(Told(acks.clone())),
            pending: 0,
        };
        let mut brokers = Brokers::default();
        brokers.add(vec![line(&channel)]);
        assert_eq!(brokers.next_ns(), u64::MAX);
        brokers.send(0, &letter(&channel, "t", 100 * MILLISECOND_NS)).unwrap();
        brokers.send(0, &letter(&channel, "t", 1)).unwrap();
        assert_eq!(brokers.send(0, &letter(&channel, "full", 1)), Err("full".to_owned()));
        assert!(brokers.send(0, &letter(&other, "t", 1)).is_err(), "it has no line");
        let ack = |token| Outcome { token, acked_ns: 5, error: None };
        acks.lock().unwrap().push(ack(0));
        let mut told = Vec::new();
        brokers.outcomes(LOOK_NS, |outcome| told.push(outcome));
        assert_eq!(told, [Ok(()), Err(Awaited::NOT_ACKNOWLEDGED.to_owned())]);
        assert_eq!((brokers.pending(), brokers.next_ns()), (0, u64::MAX));
        // The book is gone, but its publisher has not yet said what came of the second.
        drop(channel);
        brokers.add(vec![line(&other)]);
        assert_eq!(brokers.lines.len(), 2);
        acks.lock().unwrap().push(ack(1));
        brokers.outcomes(LOOK_NS, |outcome| panic!("{outcome:?} of one that was given up"));
        brokers.add(Vec::new());
        assert_eq!(brokers.lines.len(), 1);
    }

    /// Takes as long to end as it is made to.
    struct Lingering(Receiver<()>, Sender<bool>);

    impl Publisher for Lingering {
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

    impl Drop for Lingering {
        fn drop(&mut self) {
            let let_go = self.0.recv_timeout(Duration::from_secs(10)).is_ok();
            self.1.send(let_go).unwrap();
        }
    }

    #[test]
    fn nobody_waits_for_a_publisher_that_ends_slowly() {
        let ((let_go, told), (tell, ended)) = (bounded(1), bounded(1));
        let publisher = Box::new(Lingering(told, tell));
        let mut brokers = Brokers::default();
        brokers.add(vec![Line { channel: channel(), publisher, pending: 0 }]);
        brokers.add(Vec::new());
        assert!(brokers.lines.is_empty());
        let_go.send(()).unwrap();
        assert_eq!(ended.recv(), Ok(true), "it ended before anybody could let it go");
    }
}
