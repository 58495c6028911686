//! The latest messages that fitted a stage, and who waits for one.
//!
//! Bounded by bytes: the oldest go first, and until which instant they are gone is known, so that
//! a message that could not be found is told from one that never came.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use sojourn_broker::RawMessage;
use sojourn_engine::{Fit as Seen, Listener};

use super::{Answer, Reply};

/// Most bytes of messages that are held.
const BYTES_MAX: usize = 64 << 20;
/// What a message costs beside its own bytes, roughly.
const BYTES_EACH: usize = 300;

/// A message that came by.
#[derive(Debug)]
pub(crate) struct Message {
    /// When it was received, CLOCK_MONOTONIC ns.
    pub(crate) stamp_ns: u64,
    /// Stages that it fits, with its key for each.
    fits: Vec<Fit>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Arc<[u8]>,
}

/// A stage and a key.
type Fit = (u8, Box<[u8]>);

/// What is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) stage: u8,
    pub(crate) key: Box<[u8]>,
    /// Messages of before are not meant.
    pub(crate) since_ns: u64,
}

/// See the module's page.
#[derive(Default)]
pub(crate) struct Messages(Mutex<Held>);

#[derive(Default)]
struct Held {
    /// Oldest first.
    messages: VecDeque<Arc<Message>>,
    by_fit: HashMap<Fit, VecDeque<Arc<Message>>>,
    bytes: usize,
    /// Messages up to here may be gone, and so many are.
    gone_until_ns: u64,
    gone: u64,
    waiting: HashMap<Fit, Vec<(u64, Reply)>>,
}

impl Messages {
    /// The first such message; else whoever asks hears of it when it comes.
    pub(crate) fn find_or_wait(&self, what: &Waiting, reply: &Reply) -> Option<Arc<Message>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fit = (what.stage, what.key.clone());
        let mut known = held.by_fit.get(&fit).into_iter().flatten();
        if let Some(found) = known.find(|message| message.stamp_ns >= what.since_ns) {
            return Some(Arc::clone(found));
        }
        held.waiting.entry(fit).or_default().push((what.since_ns, reply.clone()));
        None
    }

    /// It is waited for no longer. How many messages are gone that came since then, at least one of
    /// which may have been meant; 0 when all are there.
    pub(crate) fn give_up(&self, what: &Waiting, reply: &Reply) -> u64 {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fit = (what.stage, what.key.clone());
        if let Some(waiting) = held.waiting.get_mut(&fit) {
            waiting.retain(|(_, other)| !other.is_of(reply));
            if waiting.is_empty() {
                held.waiting.remove(&fit);
            }
        }
        if held.gone_until_ns >= what.since_ns { held.gone } else { 0 }
    }
}

impl Listener for Messages {
    fn event(&self, stamp_ns: u64, fits: &[Seen<'_>], message: &RawMessage<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let message = Arc::new(Message {
            stamp_ns,
            fits: fits.iter().map(|fit| (fit.stage, fit.key.into())).collect(),
            headers: message
                .headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), text(value)))
                .collect(),
            body: message.payload.into(),
        });
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.hold(&message);
    }
}

impl Held {
    fn hold(&mut self, message: &Arc<Message>) {
        for fit in &message.fits {
            self.tell(fit, message);
            self.by_fit.entry(fit.clone()).or_default().push_back(Arc::clone(message));
        }
        self.bytes += message.bytes();
        self.messages.push_back(Arc::clone(message));
        while self.bytes > BYTES_MAX {
            let Some(oldest) = self.messages.pop_front() else { return };
            self.bytes -= oldest.bytes();
            self.gone += 1;
            self.gone_until_ns = self.gone_until_ns.max(oldest.stamp_ns);
            for fit in &oldest.fits {
                self.remove(fit, &oldest);
            }
        }
    }

    fn remove(&mut self, fit: &Fit, message: &Arc<Message>) {
        let Some(queue) = self.by_fit.get_mut(fit) else { return };
        // The oldest of all is the oldest of each queue that it is in.
        queue.pop_front_if(|known| Arc::ptr_eq(known, message));
        if queue.is_empty() {
            self.by_fit.remove(fit);
        }
    }

    /// Tells those who wait for it.
    fn tell(&mut self, fit: &Fit, message: &Arc<Message>) {
        let Some(waiting) = self.waiting.get_mut(fit) else { return };
        // One that can't be told goes on waiting, and says so when its time is up.
        waiting.retain(|(since_ns, reply)| {
            let is_meant = message.stamp_ns >= *since_ns;
            !(is_meant && reply.send(Answer::Event(Arc::clone(message))))
        });
        if waiting.is_empty() {
            self.waiting.remove(fit);
        }
    }
}

impl Message {
    fn bytes(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len() + 48);
        let fits = self.fits.iter().map(|(_, key)| key.len() + 100);
        BYTES_EACH + self.body.len() + headers.sum::<usize>() + fits.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journeys::Answers;

    fn see(messages: &Messages, stamp_ns: u64, key: &str, body: &[u8]) {
        let raw = RawMessage {
            stamp_ns,
            topic: "t",
            key: None,
            headers: vec![("h", b"v")],
            payload: body,
            position: None,
        };
        let fit = Seen { kind: 0, stage: 3, key: key.as_bytes(), member: None };
        messages.event(stamp_ns, &[fit], &raw);
    }

    fn waiting(key: &str, since_ns: u64) -> Waiting {
        Waiting { stage: 3, key: key.as_bytes().into(), since_ns }
    }

    fn answers() -> Answers {
        let client = sojourn_http::Client::new(sojourn_http::ClientConfig::default()).unwrap();
        Answers::new(client.waker())
    }

    #[test]
    fn a_message_is_found_if_it_came_since_and_told_if_it_comes() {
        let (messages, answers) = (Messages::default(), answers());
        see(&messages, 10, "a", b"old");
        see(&messages, 20, "a", b"new");
        let reply = answers.reply(1, 7);
        let found = |since_ns| messages.find_or_wait(&waiting("a", since_ns), &reply);
        assert_eq!(found(5).map(|message| message.stamp_ns), Some(10));
        assert_eq!(found(15).map(|message| message.stamp_ns), Some(20));
        assert!(found(25).is_none());
        see(&messages, 30, "b", b"another's");
        see(&messages, 31, "a", b"its");
        see(&messages, 32, "a", b"after");
        let Some((1, 7, Answer::Event(told))) = answers.take() else { panic!("not told") };
        assert_eq!((&*told.body, told.stamp_ns), (&b"its"[..], 31));
        assert!(answers.take().is_none(), "one answer for one wait");
        assert_eq!(messages.give_up(&waiting("a", 25), &reply), 0);
    }

    #[test]
    fn memory_is_bounded_and_what_is_gone_is_known() {
        let (messages, answers) = (Messages::default(), answers());
        let body = vec![0; 1 << 20];
        for stamp_ns in 1..=100 {
            see(&messages, stamp_ns, &stamp_ns.to_string(), &body);
        }
        let reply = answers.reply(0, 1);
        assert!(messages.find_or_wait(&waiting("100", 1), &reply).is_some());
        assert!(messages.find_or_wait(&waiting("1", 1), &reply).is_none());
        let gone = messages.give_up(&waiting("1", 1), &reply);
        assert!((36..=40).contains(&gone), "{gone}");
        assert_eq!(messages.give_up(&waiting("1", 50), &reply), 0);
        let held = messages.0.lock().unwrap();
        assert!(held.bytes <= BYTES_MAX && held.waiting.is_empty());
        assert_eq!(held.by_fit.len(), held.messages.len());
    }
}
