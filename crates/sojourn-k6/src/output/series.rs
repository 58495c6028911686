//! Samples added up by metric and tags, for outputs that send figures instead of samples.

use std::collections::HashMap;
use std::sync::Arc;

use crate::metrics::{MetricId, MetricKind, Sample, Sink, TagSet};

/// Most series that are kept; a sample that would begin a further one is refused, and counted.
pub const SERIES_MAX: usize = 100_000;

/// Most sets whose series is known without looking at their tags; forgotten all at once.
const KNOWN_MAX: usize = 4 * SERIES_MAX;

/// What a series' samples add up to.
pub trait Accumulator {
    /// Without samples.
    fn new(kind: MetricKind) -> Self;

    /// One more sample.
    fn add(&mut self, at_ns: u64, value: f64);
}

impl Accumulator for Sink {
    fn new(kind: MetricKind) -> Self {
        Self::new(kind, false)
    }

    fn add(&mut self, at_ns: u64, value: f64) {
        Self::add(self, at_ns, value);
    }
}

/// The samples of a metric with the same tags, whatever their metadata.
#[derive(Debug)]
pub struct Series<A> {
    /// Of which metric.
    pub metric: MetricId,
    /// Its tags; of the metadata nothing is to be made.
    pub tags: Arc<TagSet>,
    /// All samples since the test's start.
    pub total: A,
    /// Whether there are samples since [`SeriesBook::settle`].
    pub is_changed: bool,
}

/// All series of a test.
#[derive(Debug)]
pub struct SeriesBook<A> {
    all: Vec<Series<A>>,
    /// By metric and tags.
    places: HashMap<(MetricId, Box<[u8]>), usize>,
    /// By metric and set: most samples come with a set that has been seen.
    known: HashMap<(MetricId, u64), usize>,
}

impl<A> Default for SeriesBook<A> {
    fn default() -> Self {
        Self { all: Vec::new(), places: HashMap::new(), known: HashMap::new() }
    }
}

impl<A: Accumulator> SeriesBook<A> {
    /// Adds a sample; false when there are too many series for it.
    pub fn add(&mut self, sample: &Sample) -> bool {
        let Some(series) = self.series(sample) else { return false };
        series.total.add(sample.at_ns, sample.value);
        series.is_changed = true;
        true
    }

    /// The series of a sample; none when there are too many for it.
    pub(super) fn series(&mut self, sample: &Sample) -> Option<&mut Series<A>> {
        let place = self.place(sample)?;
        self.all.get_mut(place)
    }

    /// All of them, in the order in which they began.
    pub fn iter(&self) -> impl Iterator<Item = &Series<A>> {
        self.all.iter()
    }

    /// What is there now has been sent.
    pub fn settle(&mut self) {
        self.all.iter_mut().for_each(|series| series.is_changed = false);
    }

    fn place(&mut self, sample: &Sample) -> Option<usize> {
        let short = (sample.metric, sample.tags.plain_id());
        if let Some(place) = self.known.get(&short) {
            return Some(*place);
        }
        let whole = (sample.metric, sample.tags.plain_key());
        let place = match self.places.get(&whole) {
            Some(place) => *place,
            None if self.all.len() >= SERIES_MAX => return None,
            None => {
                self.all.push(Series {
                    metric: sample.metric,
                    tags: Arc::clone(&sample.tags),
                    total: A::new(sample.metric.kind()),
                    is_changed: false,
                });
                self.places.insert(whole, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(short, place);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Registry, TagSets, builtin};

    #[test]
    fn sets_of_several_threads_with_the_same_tags_are_one_series() {
        let registry = Registry::new();
        let mut book = SeriesBook::<Sink>::default();
        for thread in ["0", "1", "2"] {
            let mut sets = TagSets::new(registry.matcher());
            let empty = Arc::clone(sets.empty());
            for (scenario, value) in [("a", 1.0), ("b", 10.0)] {
                let tags = sets.with(&empty, &[("scenario", scenario)]);
                let tags = sets.with_metadata(&tags, &[("vu", thread)]);
                for metric in [builtin::ITERATIONS, builtin::VUS] {
                    let tags = Arc::clone(&tags);
                    assert!(book.add(&Sample { metric, tags, at_ns: 1, value }));
                }
            }
        }
        let sums = book.iter().filter_map(|series| match &series.total {
            Sink::Counter(counter) => Some((series.tags.get("scenario"), counter.sum)),
            _ => None,
        });
        assert!(sums.eq([(Some("a"), 3.0), (Some("b"), 30.0)]));
        assert_eq!(book.iter().count(), 4);
        assert!(book.iter().all(|series| series.is_changed));
        book.settle();
        assert!(book.iter().all(|series| !series.is_changed));
    }

    #[test]
    fn series_are_bounded() {
        let registry = Registry::new();
        let mut sets = TagSets::new(registry.matcher());
        let empty = Arc::clone(sets.empty());
        let mut book = SeriesBook::<Sink>::default();
        let mut sample = |number: usize| {
            let tags = sets.with(&empty, &[("id", number.to_string().as_str())]);
            Sample { metric: builtin::ITERATIONS, tags, at_ns: 1, value: 1.0 }
        };
        assert!((0..SERIES_MAX).all(|number| book.add(&sample(number))));
        assert!(!book.add(&sample(SERIES_MAX)));
        assert!(book.add(&sample(0)));
    }
}
