//! What one thread writes to.

use std::{collections::HashMap, mem};

use crate::tally::Tally;
use crate::{IntervalHistogram, JointId, Kind, SeriesId, SeriesKey, Snapshot, Value};

/// Most series of one recorder; further names fold into `other`.
pub const MOST_SERIES: usize = 2_000;

/// Most series that fold others: a metric has one per kind, phase and set of tag names. Beyond them
/// even the metric's name is folded.
pub(crate) const MOST_FOLDS: usize = 256;

/// Series of one thread. Interning a series allocates; writing to one does not, except where a
/// trend's value falls into an octave it never had (4 KB).
#[derive(Debug)]
pub struct Recorder {
    source: u32,
    sequence: u64,
    start_ns: u64,
    live: Vec<Cell>,
    ids: HashMap<SeriesKey, SeriesId>,
    new_series: Vec<(SeriesId, Kind, SeriesKey)>,
    /// Empty histograms with pages from spare snapshots, by series.
    spares: Vec<Option<IntervalHistogram>>,
    joints: Vec<Joint>,
    folded: u64,
    misused: u64,
}

/// What was written to a series since the last snapshot.
#[derive(Debug)]
enum Cell {
    Counter(u64),
    Gauge(Option<[f64; 3]>),
    Rate { yes: u64, no: u64 },
    Trend(Tally),
}

/// Samples that several trends have in common, not added to them yet.
#[derive(Debug)]
struct Joint {
    members: Vec<SeriesId>,
    samples: Tally,
}

impl Recorder {
    /// A recorder of the source with this number.
    pub fn new(source: u32) -> Self {
        Self {
            source,
            sequence: 0,
            start_ns: 0,
            live: Vec::new(),
            ids: HashMap::new(),
            new_series: Vec::new(),
            spares: Vec::new(),
            joints: Vec::new(),
            folded: 0,
            misused: 0,
        }
    }

    /// Says when the first interval starts; else it counts as started before the run.
    pub fn start_at(&mut self, now_ns: u64) {
        self.start_ns = now_ns;
    }

    /// The series of this name, made if new. Beyond 2,000 series the name's metric folds into one
    /// whose tags are all `other`, and [`Self::folded`] counts it.
    pub fn series(&mut self, kind: Kind, key: SeriesKey) -> SeriesId {
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        if self.live.len() < MOST_SERIES {
            return self.intern(kind, key);
        }
        self.folded += 1;
        let mut fold = key;
        for (_, value) in &mut fold.tags {
            "other".clone_into(value);
        }
        if let Some(&id) = self.ids.get(&fold) {
            return id;
        }
        if self.live.len() < MOST_SERIES + MOST_FOLDS {
            return self.intern(kind, fold);
        }
        // One per kind, which makes at most four.
        let last_resort = SeriesKey::new(&format!("other.{kind:?}"), &[], crate::SeriesPhase::Any);
        match self.ids.get(&last_resort) {
            Some(&id) => id,
            None => self.intern(kind, last_resort),
        }
    }

    /// How many times a name was folded into `other`.
    pub fn folded(&self) -> u64 {
        self.folded
    }

    /// Writes refused because the series is of another kind, unknown, or the value is no number: a
    /// defect of the caller.
    pub fn misused(&self) -> u64 {
        self.misused
    }

    /// Adds to a counter.
    #[inline]
    pub fn add(&mut self, series: SeriesId, n: u64) {
        match self.live.get_mut(series.0 as usize) {
            Some(Cell::Counter(count)) => *count = count.saturating_add(n),
            _ => self.refuse(),
        }
    }

    /// Sets a gauge.
    #[inline]
    pub fn set(&mut self, series: SeriesId, value: f64) {
        match self.live.get_mut(series.0 as usize) {
            Some(Cell::Gauge(level)) if !value.is_nan() => {
                *level = Some(match level {
                    Some([_, min, max]) => [value, min.min(value), max.max(value)],
                    None => [value; 3],
                });
            }
            _ => self.refuse(),
        }
    }

    /// Counts a yes or a no.
    #[inline]
    pub fn rate(&mut self, series: SeriesId, is_yes: bool) {
        match self.live.get_mut(series.0 as usize) {
            Some(Cell::Rate { yes, no }) => *if is_yes { yes } else { no } += 1,
            _ => self.refuse(),
        }
    }

    /// Records a sample of a trend (nanoseconds, or whatever unit the metric's definition says).
    #[inline]
    pub fn record(&mut self, series: SeriesId, value: u64) {
        match self.live.get_mut(series.0 as usize) {
            Some(Cell::Trend(samples)) => samples.record(value),
            _ => self.refuse(),
        }
    }

    /// Trends that often have a sample in common, which [`Self::record_joint`] records in one go
    /// instead of one by one: with five such trends the eleven samples of an answer take 28 ns
    /// instead of 49, and [`Self::take`] some 5 µs more.
    pub fn joint(&mut self, members: &[SeriesId]) -> JointId {
        self.joints.push(Joint { members: members.to_vec(), samples: Tally::default() });
        JointId(self.joints.len() as u32 - 1)
    }

    /// Records a sample of each of the trends. They have it when the interval ends.
    #[inline]
    pub fn record_joint(&mut self, joint: JointId, value: u64) {
        match self.joints.get_mut(joint.0 as usize) {
            Some(joint) => joint.samples.record(value),
            None => self.refuse(),
        }
    }

    /// Hands over what was written since the last call and starts the next interval. `spare` is a
    /// snapshot already merged elsewhere, whose pages are used again; a first call passes `None`.
    /// Histograms change hands by swapping; see [`Snapshot::recycle`] for who empties the spare.
    pub fn take(&mut self, now_ns: u64, spare: Option<Snapshot>) -> Snapshot {
        let mut snapshot = spare.unwrap_or_default();
        self.keep_spares(&mut snapshot);
        snapshot.source = self.source;
        snapshot.sequence = self.sequence;
        snapshot.start_ns = self.start_ns;
        snapshot.end_ns = now_ns;
        snapshot.new_series.clear();
        snapshot.new_series.append(&mut self.new_series);
        self.part_joints();
        for (index, cell) in self.live.iter_mut().enumerate() {
            if let Some(value) = cell.take(&mut self.spares[index]) {
                snapshot.values.push((SeriesId(index as u32), value));
            }
        }
        self.sequence += 1;
        self.start_ns = now_ns;
        snapshot
    }

    /// Gives trends what they have in common.
    fn part_joints(&mut self) {
        for joint in &mut self.joints {
            let samples = joint.samples.settled();
            if samples.totals().count == 0 {
                continue;
            }
            for member in &joint.members {
                match self.live.get_mut(member.0 as usize) {
                    Some(Cell::Trend(own)) => own.merge(samples),
                    _ => self.misused += 1,
                }
            }
            samples.clear();
        }
    }

    fn keep_spares(&mut self, snapshot: &mut Snapshot) {
        for (id, value) in snapshot.values.drain(..) {
            let Value::Trend(mut histogram) = value else {
                continue;
            };
            if let Some(spare @ None) = self.spares.get_mut(id.0 as usize) {
                histogram.clear();
                *spare = Some(histogram);
            }
        }
    }

    fn intern(&mut self, kind: Kind, key: SeriesKey) -> SeriesId {
        let id = SeriesId(self.live.len() as u32);
        self.live.push(match kind {
            Kind::Counter => Cell::Counter(0),
            Kind::Gauge => Cell::Gauge(None),
            Kind::Rate => Cell::Rate { yes: 0, no: 0 },
            Kind::Trend => Cell::Trend(Tally::default()),
        });
        self.spares.push(None);
        self.new_series.push((id, kind, key.clone()));
        self.ids.insert(key, id);
        id
    }

    #[cold]
    fn refuse(&mut self) {
        self.misused += 1;
    }
}

impl Cell {
    /// What was written, leaving nothing; `None` when nothing was.
    fn take(&mut self, spare: &mut Option<IntervalHistogram>) -> Option<Value> {
        match self {
            Self::Counter(n) => Some(mem::take(n)).filter(|&n| n > 0).map(Value::Counter),
            Self::Gauge(level) => {
                level.take().map(|[last, min, max]| Value::Gauge { last, min, max })
            }
            Self::Rate { yes, no } => {
                let (yes, no) = (mem::take(yes), mem::take(no));
                (yes > 0 || no > 0).then_some(Value::Rate { yes, no })
            }
            Self::Trend(samples) => {
                let histogram = samples.settled();
                (histogram.totals().count > 0).then(|| {
                    let fresh = spare.take().unwrap_or_default();
                    Value::Trend(mem::replace(histogram, fresh))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeriesPhase;

    #[test]
    fn two_series_stand_in_a_line_of_the_cache() {
        const { assert!(size_of::<Cell>() == 32) };
    }

    fn key(metric: &str, stage: &str) -> SeriesKey {
        SeriesKey::new(metric, &[("stage", stage)], SeriesPhase::Steady)
    }

    #[test]
    fn a_snapshot_holds_what_was_written_since_the_last() {
        let mut recorder = Recorder::new(7);
        recorder.start_at(100);
        let count = recorder.series(Kind::Counter, key("c", "a"));
        let level = recorder.series(Kind::Gauge, key("g", "a"));
        let rate = recorder.series(Kind::Rate, key("r", "a"));
        let trend = recorder.series(Kind::Trend, key("t", "a"));
        assert_eq!(recorder.series(Kind::Trend, key("t", "a")), trend);
        recorder.add(count, 2);
        recorder.add(count, 3);
        for value in [4.0, -1.0, 2.0] {
            recorder.set(level, value);
        }
        recorder.rate(rate, true);
        recorder.rate(rate, false);
        recorder.record(trend, 5);
        let first = recorder.take(200, None);
        assert_eq!((first.source, first.sequence), (7, 0));
        assert_eq!((first.start_ns, first.end_ns), (100, 200));
        assert_eq!(first.new_series.len(), 4);
        let mut samples = IntervalHistogram::default();
        samples.record(5);
        let level_value = Value::Gauge { last: 2.0, min: -1.0, max: 4.0 };
        let expected = vec![
            (count, Value::Counter(5)),
            (level, level_value),
            (rate, Value::Rate { yes: 1, no: 1 }),
            (trend, Value::Trend(samples.clone())),
        ];
        assert_eq!(first.values, expected);
        // The spare's samples must not come back.
        recorder.record(trend, 5);
        let second = recorder.take(300, Some(first));
        assert_eq!((second.sequence, second.start_ns), (1, 200));
        assert_eq!(second.values, [(trend, Value::Trend(samples.clone()))]);
        assert!(second.new_series.is_empty());
        recorder.record(trend, 5);
        let third = recorder.take(400, Some(second));
        assert_eq!(third.values, [(trend, Value::Trend(samples))]);
    }

    #[test]
    fn samples_in_common_are_everybodys() {
        let mut recorder = Recorder::new(0);
        let [a, b] = ["a", "b"].map(|stage| recorder.series(Kind::Trend, key("t", stage)));
        let both = recorder.joint(&[a, b]);
        let mut spare = None;
        // Twice: what was taken must not come back.
        for _ in 0..2 {
            recorder.record(a, 3);
            for value in [0, 0, 7, 7, 7, 1_000_000, 0] {
                recorder.record_joint(both, value);
            }
            recorder.record(b, 5);
            let of = |samples: &[u64]| {
                let mut histogram = IntervalHistogram::default();
                samples.iter().for_each(|&value| histogram.record(value));
                Value::Trend(histogram)
            };
            let taken = recorder.take(100, spare.take());
            let expected = [
                (a, of(&[3, 0, 0, 7, 7, 7, 1_000_000, 0])),
                (b, of(&[0, 0, 7, 7, 7, 1_000_000, 0, 5])),
            ];
            assert_eq!(taken.values, expected);
            spare = Some(taken);
        }
        assert!(recorder.take(200, spare).values.is_empty());
        let count = recorder.series(Kind::Counter, key("c", "a"));
        let wrong = recorder.joint(&[count]);
        recorder.record_joint(wrong, 1);
        assert!(recorder.take(300, None).values.is_empty());
        assert_eq!(recorder.misused(), 1);
    }

    #[test]
    fn names_beyond_the_bound_fold_and_are_counted() {
        let mut recorder = Recorder::new(0);
        for i in 0..MOST_SERIES {
            recorder.series(Kind::Counter, key("c", &i.to_string()));
        }
        let a = recorder.series(Kind::Counter, key("c", "one more"));
        let b = recorder.series(Kind::Counter, key("c", "and another"));
        assert_eq!((a, recorder.folded()), (b, 2));
        let taken = recorder.take(1, None);
        assert_eq!(taken.new_series.last().unwrap().2, key("c", "other"));
        for i in 0..10_000 {
            recorder.series(Kind::Trend, key(&i.to_string(), "x"));
        }
        assert!(recorder.take(2, None).new_series.len() <= MOST_FOLDS + 4);
    }

    #[test]
    fn misuse_is_counted_and_harmless() {
        let mut recorder = Recorder::new(0);
        let count = recorder.series(Kind::Counter, key("c", "a"));
        let level = recorder.series(Kind::Gauge, key("g", "a"));
        recorder.record(count, 1);
        recorder.set(level, f64::NAN);
        recorder.add(SeriesId(99), 1);
        assert_eq!(recorder.misused(), 3);
        assert!(recorder.take(1, None).values.is_empty());
    }
}
