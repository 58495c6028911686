//! Bucket counts in pages that are allocated on first use.

use super::layout::{PAGE, PAGES, bounds};

/// Counts of all buckets; `C` is their width.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages<C> {
    // Empty until the first sample: a series that is never written to costs three words.
    pages: Vec<Option<Box<[C; PAGE]>>>,
}

impl<C: Copy + Default + PartialEq> Pages<C> {
    /// The counts of a page, if it was ever used.
    #[inline]
    pub(super) fn page_mut(&mut self, page: usize) -> Option<&mut [C; PAGE]> {
        self.pages.get_mut(page)?.as_deref_mut()
    }

    /// The counts of a page, made if need be. `page` is below [`PAGES`].
    #[cold]
    pub(super) fn make(&mut self, page: usize) -> &mut [C; PAGE] {
        if self.pages.is_empty() {
            self.pages.resize(PAGES, None);
        }
        self.pages[page].get_or_insert_with(|| Box::new([C::default(); PAGE]))
    }

    /// Pages in use, ascending, with their numbers.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &[C; PAGE])> {
        self.pages.iter().enumerate().filter_map(|(number, page)| Some((number, page.as_deref()?)))
    }

    /// Non-empty buckets, ascending: (page, slot, count).
    pub(super) fn filled(&self) -> impl Iterator<Item = (usize, usize, C)> + '_ {
        self.iter().flat_map(|(number, page)| {
            page.iter()
                .enumerate()
                .filter(|&(_, &count)| count != C::default())
                .map(move |(slot, &count)| (number, slot, count))
        })
    }

    /// Sets the pages from `first` to `last` to zero and keeps them.
    pub(super) fn clear(&mut self, first: usize, last: usize) {
        let used = self.pages[first..].iter_mut().take(last + 1 - first);
        for page in used.flatten() {
            page.fill(C::default());
        }
    }
}

impl Pages<u64> {
    /// The greatest value of the bucket in which the sample of this rank (1-based) lies.
    pub(super) fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let mut passed = 0u64;
        for (number, page) in self.iter() {
            let within = page.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
            let after = passed.saturating_add(within);
            if after < rank {
                passed = after;
                continue;
            }
            for (slot, &count) in page.iter().enumerate() {
                passed = passed.saturating_add(count);
                if passed >= rank {
                    return Some(bounds(number, slot).1);
                }
            }
        }
        None
    }
}
