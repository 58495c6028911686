//! What one figure measured within one stretch of time.

/// Samples of a stretch of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Value and how many samples have it, ascending by value. Nanoseconds.
    pub bins: Vec<(u64, u64)>,
    /// Samples known only to lie beyond every value: journeys that were lost.
    pub beyond: u64,
}

/// Fewer blocks than this say nothing about a run's own scatter.
pub const BLOCKS_MIN: usize = 10;
/// More are not made: longer ones resemble each other less.
pub const BLOCKS_MAX: usize = 60;

impl Block {
    /// Samples in it.
    pub fn count(&self) -> u64 {
        self.bins.iter().map(|(_, count)| count).sum::<u64>() + self.beyond
    }
}

/// Cuts `intervals` neighbouring intervals into blocks: the index of each one's block. `None` when
/// there are too few for [`BLOCKS_MIN`].
pub fn grouping(intervals: usize) -> Option<Vec<usize>> {
    if intervals < BLOCKS_MIN {
        return None;
    }
    let blocks = intervals.min(BLOCKS_MAX);
    Some((0..intervals).map(|index| index * blocks / intervals).collect())
}
