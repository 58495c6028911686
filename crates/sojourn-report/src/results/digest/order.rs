//! The order in which a sort that is not stable leaves equal keys.
//!
//! Vegeta's digest sorts with Go's `sort.Sort`: a pattern-defeating quicksort (Peters, 2021), whose
//! moves depend on nothing but comparisons and the length. Where centroids of one mean differ in
//! weight, their order decides what is merged with what, so the same moves are made here.

/// Up to so many are sorted by insertion.
const INSERTION_MAX: usize = 12;

/// From so many on a pivot is the median of three medians, and stray elements are put in place.
const LONG_MIN: usize = 50;

/// Strays put in place before a range counts as unsorted.
const STRAYS_MAX: usize = 5;

/// Swaps that the median of medians of a descending range takes: three for each of four medians.
const DESCENDING_SWAPS: usize = 12;

/// Sorts as Go's `sort.Sort` does, equal elements included.
pub(super) fn sort<T, F: Fn(&T, &T) -> bool>(items: &mut [T], is_less: F) {
    let length = items.len();
    let mut sorter = Sorter { items, is_less };
    sorter.sort(0, length, bit_length(length));
}

/// Bits that the number takes.
fn bit_length(number: usize) -> u32 {
    usize::BITS - number.leading_zeros()
}

struct Sorter<'i, T, F> {
    items: &'i mut [T],
    is_less: F,
}

/// What the choice of a pivot says about a range.
#[derive(PartialEq, Eq)]
enum Trend {
    Ascending,
    Descending,
    Unknown,
}

impl<T, F: Fn(&T, &T) -> bool> Sorter<'_, T, F> {
    fn less(&self, left: usize, right: usize) -> bool {
        (self.is_less)(&self.items[left], &self.items[right])
    }

    /// Sorts `from..to`; after `bad_max` lopsided splits by a heap.
    fn sort(&mut self, from: usize, to: usize, bad_max: u32) {
        let (mut from, mut to, mut bad_left) = (from, to, bad_max);
        let (mut was_balanced, mut was_split_before) = (true, true);
        while to - from > INSERTION_MAX {
            if bad_left == 0 {
                return self.sort_by_heap(from, to);
            }
            if !was_balanced {
                self.scatter(from, to);
                bad_left -= 1;
            }
            let (mut pivot, mut trend) = self.pivot(from, to);
            if trend == Trend::Descending {
                self.items[from..to].reverse();
                pivot = to - 1 - (pivot - from);
                trend = Trend::Ascending;
            }
            let may_be_sorted = was_balanced && was_split_before && trend == Trend::Ascending;
            if may_be_sorted && self.place_strays(from, to) {
                return;
            }
            if from > 0 && !self.less(from - 1, pivot) {
                // The pivot is as small as what lies before: its equals are in place at once.
                from = self.split_off_equal(from, to, pivot);
                continue;
            }
            let length = to - from;
            let (middle, was_split) = self.split(from, to, pivot);
            was_split_before = was_split;
            let (left, right) = (middle - from, to - middle);
            was_balanced = left.min(right) >= length / 8;
            if left < right {
                self.sort(from, middle, bad_left);
                from = middle + 1;
            } else {
                self.sort(middle + 1, to, bad_left);
                to = middle;
            }
        }
        self.sort_by_insertion(from, to);
    }

    fn sort_by_insertion(&mut self, from: usize, to: usize) {
        for next in from + 1..to {
            self.sink(next, from);
        }
    }

    /// Moves an element down to its place, not below `floor`.
    fn sink(&mut self, at: usize, floor: usize) {
        let mut at = at;
        while at > floor && self.less(at, at - 1) {
            self.items.swap(at, at - 1);
            at -= 1;
        }
    }

    fn sort_by_heap(&mut self, from: usize, to: usize) {
        let length = to - from;
        for root in (0..=(length - 1) / 2).rev() {
            self.sift(from, root, length);
        }
        for last in (0..length).rev() {
            self.items.swap(from, from + last);
            self.sift(from, 0, last);
        }
    }

    /// Restores the heap of `length` from `from` on, below a root that may be too small.
    fn sift(&mut self, from: usize, root: usize, length: usize) {
        let mut root = root;
        loop {
            let mut child = 2 * root + 1;
            if child >= length {
                return;
            }
            if child + 1 < length && self.less(from + child, from + child + 1) {
                child += 1;
            }
            if !self.less(from + root, from + child) {
                return;
            }
            self.items.swap(from + root, from + child);
            root = child;
        }
    }

    /// Puts what is not below the pivot behind it; its place, and whether all were in place before.
    fn split(&mut self, from: usize, to: usize, pivot: usize) -> (usize, bool) {
        self.items.swap(from, pivot);
        let (mut low, mut high) = (from + 1, to - 1);
        let mut was_split = true;
        loop {
            while low <= high && self.less(low, from) {
                low += 1;
            }
            while low <= high && !self.less(high, from) {
                high -= 1;
            }
            if low > high {
                break;
            }
            was_split = false;
            self.items.swap(low, high);
            low += 1;
            high -= 1;
        }
        self.items.swap(high, from);
        (high, was_split)
    }

    /// Puts the pivot's equals, none being smaller, before the others; where those begin.
    fn split_off_equal(&mut self, from: usize, to: usize, pivot: usize) -> usize {
        self.items.swap(from, pivot);
        let (mut low, mut high) = (from + 1, to - 1);
        loop {
            while low <= high && !self.less(from, low) {
                low += 1;
            }
            while low <= high && self.less(from, high) {
                high -= 1;
            }
            if low > high {
                return low;
            }
            self.items.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Sorts a range that is sorted but for a few strays; false: it is not.
    fn place_strays(&mut self, from: usize, to: usize) -> bool {
        let mut at = from + 1;
        for _ in 0..STRAYS_MAX {
            while at < to && !self.less(at, at - 1) {
                at += 1;
            }
            if at == to {
                return true;
            }
            if to - from < LONG_MIN {
                return false;
            }
            self.items.swap(at, at - 1);
            if at - from >= 2 {
                self.sink(at - 1, 0);
            }
            for above in at + 1..to {
                if !self.less(above, above - 1) {
                    break;
                }
                self.items.swap(above, above - 1);
            }
        }
        false
    }

    /// Breaks patterns that make bad pivots: three elements in the middle change places with
    /// others.
    fn scatter(&mut self, from: usize, to: usize) {
        let length = to - from;
        let mask = (1_u64 << bit_length(length)) - 1;
        let mut random = length as u64;
        let middle = from + length / 4 * 2;
        for place in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = (random & mask) as usize;
            let other = if other >= length { other - length } else { other };
            self.items.swap(place, from + other);
        }
    }

    /// The median of three, or of three medians of neighbours.
    fn pivot(&self, from: usize, to: usize) -> (usize, Trend) {
        let length = to - from;
        let mut swaps = 0;
        let mut quarters = [1, 2, 3].map(|quarter| from + length / 4 * quarter);
        if length >= LONG_MIN {
            quarters = quarters.map(|at| self.median([at - 1, at, at + 1], &mut swaps));
        }
        let pivot = self.median(quarters, &mut swaps);
        let trend = match swaps {
            0 => Trend::Ascending,
            DESCENDING_SWAPS => Trend::Descending,
            _ => Trend::Unknown,
        };
        (pivot, trend)
    }

    fn median(&self, places: [usize; 3], swaps: &mut usize) -> usize {
        let mut places = places;
        for low in [0, 1, 0] {
            if self.less(places[low + 1], places[low]) {
                places.swap(low, low + 1);
                *swaps += 1;
            }
        }
        places[1]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::sort;

    /// Where each element of an array of this shape ends up, as a hash.
    fn order(length: i64, shape: u8, keys: i64) -> u64 {
        let mut state = (length * 31 + i64::from(shape) * 7 + keys) as u64;
        let mut items = Vec::new();
        for index in 0..length {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let random = (state >> 33) as i64;
            let key = match shape {
                0 => random % keys,
                1 => (length - index) * keys / (length + 1),
                2 if random % 20 == 0 => random / 20 % keys,
                2 => index * keys / (length + 1),
                3 => (index % 2) * keys + index / 2,
                _ => random % keys * (random / keys % 2),
            };
            items.push((key, index));
        }
        sort(&mut items, |left, right| left.0 < right.0);
        assert!(items.is_sorted_by_key(|(key, _)| *key));
        // FNV-1a, 64 bits.
        let bytes = items.iter().flat_map(|(_, index)| index.to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    #[test]
    fn equals_are_left_where_go_leaves_them() {
        // As `sort.Sort` of Go 1.26 does it.
        for (length, shape, keys, expected) in GO {
            assert_eq!(order(length, shape, keys), expected, "{length} {shape} {keys}");
        }
    }

    proptest! {
        #[test]
        fn everything_is_sorted_and_nothing_lost(
            keys in
                proptest::collection::vec(prop_oneof![0..3_u32, 0..50_u32, any::<u32>()], 0..900),
        ) {
            let mut sorted = keys.clone();
            sort(&mut sorted, |left, right| left < right);
            let mut expected = keys;
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }

    /// Length, shape, number of keys; the hash.
    const GO: [(i64, u8, i64, u64); 14] = [
        (12, 0, 3, 0x960a_0731_609e_8ce5),
        (13, 0, 3, 0x377f_f9e9_f092_8c09),
        (20, 0, 2, 0xa0f5_93af_de7f_ff05),
        (49, 0, 10, 0xb393_35b5_224c_d235),
        (50, 1, 10, 0xeb35_5088_9a0e_96c4),
        (51, 2, 10, 0x7ceb_9842_f85c_e7b6),
        (257, 0, 3, 0x2416_831f_882e_660a),
        (801, 0, 2, 0x8c52_503d_614b_4d88),
        (801, 2, 10, 0x842e_da23_486f_2ac8),
        (900, 1, 10, 0x07cc_11bb_3fcc_e599),
        (900, 3, 100, 0xfa07_8cc7_a33f_8899),
        (1_000, 4, 100, 0xb05f_7652_6319_efb1),
        (5_000, 0, 100, 0xf4ca_c66c_ed8a_6421),
        (5_000, 2, 100_000, 0x4f48_6084_0e0e_695d),
    ];
}
