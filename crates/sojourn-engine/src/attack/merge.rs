//! Results of several generators in one order of time.
//!
//! Each generator hands over chunks of records, and says with them up to when it has told of every
//! end. A record's turn has come when that is so of all generators: then nothing can come before
//! it. What waits for its turn is bounded: beyond the bound the earliest records go without waiting
//! for whoever is silent.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
};

use serde::{Deserialize, Serialize};
use slab::Slab;

/// Most bytes of records that wait for their turn.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// Records of one generator on their way.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chunk {
    pub(crate) generator: u32,
    /// The records, encoded, one after the other.
    pub(crate) bytes: Vec<u8>,
    /// Where each of them is; of a generator that is the only one none is said.
    pub(crate) records: Vec<Record>,
    /// Later records of this generator are of hits that ended no sooner; `u64::MAX`: there are
    /// none.
    pub(crate) until_ns: u64,
}

/// Where a record is in its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// When its hit ended.
    pub(crate) ended_ns: u64,
    /// Its bytes.
    pub(crate) length: usize,
}

/// Chunks of all generators, record by record.
#[derive(Debug)]
pub(super) struct Merge {
    /// Of each generator, up to when it has told.
    until_ns: Vec<u64>,
    /// The same in order, with the generator's number.
    silent: BTreeSet<(u64, u32)>,
    chunks: Slab<Waiting>,
    /// Every record that waits: when its hit ended, its chunk's place, where it is in there.
    due: BinaryHeap<Reverse<(u64, usize, usize, usize)>>,
    waiting_bytes: usize,
    waiting_bytes_max: usize,
    /// Some did not wait for their turn.
    is_out_of_order: bool,
}

#[derive(Debug)]
struct Waiting {
    chunk: Chunk,
    /// Records that have not gone.
    left: usize,
}

impl Chunk {
    /// Empties it, so that it can be filled again.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
    }
}

impl Merge {
    /// Of so many generators, none of which has told anything.
    pub(super) fn of(generators: u32) -> Self {
        Self::bounded(generators, WAITING_BYTES_MAX)
    }

    fn bounded(generators: u32, waiting_bytes_max: usize) -> Self {
        Self {
            until_ns: vec![0; generators as usize],
            silent: (0..generators).map(|generator| (0, generator)).collect(),
            chunks: Slab::new(),
            due: BinaryHeap::new(),
            waiting_bytes: 0,
            waiting_bytes_max,
            is_out_of_order: false,
        }
    }

    /// Takes a chunk; one without records is handed back at once, to be filled again.
    pub(super) fn add(&mut self, chunk: Chunk) -> Option<Chunk> {
        let generator = chunk.generator;
        if let Some(until_ns) = self.until_ns.get_mut(generator as usize)
            && *until_ns < chunk.until_ns
        {
            self.silent.remove(&(*until_ns, generator));
            self.silent.insert((chunk.until_ns, generator));
            *until_ns = chunk.until_ns;
        }
        if chunk.records.is_empty() {
            return Some(chunk);
        }
        self.waiting_bytes += chunk.bytes.len();
        let left = chunk.records.len();
        let place = self.chunks.insert(Waiting { chunk, left });
        let mut at = 0;
        for record in &self.chunks[place].chunk.records {
            self.due.push(Reverse((record.ended_ns, place, at, record.length)));
            at = at.saturating_add(record.length);
        }
        None
    }

    /// Appends what has its turn to `out`; chunks that have gone are handed to `emptied`.
    pub(super) fn take(&mut self, out: &mut Vec<u8>, emptied: impl FnMut(Chunk)) {
        // Without generators nothing is waited for.
        let until_ns = self.silent.first().map_or(u64::MAX, |(until_ns, _)| *until_ns);
        self.take_until(until_ns, out, emptied);
    }

    /// The same of everything that is left.
    pub(super) fn take_all(&mut self, out: &mut Vec<u8>) {
        self.take_until(u64::MAX, out, drop);
    }

    /// Whether some records did not wait for their turn.
    pub(super) fn is_out_of_order(&self) -> bool {
        self.is_out_of_order
    }

    fn take_until(&mut self, until_ns: u64, out: &mut Vec<u8>, mut emptied: impl FnMut(Chunk)) {
        while let Some(&Reverse((ended_ns, place, at, length))) = self.due.peek() {
            if ended_ns > until_ns {
                if self.waiting_bytes <= self.waiting_bytes_max {
                    return;
                }
                self.is_out_of_order = true;
            }
            self.due.pop();
            let waiting = &mut self.chunks[place];
            // A chunk from elsewhere may say what it has not: such records are nothing.
            let record = waiting.chunk.bytes.get(at..at.saturating_add(length));
            out.extend_from_slice(record.unwrap_or_default());
            waiting.left -= 1;
            if waiting.left == 0 {
                let mut chunk = self.chunks.remove(place).chunk;
                self.waiting_bytes -= chunk.bytes.len();
                chunk.clear();
                emptied(chunk);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A chunk of records that are their own instants.
    fn chunk(generator: u32, ended_ns: &[u64], until_ns: u64) -> Chunk {
        let bytes = ended_ns.iter().flat_map(|at| at.to_be_bytes()).collect();
        let record = |&ended_ns: &u64| Record { ended_ns, length: 8 };
        Chunk { generator, bytes, records: ended_ns.iter().map(record).collect(), until_ns }
    }

    fn read(out: &[u8]) -> Vec<u64> {
        out.chunks(8).map(|bytes| u64::from_be_bytes(bytes.try_into().unwrap())).collect()
    }

    fn taken(merge: &mut Merge) -> Vec<u64> {
        let mut out = Vec::new();
        merge.take(&mut out, drop);
        read(&out)
    }

    #[test]
    fn a_record_waits_until_nobody_can_be_before_it() {
        let mut merge = Merge::of(2);
        assert_eq!(merge.add(chunk(0, &[1, 5, 9], 10)), None);
        assert_eq!(taken(&mut merge), [0; 0]);
        merge.add(chunk(1, &[4], 5));
        assert_eq!(taken(&mut merge), [1, 4, 5]);
        // One that has nothing says how far it has seen, and one that has ended is not waited for.
        assert!(merge.add(chunk(1, &[], 8)).is_some());
        assert_eq!(taken(&mut merge), [0; 0]);
        merge.add(chunk(1, &[], u64::MAX));
        assert_eq!(taken(&mut merge), [9]);
        merge.add(chunk(0, &[12, 11], 10));
        let mut out = Vec::new();
        merge.take_all(&mut out);
        assert_eq!(read(&out), [11, 12]);
        assert!(!merge.is_out_of_order());
    }

    #[test]
    fn what_waits_is_bounded_and_nothing_is_lost() {
        let mut merge = Merge::bounded(2, 20);
        let mut seen = Vec::new();
        for at in 0..10 {
            merge.add(chunk(0, &[at], at));
            seen.extend(taken(&mut merge));
            assert!(merge.waiting_bytes <= 20);
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(merge.is_out_of_order());
        merge.add(chunk(1, &[3], u64::MAX));
        merge.add(chunk(0, &[], u64::MAX));
        assert_eq!(taken(&mut merge), [3, 8, 9]);
        assert_eq!((merge.waiting_bytes, merge.chunks.len()), (0, 0));
    }

    #[test]
    fn a_chunk_that_says_what_it_has_not_is_nothing() {
        let mut merge = Merge::of(1);
        let records = vec![Record { ended_ns: 1, length: usize::MAX }];
        merge.add(Chunk { generator: 7, records, until_ns: 3, ..Chunk::default() });
        let mut out = Vec::new();
        merge.take_all(&mut out);
        assert!(out.is_empty());
    }

    proptest! {
        /// Whatever the rhythm of each generator, all come out, in order.
        #[test]
        fn all_come_out_in_order(
            each in prop::collection::vec(prop::collection::vec(0u64..1_000, 0..40), 1..5),
            cut in 1usize..9,
        ) {
            let mut all: Vec<u64> = each.iter().flatten().copied().collect();
            all.sort_unstable();
            let mut merge = Merge::of(each.len() as u32);
            let mut seen = Vec::new();
            for (generator, ends) in (0..).zip(&each) {
                let mut ends = ends.clone();
                ends.sort_unstable();
                for part in ends.chunks(cut) {
                    merge.add(chunk(generator, part, part[part.len() - 1]));
                    seen.extend(taken(&mut merge));
                }
                merge.add(chunk(generator, &[], u64::MAX));
            }
            seen.extend(taken(&mut merge));
            prop_assert_eq!(seen, all);
            prop_assert_eq!(merge.waiting_bytes, 0);
        }
    }
}
