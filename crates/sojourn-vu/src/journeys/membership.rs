//! A user's membership of a consumer group: a thread that owns the connector's consumer and does
//! what its user asks, one thing after the other.
//!
//! Between two questions it keeps the membership alive. It leaves its group when the user lets go
//! of it, and when the test has ended.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use sojourn_broker::{BrokerError, Consumer, RawMessage, Sink};
use sojourn_clock::{MILLISECOND_NS, now_ns};

use super::consumers::in_words;
use super::{Answer, Reply};

/// Most members of a process: each is a thread and a connection.
const MEMBERS_MAX: usize = 1_000;
/// Orders that may wait for the thread: a user has one at a time.
const ORDERS_MAX: usize = 4;
/// Between two looks after the membership while nobody asks for anything.
const IDLE: Duration = Duration::from_millis(50);
/// Longest wait in one go, so that a member that nobody wants any more leaves soon.
const SLICE_NS: u64 = 200 * MILLISECOND_NS;
/// Messages that are asked for at once, so that bytes can be counted in between.
const PORTION: usize = 100;
/// Most bytes that are handed over together.
const BYTES_MAX: usize = 64 << 20;
/// How long members have to leave when the test has ended.
const LEAVE: Duration = Duration::from_secs(3);

/// A message that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// When it was received, CLOCK_MONOTONIC ns.
    pub(crate) stamp_ns: u64,
    pub(crate) topic: String,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Arc<[u8]>,
}

/// What a member is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    /// Up to so many messages, of which the first is waited for so long.
    Take { messages_max: usize, timeout_ns: u64 },
    /// To commit everything that was handed over.
    Commit,
    /// How many partitions it has.
    Assigned,
    /// To leave, and to say when that is done.
    Leave,
}

/// What comes of it.
#[derive(Clone, Debug)]
pub(crate) enum Came {
    Taken(Vec<Taken>),
    Number(usize),
    Done,
}

/// The way to a member's thread. Dropped, the member leaves its group.
pub(crate) struct Member {
    orders: Sender<(Asked, Reply)>,
    is_unwanted: Arc<AtomicBool>,
}

impl Member {
    /// Asks for something. Errs in words.
    pub(crate) fn ask(&self, asked: Asked, reply: Reply) -> Result<(), String> {
        let sent = self.orders.try_send((asked, reply));
        sent.map_err(|_| "its member has ended, or does something else yet".to_owned())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.is_unwanted.store(true, Ordering::Release);
    }
}

/// The groups that a user is a member of, by their consumers' numbers.
#[derive(Default)]
pub(crate) struct Memberships(RefCell<HashMap<usize, Rc<Member>>>);

impl Memberships {
    pub(crate) fn of(&self, consumer: usize) -> Option<Rc<Member>> {
        self.0.borrow().get(&consumer).map(Rc::clone)
    }

    pub(crate) fn add(&self, consumer: usize, member: Member) -> Rc<Member> {
        let member = Rc::new(member);
        self.0.borrow_mut().insert(consumer, Rc::clone(&member));
        member
    }

    /// Lets go of one, which leaves its group.
    pub(crate) fn end(&self, consumer: usize) {
        self.0.borrow_mut().remove(&consumer);
    }

    pub(crate) fn end_all(&self) {
        self.0.borrow_mut().clear();
    }
}

/// All members of this process.
#[derive(Clone, Default)]
pub(crate) struct Members(Arc<All>);

#[derive(Default)]
struct All {
    /// How many threads there are.
    count: Mutex<usize>,
    /// One of them has ended.
    left: Condvar,
    is_over: AtomicBool,
}

impl Members {
    /// Starts a member's thread; the group is joined when it is first asked for messages. Errs in
    /// words.
    pub(crate) fn add(&self, consumer: Box<dyn Consumer>) -> Result<Member, String> {
        let place = self.place()?;
        let (orders, ordered) = bounded(ORDERS_MAX);
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let works = Works { consumer, is_unwanted: Arc::clone(&is_unwanted), place };
        std::thread::Builder::new()
            .name("consumer".to_owned())
            .spawn(move || works.run(&ordered))
            .map_err(|error| format!("no thread for a member: {error}"))?;
        Ok(Member { orders, is_unwanted })
    }

    fn place(&self) -> Result<Place, String> {
        if self.0.is_over.load(Ordering::Acquire) {
            return Err("the test has ended".to_owned());
        }
        let mut count = lock(&self.0.count);
        if *count >= MEMBERS_MAX {
            return Err(format!(
                "{MEMBERS_MAX} users are members of groups already, which is the most there may \
                 be: let fewer users consume"
            ));
        }
        *count += 1;
        Ok(Place(Arc::clone(&self.0)))
    }

    /// The test has ended: all leave their groups, for which they have a moment, so that what they
    /// did not commit is there for others at once.
    pub(crate) fn leave(&self) {
        self.0.is_over.store(true, Ordering::Release);
        let count = lock(&self.0.count);
        // Who is not ready by then is missed by its broker later.
        let _in_time = self.0.left.wait_timeout_while(count, LEAVE, |count| *count > 0);
    }
}

/// A thread's place among the members.
struct Place(Arc<All>);

impl Drop for Place {
    fn drop(&mut self) {
        *lock(&self.0.count) -= 1;
        self.0.left.notify_all();
    }
}

/// What a thread owns.
struct Works {
    consumer: Box<dyn Consumer>,
    is_unwanted: Arc<AtomicBool>,
    /// Given back last.
    place: Place,
}

impl Works {
    fn run(mut self, orders: &Receiver<(Asked, Reply)>) {
        let mut leaving = None;
        while !self.is_over() {
            let (asked, reply) = match orders.recv_timeout(IDLE) {
                Ok(order) => order,
                Err(RecvTimeoutError::Timeout) => {
                    self.consumer.idle();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let came = match asked {
                Asked::Take { messages_max, timeout_ns } => self.take(messages_max, timeout_ns),
                Asked::Commit => self.consumer.commit().map(|()| Came::Done),
                Asked::Assigned => Ok(Came::Number(self.consumer.assigned())),
                Asked::Leave => {
                    leaving = Some(reply);
                    break;
                }
            };
            reply.send(Answer::Member(came.map_err(|error| in_words(&error))));
        }
        self.consumer.leave();
        if let Some(reply) = leaving {
            reply.send(Answer::Member(Ok(Came::Done)));
        }
    }

    /// Nobody wants anything of it any more.
    fn is_over(&self) -> bool {
        self.is_unwanted.load(Ordering::Acquire) || self.place.0.is_over.load(Ordering::Acquire)
    }

    fn take(&mut self, messages_max: usize, timeout_ns: u64) -> Result<Came, BrokerError> {
        let until_ns = now_ns().saturating_add(timeout_ns);
        let mut kept = Keep::default();
        while kept.messages.len() < messages_max && kept.bytes < BYTES_MAX && !self.is_over() {
            let left_ns = until_ns.saturating_sub(now_ns());
            let wait_ns = if kept.messages.is_empty() { left_ns.min(SLICE_NS) } else { 0 };
            let wanted = PORTION.min(messages_max - kept.messages.len());
            let taken = self.consumer.consume(wanted, Duration::from_nanos(wait_ns), &mut kept);
            match taken {
                // What was taken before is the script's; what is wrong is said the next time.
                Err(_) if !kept.messages.is_empty() => break,
                Err(error) => return Err(error),
                Ok(0) if left_ns == 0 || !kept.messages.is_empty() => break,
                Ok(_) => {}
            }
        }
        Ok(Came::Taken(kept.messages))
    }
}

/// Keeps messages.
#[derive(Default)]
struct Keep {
    messages: Vec<Taken>,
    bytes: usize,
}

impl Sink for Keep {
    fn message(&mut self, message: &RawMessage<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = message.headers.iter();
        self.bytes += message.payload.len() + message.key.map_or(0, <[u8]>::len);
        self.messages.push(Taken {
            stamp_ns: message.stamp_ns,
            topic: message.topic.to_owned(),
            key: message.key.map(<[u8]>::to_vec),
            headers: headers.map(|(name, value)| ((*name).to_owned(), text(value))).collect(),
            body: message.payload.into(),
        });
    }
}

/// A panic of another thread leaves nothing half done here.
fn lock(count: &Mutex<usize>) -> MutexGuard<'_, usize> {
    count.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journeys::Answers;

    /// Has so many messages, and notes what is asked of it.
    struct Fake {
        left: usize,
        asked: Arc<Mutex<Vec<String>>>,
    }

    impl Consumer for Fake {
        fn consume(
            &mut self,
            messages_max: usize,
            timeout: Duration,
            sink: &mut dyn Sink,
        ) -> Result<usize, BrokerError> {
            let count = messages_max.min(self.left);
            self.left -= count;
            for _ in 0..count {
                sink.message(&RawMessage {
                    stamp_ns: 1,
                    topic: "t",
                    key: None,
                    headers: Vec::new(),
                    payload: b"x",
                    position: None,
                });
            }
            if count == 0 {
                std::thread::sleep(timeout);
            }
            Ok(count)
        }

        fn commit(&mut self) -> Result<(), BrokerError> {
            Err(BrokerError::new("fake at nowhere: no").with_hint("try again"))
        }

        fn assigned(&self) -> usize {
            1
        }

        fn leave(&mut self) {
            self.asked.lock().unwrap().push("leave".to_owned());
        }
    }

    fn answer(answers: &Answers) -> Result<Came, String> {
        loop {
            match answers.take() {
                Some((_, _, Answer::Member(came))) => return came,
                Some(other) => panic!("{other:?}"),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    #[test]
    fn a_member_takes_what_there_is_and_leaves_when_nobody_wants_it() {
        let client = sojourn_http::Client::new(sojourn_http::ClientConfig::default()).unwrap();
        let answers = Answers::new(client.waker());
        let (members, asked) = (Members::default(), Arc::default());
        let consumer = Box::new(Fake { left: 250, asked: Arc::clone(&asked) });
        let member = members.add(consumer).unwrap();
        let take = |messages_max, seconds: u64| {
            let timeout_ns = seconds * sojourn_clock::SECOND_NS;
            member.ask(Asked::Take { messages_max, timeout_ns }, answers.reply(0, 1)).unwrap();
        };
        let mut counts = Vec::new();
        for messages_max in [7, 10_000, 5] {
            take(messages_max, 0);
            let Ok(Came::Taken(taken)) = answer(&answers) else { panic!("no messages") };
            counts.push(taken.len());
        }
        assert_eq!(counts, [7, 243, 0]);
        member.ask(Asked::Commit, answers.reply(0, 1)).unwrap();
        assert_eq!(answer(&answers).unwrap_err(), "fake at nowhere: no (try again)");
        // It waits for messages, and is not waited for.
        take(1, 3_600);
        drop(member);
        let began_ns = now_ns();
        members.leave();
        assert!(now_ns() - began_ns < sojourn_clock::SECOND_NS);
        assert_eq!(*asked.lock().unwrap(), ["leave"]);
        let late = members.add(Box::new(Fake { left: 0, asked }));
        assert!(late.err().unwrap().contains("has ended"));
    }
}
