//! Events that clients of one thread may wait for, and clients that wait for events.
//!
//! Every event that fits a stage is held until a client takes it or it has to make room for later
//! ones: a client finds what came before it asked. An event is taken by one client, once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use smallvec::SmallVec;

use super::inbox::Arrived;

/// Most bytes of events that are held; the oldest make room.
const BYTES_MAX: usize = 64 << 20;
/// What an event costs beside its own bytes, roughly.
const BYTES_EACH: usize = 300;
/// Entries beyond those in use that are put up with before they are swept out.
const SLACK: usize = 1_024;

/// What a client waits for.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Comes back when it is there, or overdue.
    pub(super) token: u64,
    pub(super) stage: u16,
    pub(super) key: Arc<[u8]>,
    /// Earlier events are not meant.
    pub(super) since_ns: u64,
    /// Nor are later ones.
    pub(super) until_ns: u64,
    /// How many; more than one are told apart by their members.
    pub(super) count: u16,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Awaiting {
    /// By stage, then by key.
    places: Vec<HashMap<Arc<[u8]>, Place>>,
    /// Of each stage's waits: until when, which one, whose.
    deadlines: Vec<BinaryHeap<Reverse<(u64, u64, u64)>>>,
    /// All that was held, oldest first; those that have been taken are swept out in time.
    order: VecDeque<(u64, u16, Arc<[u8]>)>,
    held: usize,
    bytes: usize,
    /// Number of the next event, and of the next wait.
    next: u64,
    /// Events that had to make room, and the latest one's instant.
    gone: u64,
    gone_until_ns: u64,
    waits: HashMap<u64, (u64, Wanted)>,
}

#[derive(Debug, Default)]
struct Place {
    /// Oldest first.
    events: VecDeque<Held>,
    /// Tokens of those who wait, in their order.
    waiting: SmallVec<[u64; 1]>,
}

#[derive(Debug)]
struct Held {
    number: u64,
    member: Option<u64>,
    arrived: Arc<Arrived>,
}

/// A client that has what it waited for: the last of its events.
pub(super) type Told = (u64, Arc<Arrived>);

/// A wait that came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overdue {
    pub(super) token: u64,
    pub(super) until_ns: u64,
    /// The instant that its stage's events are known up to: this is when it could be told.
    pub(super) known_ns: u64,
    /// How many events had to make room, if what was waited for may have been among them.
    pub(super) gone: u64,
}

impl Awaiting {
    /// What is wanted, if it is there; else its token is told when it is, or overdue.
    pub(super) fn expect(&mut self, wanted: Wanted) -> Option<Arc<Arrived>> {
        if let Some(found) = self.claim(&wanted) {
            return Some(found);
        }
        let place = self.places_of(wanted.stage).entry(Arc::clone(&wanted.key)).or_default();
        place.waiting.push(wanted.token);
        self.next += 1;
        let deadlines = &mut self.deadlines[usize::from(wanted.stage)];
        deadlines.push(Reverse((wanted.until_ns, self.next, wanted.token)));
        self.waits.insert(wanted.token, (self.next, wanted));
        if deadlines.len() > 2 * self.waits.len() + SLACK {
            let waits = &self.waits;
            deadlines.retain(|Reverse((_, number, token))| {
                waits.get(token).is_some_and(|(known, _)| known == number)
            });
        }
        None
    }

    /// Holds an event; whoever has all that it waited for now.
    pub(super) fn hold(&mut self, arrived: &Arc<Arrived>, told: &mut Vec<Told>) {
        for fit in &arrived.fits {
            self.next += 1;
            let number = self.next;
            let held = Held { number, member: fit.member, arrived: Arc::clone(arrived) };
            let place = self.places_of(fit.stage).entry(Arc::clone(&fit.key)).or_default();
            place.events.push_back(held);
            let waiting = place.waiting.clone();
            self.held += 1;
            self.bytes += bytes_of(arrived, &fit.key);
            self.order.push_back((number, fit.stage, Arc::clone(&fit.key)));
            for token in waiting {
                let Some((_, wanted)) = self.waits.get(&token) else { continue };
                let wanted = wanted.clone();
                if let Some(found) = self.claim(&wanted) {
                    self.forget(token);
                    told.push((token, found));
                    break;
                }
            }
        }
        self.make_room();
    }

    /// A wait whose time is over: all events of its stage until then are known. `known_ns` says of
    /// each stage up to when they are, that instant not included.
    pub(super) fn overdue(&mut self, known_ns: impl Fn(u16) -> u64) -> Option<Overdue> {
        for stage in 0..self.deadlines.len() {
            // A plan has at most a hundred stages.
            let known_ns = known_ns(stage as u16);
            while let Some(&Reverse((until_ns, number, token))) = self.deadlines[stage].peek() {
                if until_ns >= known_ns {
                    break;
                }
                self.deadlines[stage].pop();
                if self.waits.get(&token).is_some_and(|(known, _)| *known == number)
                    && let Some(wanted) = self.forget(token)
                {
                    let gone = if self.gone_until_ns >= wanted.since_ns { self.gone } else { 0 };
                    return Some(Overdue { token, until_ns, known_ns, gone });
                }
            }
        }
        None
    }

    /// When a wait is over next.
    pub(super) fn next_ns(&self) -> u64 {
        let firsts = self.deadlines.iter().filter_map(BinaryHeap::peek);
        firsts.map(|Reverse((until_ns, ..))| *until_ns).min().unwrap_or(u64::MAX)
    }

    fn places_of(&mut self, stage: u16) -> &mut HashMap<Arc<[u8]>, Place> {
        let stage = usize::from(stage);
        if self.places.len() <= stage {
            self.places.resize_with(stage + 1, HashMap::new);
            self.deadlines.resize_with(stage + 1, BinaryHeap::new);
        }
        &mut self.places[stage]
    }

    /// Takes the events that are wanted, if they are all there; the last of them.
    fn claim(&mut self, wanted: &Wanted) -> Option<Arc<Arrived>> {
        let place = self.places_of(wanted.stage).get_mut(&wanted.key)?;
        let mut taken: SmallVec<[usize; 4]> = SmallVec::new();
        let mut members: SmallVec<[Option<u64>; 4]> = SmallVec::new();
        for (at, held) in place.events.iter().enumerate() {
            let is_meant = (wanted.since_ns..=wanted.until_ns).contains(&held.arrived.stamp_ns);
            if is_meant && (wanted.count == 1 || !members.contains(&held.member)) {
                taken.push(at);
                members.push(held.member);
            }
            if taken.len() == usize::from(wanted.count) {
                break;
            }
        }
        if taken.len() < usize::from(wanted.count) {
            return None;
        }
        let mut last = None;
        let mut bytes = 0;
        for &at in taken.iter().rev() {
            if let Some(held) = place.events.remove(at) {
                bytes += bytes_of(&held.arrived, &wanted.key);
                last.get_or_insert(held.arrived);
            }
        }
        self.held -= taken.len();
        self.bytes -= bytes;
        self.tidy(wanted.stage, &wanted.key);
        last
    }

    /// Nobody waits by this token any more.
    fn forget(&mut self, token: u64) -> Option<Wanted> {
        let (_, wanted) = self.waits.remove(&token)?;
        if let Some(place) = self.places_of(wanted.stage).get_mut(&wanted.key) {
            place.waiting.retain(|known| *known != token);
        }
        self.tidy(wanted.stage, &wanted.key);
        Some(wanted)
    }

    /// Removes a place that holds nothing.
    fn tidy(&mut self, stage: u16, key: &[u8]) {
        let places = self.places_of(stage);
        if places.get(key).is_some_and(|it| it.events.is_empty() && it.waiting.is_empty()) {
            places.remove(key);
        }
    }

    fn make_room(&mut self) {
        while self.bytes > BYTES_MAX {
            let Some((number, stage, key)) = self.order.pop_front() else { return };
            let Some(place) = self.places_of(stage).get_mut(&key) else { continue };
            // The oldest of all is the oldest of its place.
            if let Some(held) = place.events.pop_front_if(|held| held.number == number) {
                self.held -= 1;
                self.bytes -= bytes_of(&held.arrived, &key);
                self.gone += 1;
                self.gone_until_ns = self.gone_until_ns.max(held.arrived.stamp_ns);
                self.tidy(stage, &key);
            }
        }
        if self.order.len() > 2 * self.held + SLACK {
            let places = &self.places;
            self.order.retain(|(number, stage, key)| {
                let place = places.get(usize::from(*stage)).and_then(|of| of.get(key));
                place.is_some_and(|place| {
                    place.events.binary_search_by_key(number, |held| held.number).is_ok()
                })
            });
        }
    }
}

/// What an event costs as one of a key.
pub(super) fn bytes_of(arrived: &Arrived, key: &[u8]) -> usize {
    let headers = arrived.headers.iter().map(|(name, value)| name.len() + value.len() + 48);
    BYTES_EACH + arrived.body.len() + key.len() + headers.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::super::inbox::StageFit;
    use super::*;

    fn arrived(stamp_ns: u64, key: &str, member: Option<u64>, body: usize) -> Arc<Arrived> {
        let fit = StageFit { stage: 2, key: key.as_bytes().into(), member };
        let fits = SmallVec::from_iter([fit]);
        Arc::new(Arrived { stamp_ns, fits, headers: Vec::new(), body: vec![0; body].into() })
    }

    fn wanted(token: u64, key: &str, since_ns: u64, count: u16) -> Wanted {
        let until_ns = since_ns + 100;
        Wanted { token, stage: 2, key: key.as_bytes().into(), since_ns, count, until_ns }
    }

    impl Awaiting {
        fn see(&mut self, stamp_ns: u64, key: &str, member: Option<u64>) -> Vec<(u64, u64)> {
            let mut told = Vec::new();
            self.hold(&arrived(stamp_ns, key, member, 0), &mut told);
            told.iter().map(|(token, arrived)| (*token, arrived.stamp_ns)).collect()
        }

        fn ask(&mut self, token: u64, key: &str, since_ns: u64, count: u16) -> Option<u64> {
            self.expect(wanted(token, key, since_ns, count)).map(|arrived| arrived.stamp_ns)
        }
    }

    #[test]
    fn events_of_before_are_found_and_each_is_taken_once() {
        let mut awaiting = Awaiting::default();
        assert!(awaiting.see(10, "a", None).is_empty());
        assert!(awaiting.see(20, "a", None).is_empty());
        assert_eq!(awaiting.ask(1, "a", 15, 1), Some(20));
        assert_eq!(awaiting.ask(1, "a", 15, 1), None, "what came before is not meant");
        assert!(awaiting.see(30, "b", None).is_empty());
        assert_eq!(awaiting.see(31, "a", None), [(1, 31)]);
        assert_eq!(awaiting.see(32, "a", None), [], "one answer for one wait");
        assert_eq!(awaiting.overdue(|_| u64::MAX), None);
        assert_eq!(awaiting.ask(2, "a", 15, 1), Some(32));
    }

    #[test]
    fn several_are_told_apart_by_their_members() {
        let mut awaiting = Awaiting::default();
        awaiting.see(1, "a", Some(7));
        assert_eq!(awaiting.ask(1, "a", 0, 3), None);
        assert_eq!(awaiting.see(2, "a", Some(7)), []);
        assert_eq!(awaiting.see(3, "a", Some(8)), []);
        assert_eq!(awaiting.see(4, "a", Some(9)), [(1, 4)]);
        // The duplicate is what is left.
        assert_eq!(awaiting.ask(2, "a", 0, 1), Some(2));
        assert_eq!((awaiting.held, awaiting.bytes), (0, 0));
        assert!(awaiting.places[2].is_empty());
    }

    #[test]
    fn waits_end_in_the_order_of_their_deadlines() {
        let mut awaiting = Awaiting::default();
        assert_eq!(awaiting.next_ns(), u64::MAX);
        awaiting.ask(1, "a", 50, 1);
        awaiting.ask(2, "b", 20, 1);
        assert_eq!((awaiting.next_ns(), awaiting.overdue(|_| 120)), (120, None));
        let overdue =
            |token, until_ns, known_ns| Some(Overdue { token, until_ns, known_ns, gone: 0 });
        assert_eq!(awaiting.overdue(|_| 121), overdue(2, 120, 121));
        assert_eq!(awaiting.see(60, "a", None), [(1, 60)]);
        assert_eq!(awaiting.ask(1, "a", 70, 1), None, "the same client waits again");
        assert_eq!(awaiting.overdue(|_| 160), None, "the earlier deadline is no longer its own");
        assert_eq!(awaiting.overdue(|_| 171), overdue(1, 170, 171));
        assert!(awaiting.waits.is_empty() && awaiting.places[2].is_empty());
    }

    /// What is on its way here when the time is over by the clock was in time all the same.
    #[test]
    fn an_event_that_was_in_time_is_no_miss_however_long_it_takes_to_come_here() {
        let mut awaiting = Awaiting::default();
        awaiting.ask(1, "a", 0, 1);
        awaiting.ask(2, "b", 0, 1);
        let known_ns = |stage: u16| if stage == 2 { 100 } else { 9_999 };
        assert_eq!(awaiting.overdue(known_ns), None);
        assert_eq!(awaiting.see(100, "a", None), [(1, 100)]);
        assert_eq!(awaiting.see(101, "b", None), [], "too late");
        assert_eq!(awaiting.overdue(|_| 101).map(|it| it.token), Some(2));
        assert_eq!(awaiting.ask(3, "b", 1, 1), Some(101));
    }

    #[test]
    fn memory_is_bounded_and_what_is_gone_is_told() {
        let mut awaiting = Awaiting::default();
        let mut told = Vec::new();
        for stamp_ns in 1..=100 {
            awaiting.hold(&arrived(stamp_ns, &stamp_ns.to_string(), None, 1 << 20), &mut told);
        }
        assert!(awaiting.bytes <= BYTES_MAX && told.is_empty());
        assert_eq!(awaiting.ask(1, "100", 1, 1), Some(100));
        assert_eq!(awaiting.ask(2, "1", 1, 1), None);
        let gone = awaiting.overdue(|_| u64::MAX).map(|overdue| overdue.gone);
        assert!((36..=40).contains(&gone.unwrap_or(0)), "{gone:?}");
        // What is taken and what is waited for leaves nothing behind that grows.
        for number in 0..100_000_u64 {
            let key = format!("k{number}");
            awaiting.ask(7, &key, 950 + number, 1);
            awaiting.hold(&arrived(1_000 + number, &key, None, 0), &mut told);
        }
        assert_eq!(told.len(), 100_000);
        assert!(awaiting.order.len() <= 2 * awaiting.held + SLACK, "{}", awaiting.order.len());
        assert!(awaiting.deadlines[2].len() <= SLACK + 2, "{}", awaiting.deadlines[2].len());
    }
}
