//! Events that came before their journey's key: a bounded buffer in the order they were seen.

use std::collections::VecDeque;

use hashbrown::HashTable;

use crate::event::Event;
use crate::hash::KeyHash;
use crate::slab::{Linked, Links, List, Slab};

/// Events that wait for a key.
#[derive(Debug)]
pub(crate) struct Early {
    events: Slab<Waiting>,
    /// Oldest first: all wait equally long.
    order: List,
    by_key: HashTable<Queue>,
    events_max: usize,
}

#[derive(Debug)]
struct Waiting {
    event: Event,
    links: Links,
}

/// Those that wait for one key, oldest first.
#[derive(Debug)]
struct Queue {
    hash: KeyHash,
    slots: VecDeque<u32>,
}

impl Early {
    pub(crate) fn new(events_max: usize) -> Self {
        Self { events: Slab::new(), order: List::EMPTY, by_key: HashTable::new(), events_max }
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Lets an event wait under each of its keys; gives it back when the buffer is full.
    pub(crate) fn insert(&mut self, event: Event) -> Result<(), Event> {
        if self.events.len() >= self.events_max {
            return Err(event);
        }
        let slot = self.events.insert(Waiting { event, links: Links::NONE });
        self.order.push_back(&mut self.events, slot);
        let fits = &self.events[slot].event.fits;
        for (at, fit) in fits.iter().enumerate() {
            if fits[..at].iter().any(|earlier| earlier.hash == fit.hash) {
                continue;
            }
            let same = |queue: &Queue| queue.hash == fit.hash;
            let spread = |queue: &Queue| queue.hash.spread();
            let entry = self.by_key.entry(fit.hash.spread(), same, spread);
            let empty = || Queue { hash: fit.hash, slots: VecDeque::new() };
            entry.or_insert_with(empty).into_mut().slots.push_back(slot);
        }
        Ok(())
    }

    /// When the oldest was seen.
    pub(crate) fn oldest_ns(&self) -> Option<u64> {
        (self.order.len > 0).then(|| self.events[self.order.head].event.stamp_ns)
    }

    pub(crate) fn take_oldest(&mut self) -> Option<Event> {
        (self.order.len > 0).then_some(self.order.head).and_then(|slot| self.remove(slot))
    }

    /// The oldest that waits for this key.
    pub(crate) fn take(&mut self, hash: KeyHash) -> Option<Event> {
        if self.order.len == 0 {
            return None;
        }
        let queue = self.by_key.find(hash.spread(), |queue| queue.hash == hash)?;
        let slot = *queue.slots.front()?;
        self.remove(slot)
    }

    fn remove(&mut self, slot: u32) -> Option<Event> {
        self.order.unlink(&mut self.events, slot);
        let event = self.events.remove(slot)?.event;
        for fit in &event.fits {
            let same = |queue: &Queue| queue.hash == fit.hash;
            let Ok(mut entry) = self.by_key.find_entry(fit.hash.spread(), same) else {
                continue;
            };
            let slots = &mut entry.get_mut().slots;
            // Its place is mostly the first: events leave in the order they came.
            if let Some(at) = slots.iter().position(|&waiting| waiting == slot) {
                slots.remove(at);
            }
            if slots.is_empty() {
                entry.remove();
            }
        }
        Some(event)
    }
}

impl Linked for Waiting {
    fn links(&self) -> Links {
        self.links
    }

    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Fit;
    use crate::{Key, Marker};

    fn hash(key: &str) -> KeyHash {
        KeyHash::of(&Key::new(key.as_bytes()).expect("not empty")).of_kind(0)
    }

    fn event(stamp_ns: u64, keys: &[&str]) -> Event {
        let fit =
            |key: &&str| Fit { hash: hash(key), member: 0, kind: 0, stage: 0, check_failed: false };
        let fits = keys.iter().map(fit).collect();
        Event { stamp_ns, message_id: 0, channel: 0, marker: Marker::Absent, fits }
    }

    #[test]
    fn an_event_waits_under_each_of_its_keys_once() {
        let mut early = Early::new(3);
        for (stamp_ns, keys) in [(1, &["a", "b", "a"][..]), (2, &["b"]), (3, &["a"])] {
            assert!(early.insert(event(stamp_ns, keys)).is_ok());
        }
        let refused = early.insert(event(4, &["a"]));
        assert_eq!(refused.map_err(|event| event.stamp_ns), Err(4));
        let mut take = |key| early.take(hash(key)).map(|event| event.stamp_ns);
        assert_eq!([take("b"), take("b"), take("b")], [Some(1), Some(2), None]);
        assert_eq!(early.oldest_ns(), Some(3));
        assert_eq!(early.take_oldest().map(|event| event.stamp_ns), Some(3));
        assert_eq!((early.len(), early.by_key.len(), early.oldest_ns()), (0, 0, None));
    }
}
