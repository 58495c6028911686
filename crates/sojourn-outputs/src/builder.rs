//! Makes a frame of what the sources reported.

use std::{collections::HashMap, sync::Arc};

use sojourn_clock::Anchor;
use sojourn_metrics::{Figure, Histogram, SeriesKey, SeriesPhase, Store, nearest_rank};
use sojourn_record::JourneyRecord;

use crate::{
    bounds::bounds,
    frame::{EVEN_MAX, Frame, Point, QUANTILES, Series, Slice, Sum, Value},
    names::{exported, label},
    outputs::Second,
};

/// Remembers names and sums from second to second.
#[derive(Debug)]
pub(crate) struct Builder {
    anchor: Anchor,
    /// What the last second brought.
    window: Store,
    known: HashMap<SeriesKey, Known>,
    number: u64,
    /// Which journeys are wanted, and how much of them.
    journeys: Wanted,
}

/// What outputs have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wanted {
    /// None takes journeys.
    Nothing,
    /// Some do, but not their messages.
    Timelines,
    /// All of them.
    Messages,
}

#[derive(Debug)]
struct Known {
    /// One, or the two of a rate: yes and no.
    series: Vec<Arc<Series>>,
    sum: Arc<Sum>,
}

impl Builder {
    pub(crate) fn new(anchor: Anchor, journeys: Wanted) -> Self {
        Self { anchor, window: Store::new(), known: HashMap::new(), number: 0, journeys }
    }

    /// The frame of a second.
    pub(crate) fn frame(&mut self, second: &Second<'_>) -> Frame {
        self.window.reset();
        for snapshot in second.interval {
            // A snapshot that was lost makes the run void, which is said elsewhere.
            let _said_elsewhere = self.window.apply(snapshot);
        }
        let mut points = Vec::new();
        for (key, figure) in second.store.figures() {
            if !self.known.contains_key(key) {
                self.known.insert(key.clone(), Known::new(key, figure));
            }
            if let Some(known) = self.known.get_mut(key) {
                known.points(figure, self.window.figure(key), &mut points);
            }
        }
        self.number += 1;
        Frame {
            number: self.number - 1,
            is_last: second.is_last,
            unix_ns: self.anchor.unix_ns_at(second.at_ns),
            start_unix_ns: self.anchor.unix_ns_at(second.start_ns),
            points,
            journeys: match self.journeys {
                Wanted::Nothing => Arc::default(),
                Wanted::Timelines => second.journeys.iter().map(without_messages).collect(),
                Wanted::Messages => second.journeys.into(),
            },
        }
    }
}

fn without_messages(journey: &JourneyRecord) -> JourneyRecord {
    let mut own = journey.clone();
    own.messages = Vec::new();
    own
}

impl Known {
    fn new(key: &SeriesKey, figure: &Figure) -> Self {
        let exported = exported(figure.kind(), &key.metric);
        let mut labels: Vec<_> =
            key.tags.iter().map(|(name, value)| (label(name), value.clone())).collect();
        let phase = match key.phase {
            SeriesPhase::WarmUp => "warm_up",
            SeriesPhase::Steady => "steady",
            SeriesPhase::Any => "any",
        };
        labels.push(("phase".to_owned(), phase.to_owned()));
        let of = |outcome: Option<&str>| {
            let mut labels = labels.clone();
            labels.extend(outcome.map(|it| ("outcome".to_owned(), it.to_owned())));
            labels.sort();
            Arc::new(Series { exported: exported.clone(), labels })
        };
        let series = match figure {
            Figure::Rate { .. } => vec![of(Some("yes")), of(Some("no"))],
            _ => vec![of(None)],
        };
        let buckets = match figure {
            Figure::Trend(_) => vec![0; bounds(exported.unit).len() + 1],
            _ => Vec::new(),
        };
        Self { series, sum: Arc::new(Sum { buckets, ..Sum::default() }) }
    }

    fn points(&mut self, total: &Figure, second: Option<&Figure>, points: &mut Vec<Point>) {
        match total {
            Figure::Counter(total) => {
                let added = match second {
                    Some(Figure::Counter(added)) => *added,
                    _ => 0,
                };
                points.push(self.count(0, added, *total));
            }
            Figure::Rate { yes, no } => {
                let (more_yes, more_no) = match second {
                    Some(Figure::Rate { yes, no }) => (*yes, *no),
                    _ => (0, 0),
                };
                points.push(self.count(0, more_yes, *yes));
                points.push(self.count(1, more_no, *no));
            }
            Figure::Gauge(levels) => {
                let Some((last, ..)) = levels.total() else { return };
                let is_changed = second.is_some_and(|figure| !figure.is_empty());
                points.push(self.point(0, is_changed, Value::Level(last)));
            }
            Figure::Trend(histogram) => {
                let second = match second {
                    Some(Figure::Trend(second)) if second.count() > 0 => Some(second),
                    _ => None,
                };
                let slice = second.map(|second| Box::new(self.take(second, histogram)));
                let value = Value::Spread { second: slice, total: Arc::clone(&self.sum) };
                points.push(self.point(0, second.is_some(), value));
            }
        }
    }

    fn count(&self, at: usize, added: u64, total: u64) -> Point {
        self.point(at, added > 0, Value::Count { added, total })
    }

    fn point(&self, at: usize, is_changed: bool, value: Value) -> Point {
        Point { series: Arc::clone(&self.series[at]), is_changed, value }
    }

    /// Adds a second's samples, going over them once.
    fn take(&mut self, second: &Histogram, total: &Histogram) -> Slice {
        let bounds = bounds(self.series[0].exported.unit);
        let sum = Arc::make_mut(&mut self.sum);
        let totals = total.totals();
        (sum.count, sum.min, sum.max) = (totals.count, totals.min, totals.max);
        sum.sum = totals.sum as f64;
        let totals = second.totals();
        let count = totals.count;
        let mut slice = Slice {
            count,
            sum: totals.sum as f64,
            min: totals.min,
            max: totals.max,
            ..Slice::default()
        };
        let evens = count.min(EVEN_MAX);
        let mut even_ranks = (0..evens).map(|at| even_rank(at, evens, count)).peekable();
        let mut quantile = 0;
        let (mut seen, mut bucket) = (0, 0);
        for (least, greatest, samples) in second.buckets() {
            while bounds.get(bucket).is_some_and(|bound| least > *bound) {
                bucket += 1;
            }
            sum.buckets[bucket] += samples;
            seen += samples;
            let value = greatest.clamp(totals.min, totals.max);
            while QUANTILES.get(quantile).is_some_and(|(q, _)| nearest_rank(*q, count) <= seen) {
                slice.quantiles[quantile] = value;
                quantile += 1;
            }
            while even_ranks.next_if(|rank| *rank <= seen).is_some() {
                slice.even.push(value);
            }
        }
        slice
    }
}

/// The rank in the middle of part `at` of `parts` of so many samples, from 1.
fn even_rank(at: u64, parts: u64, count: u64) -> u64 {
    let middle = u128::from(2 * at + 1) * u128::from(count) / u128::from(2 * parts);
    // At most `count`, which is 64 bits.
    u64::try_from(middle).unwrap_or(count - 1) + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sojourn_metrics::{Kind, Recorder};

    use super::*;

    /// What a histogram of these bounds counts, sample by sample: exact, and 0.1 % generous.
    fn naive(samples: &[u64], generous: bool) -> Vec<u64> {
        let bounds = &crate::SECONDS_NS;
        let limit = |bound: u64| if generous { bound + bound / 1_000 } else { bound };
        let up_to = |bound: u64| samples.iter().filter(|s| **s <= limit(bound)).count() as u64;
        bounds.iter().map(|bound| up_to(*bound)).collect()
    }

    proptest! {
        #[test]
        fn a_frame_holds_what_was_recorded(
            seconds in prop::collection::vec(
                prop::collection::vec(0..3_000_000_000_000_u64, 0..200), 1..5),
        ) {
            let mut recorder = Recorder::new(1);
            let key = SeriesKey::new("stage.hop", &[("stage", "a")], SeriesPhase::Steady);
            let hop = recorder.series(Kind::Trend, key);
            let mut store = Store::new();
            let mut builder = Builder::new(Anchor::now(), Wanted::Messages);
            let mut all = Vec::new();
            for mut samples in seconds {
                samples.iter().for_each(|sample| recorder.record(hop, *sample));
                all.extend_from_slice(&samples);
                let snapshot = recorder.take(1, None);
                store.apply(&snapshot).unwrap();
                let frame = builder.frame(&Second {
                    at_ns: 2, start_ns: 1, is_last: false, interval: &[snapshot], store: &store,
                    journeys: &[], journeys_beyond: 0,
                });
                let Value::Spread { second, total } = &frame.points[0].value else { panic!() };
                prop_assert_eq!(total.count, all.len() as u64);
                prop_assert_eq!(total.buckets.iter().sum::<u64>(), all.len() as u64);
                let mut so_far = 0;
                let (least, most) = (naive(&all, false), naive(&all, true));
                for (at, count) in total.buckets.iter().take(least.len()).enumerate() {
                    so_far += count;
                    prop_assert!((least[at]..=most[at]).contains(&so_far), "bucket {}", at);
                }
                samples.sort_unstable();
                prop_assert_eq!(second.is_some(), !samples.is_empty());
                let Some(second) = second else { continue };
                let n = samples.len();
                let close = |value: u64, sample: u64| {
                    value >= sample && value - sample <= sample / 1_000 + 1
                };
                for ((q, _), value) in QUANTILES.iter().zip(&second.quantiles) {
                    let rank = (q * n as f64).ceil().max(1.0) as usize;
                    prop_assert!(close(*value, samples[rank - 1]), "{}", q);
                }
                prop_assert_eq!(second.even.len(), n.min(50));
                if n <= 50 {
                    for (value, sample) in second.even.iter().zip(&samples) {
                        prop_assert!(close(*value, *sample));
                    }
                }
            }
        }
    }
}
