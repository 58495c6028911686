//! The timer wheel: any number of held answers, each put in, taken out or found due in constant
//! time.
//!
//! A hierarchical wheel (Varghese and Lauck, "Hashed and hierarchical timing wheels", 1987) of
//! eight levels with 64 slots each; a slot of the lowest level spans 65.5 µs, one of the next 64
//! times as much. An entry lies on the level of the highest bit in which its instant differs from
//! the present one, and moves down as that comes nearer. Each slot knows its earliest instant, so
//! that the caller can sleep until exactly the next one although slots are coarse.

/// Nanoseconds of a lowest slot, as a power of two.
const TICK_LOG2: u32 = 16;
/// Slots of a level, as a power of two.
const SLOTS_LOG2: u32 = 6;
const SLOTS: usize = 1 << SLOTS_LOG2;
/// Together they reach over all of `u64`.
const LEVELS: usize = 8;
const NONE: u32 = u32::MAX;

/// An entry, until it is due or cancelled: its owner forgets it then, because it is used again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TimerId(u32);

/// Instants in nanoseconds, each with a number of the caller's.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// Nothing before this instant is left, except in the slot that it lies in.
    elapsed_ns: u64,
    levels: [Level; LEVELS],
    nodes: Vec<Node>,
    /// First of the nodes that are free, chained by `next`.
    free: u32,
    count: usize,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    /// Bit s: slot s holds something.
    occupied: u64,
    slots: [Slot; SLOTS],
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    first: u32,
    /// No entry is earlier (a cancelled one may have been).
    earliest_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    due_ns: u64,
    payload: u32,
    previous: u32,
    next: u32,
    level: u8,
    slot: u8,
}

const EMPTY: Slot = Slot { first: NONE, earliest_ns: u64::MAX };

impl Wheel {
    /// An empty wheel at `now_ns`.
    pub(crate) fn new(now_ns: u64) -> Self {
        Self {
            elapsed_ns: now_ns,
            levels: [Level { occupied: 0, slots: [EMPTY; SLOTS] }; LEVELS],
            nodes: Vec::new(),
            free: NONE,
            count: 0,
        }
    }

    /// Entries.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Puts an instant in; one that has passed is due at the next [`Self::advance`].
    pub(crate) fn insert(&mut self, due_ns: u64, payload: u32) -> TimerId {
        let node = Node { due_ns, payload, previous: NONE, next: NONE, level: 0, slot: 0 };
        let id = match self.free {
            NONE => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
            id => {
                self.free = self.nodes[id as usize].next;
                self.nodes[id as usize] = node;
                id
            }
        };
        self.count += 1;
        self.link(id);
        TimerId(id)
    }

    /// Takes an entry out before it is due.
    pub(crate) fn cancel(&mut self, id: TimerId) {
        self.unlink(id.0);
        self.release(id.0);
    }

    /// The earliest instant there is. It may be one that has been cancelled, at most once.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        let level = self.levels.iter().find(|level| level.occupied != 0)?;
        Some(level.slots[level.occupied.trailing_zeros() as usize].earliest_ns)
    }

    /// Appends the payloads of all that is due at `now_ns`; those within one slot in no order.
    pub(crate) fn advance(&mut self, now_ns: u64, due: &mut Vec<u32>) {
        let now_ns = now_ns.max(self.elapsed_ns);
        while let Some(at) = self.levels.iter().position(|level| level.occupied != 0) {
            let slot = self.levels[at].occupied.trailing_zeros() as usize;
            let start_ns = self.slot_start_ns(at, slot);
            if start_ns > now_ns {
                break;
            }
            self.elapsed_ns = self.elapsed_ns.max(start_ns);
            let first = self.empty_slot(at, slot);
            let stays = self.sort_out(first, at, now_ns, due);
            if stays {
                break;
            }
        }
        self.elapsed_ns = now_ns;
    }

    /// Hands out what is due of a slot's chain and links the rest anew; true when some of the
    /// lowest level, and so of the present slot, is left.
    fn sort_out(&mut self, first: u32, level: usize, now_ns: u64, due: &mut Vec<u32>) -> bool {
        let mut next = first;
        let mut stays = false;
        while next != NONE {
            let id = next;
            let Node { due_ns, payload, next: after, .. } = self.nodes[id as usize];
            next = after;
            if due_ns <= now_ns {
                due.push(payload);
                self.release(id);
            } else {
                self.link(id);
                stays |= level == 0;
            }
        }
        stays
    }

    fn slot_start_ns(&self, level: usize, slot: usize) -> u64 {
        let shift = TICK_LOG2 + SLOTS_LOG2 * level as u32;
        let above = shift + SLOTS_LOG2;
        let prefix = if above >= u64::BITS { 0 } else { (self.elapsed_ns >> above) << above };
        prefix | ((slot as u64) << shift)
    }

    fn empty_slot(&mut self, level: usize, slot: usize) -> u32 {
        let level = &mut self.levels[level];
        level.occupied &= !(1 << slot);
        std::mem::replace(&mut level.slots[slot], EMPTY).first
    }

    fn link(&mut self, id: u32) {
        let due_ns = self.nodes[id as usize].due_ns;
        let place_ns = due_ns.max(self.elapsed_ns);
        let differs = (place_ns ^ self.elapsed_ns) >> TICK_LOG2;
        let level = (u64::BITS - 1).saturating_sub((differs | 1).leading_zeros()) / SLOTS_LOG2;
        let slot = (place_ns >> (TICK_LOG2 + SLOTS_LOG2 * level)) as usize % SLOTS;
        let there = &mut self.levels[level as usize];
        there.occupied |= 1 << slot;
        let head = &mut there.slots[slot];
        let next = std::mem::replace(&mut head.first, id);
        head.earliest_ns = head.earliest_ns.min(due_ns);
        if next != NONE {
            self.nodes[next as usize].previous = id;
        }
        let node = &mut self.nodes[id as usize];
        (node.previous, node.next) = (NONE, next);
        (node.level, node.slot) = (level as u8, slot as u8);
    }

    fn unlink(&mut self, id: u32) {
        let Node { previous, next, level, slot, .. } = self.nodes[id as usize];
        if next != NONE {
            self.nodes[next as usize].previous = previous;
        }
        if previous != NONE {
            self.nodes[previous as usize].next = next;
            return;
        }
        let there = &mut self.levels[usize::from(level)];
        there.slots[usize::from(slot)].first = next;
        if next == NONE {
            there.slots[usize::from(slot)] = EMPTY;
            there.occupied &= !(1 << slot);
        }
    }

    fn release(&mut self, id: u32) {
        self.nodes[id as usize].next = std::mem::replace(&mut self.free, id);
        self.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Act {
        Insert(u64),
        Cancel(usize),
        Advance(u64),
        /// To exactly the instant that the wheel names next.
        Jump,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        // Exponents from nanoseconds to days, so that every level is used.
        let span = (0_u32..48, 0_u64..1 << 16).prop_map(|(log2, low)| (1 << log2) + low);
        prop::collection::vec(
            prop_oneof![
                4 => span.clone().prop_map(Act::Insert),
                1 => any::<usize>().prop_map(Act::Cancel),
                2 => span.prop_map(Act::Advance),
                2 => Just(Act::Jump),
            ],
            1..300,
        )
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_sorted_map(start_ns in 0_u64..1 << 50, acts in acts()) {
            let mut wheel = Wheel::new(start_ns);
            let mut now_ns = start_ns;
            // What the oracle holds: payload by (instant, payload), and the wheel's name for it.
            let mut held: BTreeMap<(u64, u32), TimerId> = BTreeMap::new();
            for (payload, act) in (0_u32..).zip(acts) {
                match act {
                    Act::Insert(after_ns) => {
                        let due_ns = now_ns + after_ns - 1;
                        held.insert((due_ns, payload), wheel.insert(due_ns, payload));
                    }
                    Act::Cancel(which) => {
                        let keys: Vec<_> = held.keys().copied().collect();
                        if let Some(key) = keys.get(which % keys.len().max(1)) {
                            wheel.cancel(held.remove(key).unwrap());
                        }
                    }
                    Act::Advance(by_ns) => now_ns += by_ns - 1,
                    Act::Jump => now_ns = wheel.next_due_ns().unwrap_or(now_ns).max(now_ns),
                }
                let earliest_ns = held.keys().next().map(|(due_ns, _)| *due_ns);
                // Never later than the truth: that would be an answer held too long.
                let is_bound = match (wheel.next_due_ns(), earliest_ns) {
                    (Some(next_ns), Some(earliest_ns)) => next_ns <= earliest_ns,
                    (next_ns, None) => next_ns.is_none(),
                    (None, Some(_)) => false,
                };
                prop_assert!(is_bound);
                let mut due = Vec::new();
                wheel.advance(now_ns, &mut due);
                let mut expected: Vec<u32> = Vec::new();
                while let Some(entry) = held.first_entry().filter(|it| it.key().0 <= now_ns) {
                    expected.push(entry.key().1);
                    entry.remove();
                }
                due.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(due, expected);
                prop_assert_eq!(wheel.len(), held.len());
            }
        }
    }

    #[test]
    fn without_cancels_the_next_instant_is_exact() {
        let mut wheel = Wheel::new(5_000_000_123);
        for after_ns in [700_000_000, 3, 70_000, 900_000_000_000, 700_000_001] {
            wheel.insert(5_000_000_123 + after_ns, 0);
        }
        let mut due = Vec::new();
        for after_ns in [3, 70_000, 700_000_000, 700_000_001, 900_000_000_000] {
            assert_eq!(wheel.next_due_ns(), Some(5_000_000_123 + after_ns));
            wheel.advance(5_000_000_123 + after_ns, &mut due);
        }
        assert_eq!((due.len(), wheel.next_due_ns()), (5, None));
    }

    #[test]
    fn the_end_of_time_can_be_waited_for() {
        let mut wheel = Wheel::new(1);
        let never = wheel.insert(u64::MAX, 7);
        assert_eq!(wheel.next_due_ns(), Some(u64::MAX));
        wheel.cancel(never);
        assert_eq!((wheel.next_due_ns(), wheel.len()), (None, 0));
    }
}
