//! Events that came before their journey's key: a bounded buffer in the order they were seen.

use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::event::Event;
use crate::hash::KeyHash;
use crate::slab::{Linked, Links, List, Slab};

/// Events that wait for a key.
#[derive(Debug)]
pub(crate) struct Early {
    events: Slab<Waiting>,
    /// Oldest first: all wait equally long.
    order: List,
    places: Slab<Place>,
    by_key: HashTable<Queue>,
    events_max: usize,
    /// Places taken out of queues: what must not grow with the events that stay.
    #[cfg(test)]
    looked_at: usize,
}

#[derive(Debug)]
struct Waiting {
    event: Event,
    /// One in the queue of each of its keys.
    places: SmallVec<[u32; 1]>,
    links: Links,
}

/// An event's place in the queue of one key: linked, so that one that leaves from the middle (it
/// was found by another of its keys) is not searched for.
#[derive(Debug)]
struct Place {
    event: u32,
    hash: KeyHash,
    links: Links,
}

/// Those that wait for one key, oldest first.
#[derive(Debug)]
struct Queue {
    hash: KeyHash,
    places: List,
}

impl Early {
    pub(crate) fn new(events_max: usize) -> Self {
        Self {
            events: Slab::new(),
            order: List::EMPTY,
            places: Slab::new(),
            by_key: HashTable::new(),
            events_max,
            #[cfg(test)]
            looked_at: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Lets an event wait under each of its keys; gives it back when the buffer is full.
    pub(crate) fn insert(&mut self, event: Event) -> Result<(), Event> {
        if self.events.len() >= self.events_max {
            return Err(event);
        }
        let waiting = Waiting { event, places: SmallVec::new(), links: Links::NONE };
        let slot = self.events.insert(waiting);
        self.order.push_back(&mut self.events, slot);
        let waiting = &mut self.events[slot];
        let fits = &waiting.event.fits;
        for (at, fit) in fits.iter().enumerate() {
            if fits[..at].iter().any(|earlier| earlier.hash == fit.hash) {
                continue;
            }
            let same = |queue: &Queue| queue.hash == fit.hash;
            let spread = |queue: &Queue| queue.hash.spread();
            let entry = self.by_key.entry(fit.hash.spread(), same, spread);
            let empty = || Queue { hash: fit.hash, places: List::EMPTY };
            let queue = entry.or_insert_with(empty).into_mut();
            let place = Place { event: slot, hash: fit.hash, links: Links::NONE };
            let place = self.places.insert(place);
            queue.places.push_back(&mut self.places, place);
            waiting.places.push(place);
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
        let slot = self.places[queue.places.head].event;
        self.remove(slot)
    }

    fn remove(&mut self, slot: u32) -> Option<Event> {
        self.order.unlink(&mut self.events, slot);
        let waiting = self.events.remove(slot)?;
        for place in waiting.places {
            #[cfg(test)]
            {
                self.looked_at += 1;
            }
            let hash = self.places[place].hash;
            let same = |queue: &Queue| queue.hash == hash;
            if let Ok(mut entry) = self.by_key.find_entry(hash.spread(), same) {
                let queue = &mut entry.get_mut().places;
                queue.unlink(&mut self.places, place);
                if queue.len == 0 {
                    entry.remove();
                }
            }
            self.places.remove(place);
        }
        Some(waiting.event)
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

impl Linked for Place {
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
        Event {
            stamp_ns,
            message_id: 0,
            channel: 0,
            marker: Marker::Absent,
            fits,
            more: Vec::new(),
        }
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

    #[test]
    fn taking_from_the_middle_looks_at_no_other_event() {
        const EVENTS: u64 = 100_000;
        let mut early = Early::new(EVENTS as usize);
        // Each waits under a key of its own and under one that all share, and the newest go first.
        for number in 0..EVENTS {
            let own = number.to_string();
            assert!(early.insert(event(number, &[&own, "shared"])).is_ok());
        }
        for number in (0..EVENTS).rev() {
            let taken = early.take(hash(&number.to_string()));
            assert_eq!(taken.map(|event| event.stamp_ns), Some(number));
        }
        assert_eq!((early.len(), early.places.len(), early.by_key.len()), (0, 0, 0));
        assert!(early.looked_at <= 2 * EVENTS as usize, "{} places", early.looked_at);
    }
}
