//! A tap at work on a thread of its own, as in a run, and the book of what it said.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sojourn_broker::{BrokerError, Gap, Position, RawMessage, Recovery, Sink, Tap};
use sojourn_clock::now_ns;

use crate::patience::wait_until;
use crate::{Rig, Seen};

const POLL: Duration = Duration::from_millis(10);

/// Polls an open tap until it is stopped or lost, and checks after each poll what holds for any
/// tap: stamps and watermark do not go back, and no message is older than the watermark was.
pub struct Listener {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Box<dyn Tap>>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// The sink takes nothing while this is set.
    held: AtomicBool,
    /// The sink sleeps so long for each message, microseconds.
    slow_us: AtomicU64,
    /// Of messages only the numbers are kept.
    counting: AtomicBool,
    book: Mutex<Book>,
}

/// What a tap has said so far.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// Messages, without those whose position had been read before, as the router drops them.
    pub messages: Vec<Seen>,
    /// How many came.
    pub count: u64,
    /// Messages dropped for their position.
    pub rereads: u64,
    /// Stretches without a connection.
    pub gaps: Vec<Gap>,
    /// Every watermark it had.
    pub watermarks: Vec<u64>,
    /// Polls that returned.
    pub polls: u64,
    /// Why it was lost, and when.
    pub lost: Option<(BrokerError, u64)>,
    /// The most that the tap was behind, by what it says or by its watermark, nanoseconds.
    pub behind_ns_max: u64,
    /// Messages refused at a bound.
    pub refused: u64,
    /// What a tap must not do.
    pub violations: Vec<String>,
    offsets: HashMap<u64, u64>,
    stamp_ns: u64,
}

impl Listener {
    /// Opens a tap of the rig's channel and listens.
    #[track_caller]
    pub fn open(rig: &dyn Rig, through: Option<std::net::SocketAddr>) -> Self {
        let mut tap = rig.connector().tap(&rig.channel(through)).unwrap();
        let info = tap.open().unwrap();
        assert!(!info.listens_to.is_empty(), "a tap says what it listens to");
        Self::of(tap)
    }

    /// Listens by a tap that is open.
    pub fn of(tap: Box<dyn Tap>) -> Self {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || listen(tap, &own));
        Self { shared, thread: Some(thread) }
    }

    /// What the tap has said so far.
    pub fn book(&self) -> MutexGuard<'_, Book> {
        self.shared.book()
    }

    /// Waits until so many messages have come.
    #[track_caller]
    pub fn wait_for_messages(&self, count: u64) {
        wait_until(&format!("{count} messages"), || {
            let book = self.book();
            assert_eq!(book.lost, None, "lost after {} of {count} messages", book.count);
            book.count >= count
        });
    }

    /// Waits until the tap has told of this many gaps, and returns them.
    #[track_caller]
    pub fn wait_for_gaps(&self, count: usize) -> Vec<Gap> {
        wait_until("a gap is told of", || {
            let book = self.book();
            assert_eq!(book.lost, None, "lost instead of connected again");
            book.gaps.len() >= count
        });
        self.book().gaps.clone()
    }

    /// Waits until the watermark has passed this instant.
    #[track_caller]
    pub fn wait_for_watermark(&self, instant_ns: u64) {
        wait_until("the watermark moves on", || {
            let book = self.book();
            assert_eq!(book.lost, None);
            book.watermarks.last().is_some_and(|watermark| *watermark > instant_ns)
        });
    }

    /// Waits until the tap is lost, and says why and when.
    #[track_caller]
    pub fn wait_for_loss(&self) -> (BrokerError, u64) {
        crate::patience::wait_for("the tap gives up", || self.book().lost.clone())
    }

    /// Holds the tap's thread inside its sink from the next message on, or lets it go on.
    pub fn hold(&self, held: bool) {
        self.shared.held.store(held, Ordering::Relaxed);
    }

    /// Makes the sink sleep for each message.
    pub fn slow(&self, each: Duration) {
        let us = u64::try_from(each.as_micros()).unwrap_or(u64::MAX);
        self.shared.slow_us.store(us, Ordering::Relaxed);
    }

    /// Of messages that come from now on only the numbers are kept.
    pub fn count_only(&self) {
        self.shared.counting.store(true, Ordering::Relaxed);
    }

    /// Whether messages before the gap's end may be missing, by the gaps told of.
    pub fn missed(&self) -> bool {
        self.book().gaps.iter().any(|gap| gap.recovery == Recovery::Missed)
    }

    /// Stops listening; the tap, for whoever wants it. Panics if it did what a tap must not.
    #[track_caller]
    pub fn stop(mut self) -> (Box<dyn Tap>, Book) {
        let tap = self.end().unwrap();
        let book = self.book().clone();
        assert!(book.violations.is_empty(), "{:?}", book.violations);
        (tap, book)
    }

    fn end(&mut self) -> Option<Box<dyn Tap>> {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.held.store(false, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        drop(self.end());
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("book", &*self.book()).finish_non_exhaustive()
    }
}

impl Shared {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn listen(mut tap: Box<dyn Tap>, shared: &Shared) -> Box<dyn Tap> {
    while !shared.stop.load(Ordering::Relaxed) {
        let watermark_ns = tap.watermark_ns();
        let polled = tap.poll(POLL, &mut Taker { shared, watermark_ns });
        let gaps = tap.take_gaps();
        let mut book = shared.book();
        book.polls += 1;
        book.gaps.extend(gaps);
        book.refused = tap.refused();
        let next_ns = tap.watermark_ns();
        let behind_ns = tap.behind_ns().unwrap_or(0).max(now_ns().saturating_sub(next_ns));
        book.behind_ns_max = book.behind_ns_max.max(behind_ns);
        if next_ns < watermark_ns {
            book.violations.push(format!("the watermark went back {watermark_ns} {next_ns}"));
        }
        if book.watermarks.last() != Some(&next_ns) {
            book.watermarks.push(next_ns);
        }
        if let Err(error) = polled {
            book.lost = Some((error, now_ns()));
            break;
        }
    }
    tap
}

/// The sink: keeps the book.
struct Taker<'a> {
    shared: &'a Shared,
    watermark_ns: u64,
}

impl Sink for Taker<'_> {
    fn message(&mut self, message: &RawMessage<'_>) {
        while self.shared.held.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let slow_us = self.shared.slow_us.load(Ordering::Relaxed);
        if slow_us > 0 {
            std::thread::sleep(Duration::from_micros(slow_us));
        }
        let mut book = self.shared.book();
        book.check_stamp(message.stamp_ns, self.watermark_ns);
        if message.position.is_some_and(|position| book.is_reread(position)) {
            book.rereads += 1;
            return;
        }
        book.count += 1;
        let mut seen = Seen::of(message);
        if let Some(number) = seen.number()
            && self.shared.counting.load(Ordering::Relaxed)
        {
            seen.payload = format!("{{\"n\":{number}}}").into_bytes();
            (seen.headers, seen.key) = (Vec::new(), None);
        }
        book.messages.push(seen);
    }
}

impl Book {
    /// What comes again at a position is a re-read.
    fn is_reread(&mut self, position: Position) -> bool {
        match self.offsets.insert(position.partition, position.offset) {
            Some(last) if position.offset <= last => {
                self.offsets.insert(position.partition, last);
                true
            }
            _ => false,
        }
    }

    fn check_stamp(&mut self, stamp_ns: u64, watermark_ns: u64) {
        if stamp_ns < self.stamp_ns {
            self.violations.push("a message's stamp is older than the one before".to_owned());
        }
        if stamp_ns < watermark_ns {
            let late_ns = watermark_ns - stamp_ns;
            self.violations.push(format!("a message came {late_ns} ns behind the watermark"));
        }
        if stamp_ns > now_ns() {
            self.violations.push("a message is stamped in the future".to_owned());
        }
        self.stamp_ns = stamp_ns;
    }

    /// Numbers of the messages in the order they came.
    pub fn numbers(&self, rig: &dyn Rig) -> Vec<u64> {
        self.messages.iter().filter_map(|seen| rig.number(seen)).collect()
    }
}
