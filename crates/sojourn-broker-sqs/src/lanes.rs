//! Messages that wait to be sent, in the order in which they must arrive.
//!
//! A queue without groups is one lane with many batches under way. One with groups has several
//! lanes, each group in its own, with one batch under way: a group's messages keep their order.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use crate::batch::Batch;
use crate::listening::BATCH_MAX;
use crate::message::Outgoing;
use crate::sending::{LINGER_NS, Target};

/// Lanes of a queue with groups.
const FIFO_LANES: u64 = 8;
/// Batches under way in the lane of a queue without groups.
const UNDER_WAY_MAX: usize = 16;
/// Bytes of one batch.
const BATCH_BYTES_MAX: usize = 256 << 10;

/// What becomes of a message: of all its copies together.
#[derive(Debug)]
pub(crate) struct Fate {
    pub(crate) token: u64,
    /// Copies without an answer.
    pub(crate) left: usize,
    /// The first that failed.
    pub(crate) error: Option<String>,
}

/// A copy of a message on its way to one target.
pub(crate) struct Entry {
    pub(crate) message: Rc<Outgoing>,
    pub(crate) fate: Rc<RefCell<Fate>>,
    pub(crate) came_ns: u64,
}

struct Lane {
    name: String,
    number: u64,
    target: Rc<Target>,
    waiting: VecDeque<Entry>,
    under_way: usize,
    under_way_max: usize,
}

/// All lanes; as many as there are targets, and eight of each with groups.
#[derive(Default)]
pub(crate) struct Lanes(Vec<Lane>);

impl Lanes {
    pub(crate) fn add(&mut self, name: &str, target: Rc<Target>, entry: Entry) {
        let number = match (target.fifo(), &entry.message.key) {
            (true, Some(key)) => {
                let mut hasher = DefaultHasher::new();
                key.hash(&mut hasher);
                hasher.finish() % FIFO_LANES
            }
            _ => 0,
        };
        let known = self.0.iter_mut().find(|lane| lane.number == number && lane.name == name);
        match known {
            Some(lane) => lane.waiting.push_back(entry),
            None => {
                let under_way_max = if target.fifo() { 1 } else { UNDER_WAY_MAX };
                let (name, waiting) = (name.to_owned(), VecDeque::from([entry]));
                self.0.push(Lane { name, number, target, waiting, under_way: 0, under_way_max });
            }
        }
    }

    /// A batch that is full or has waited for long enough, of a lane that may send.
    pub(crate) fn next_batch(&mut self, now_ns: u64) -> Option<Batch> {
        let place = self.0.iter().position(|lane| lane.is_free() && lane.due_ns() <= now_ns)?;
        let lane = &mut self.0[place];
        lane.under_way += 1;
        let (mut entries, mut bytes) = (Vec::with_capacity(BATCH_MAX), 0);
        while let Some(next) = lane.waiting.front() {
            bytes += next.message.bytes;
            let fits = entries.is_empty() || bytes <= BATCH_BYTES_MAX;
            if !fits || entries.len() == BATCH_MAX {
                break;
            }
            entries.extend(lane.waiting.pop_front());
        }
        Some(Batch { lane: place, target: Rc::clone(&lane.target), entries })
    }

    /// When a lane that may send is due.
    pub(crate) fn due_ns(&self) -> u64 {
        let free = self.0.iter().filter(|lane| lane.is_free());
        free.map(Lane::due_ns).min().unwrap_or(u64::MAX)
    }

    pub(crate) fn settled(&mut self, batch: &Batch) {
        if let Some(lane) = self.0.get_mut(batch.lane) {
            lane.under_way -= 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|lane| lane.waiting.is_empty())
    }
}

impl Lane {
    fn is_free(&self) -> bool {
        self.under_way < self.under_way_max
    }

    fn due_ns(&self) -> u64 {
        match self.waiting.front() {
            None => u64::MAX,
            Some(_) if self.waiting.len() >= BATCH_MAX => 0,
            Some(first) => first.came_ns + LINGER_NS,
        }
    }
}
