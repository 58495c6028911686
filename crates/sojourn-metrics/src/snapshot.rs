//! A source's numbers of one interval.

use serde::{Deserialize, Serialize};

use crate::{IntervalHistogram, Kind, SeriesId, SeriesKey};

/// One interval of one source. Snapshots add without loss, in any order. Serialised, it crosses to
/// another process whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The recorder's number.
    pub source: u32,
    /// Number of this snapshot of its source, from 0, without gaps.
    pub sequence: u64,
    /// Interval's start, CLOCK_MONOTONIC nanoseconds.
    pub start_ns: u64,
    /// Interval's end.
    pub end_ns: u64,
    /// Series first seen in this snapshot.
    pub new_series: Vec<(SeriesId, Kind, SeriesKey)>,
    /// Series written to in the interval.
    pub values: Vec<(SeriesId, Value)>,
}

impl Snapshot {
    /// Empties its histograms, keeping their pages: call it once the snapshot is merged, on the
    /// merging side, so that [`crate::Recorder::take`] finds the pages ready and the recording
    /// thread does not pay for it.
    pub fn recycle(&mut self) {
        for (_, value) in &mut self.values {
            if let Value::Trend(histogram) = value {
                histogram.clear();
            }
        }
    }
}

impl Value {
    /// The kind of series it can be written to.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Counter(_) => Kind::Counter,
            Self::Gauge { .. } => Kind::Gauge,
            Self::Rate { .. } => Kind::Rate,
            Self::Trend(_) => Kind::Trend,
        }
    }
}

/// What was written to a series in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// Added.
    Counter(u64),
    /// Last, least and greatest value set.
    Gauge {
        /// Last value set.
        #[serde(with = "bits")]
        last: f64,
        /// Least.
        #[serde(with = "bits")]
        min: f64,
        /// Greatest.
        #[serde(with = "bits")]
        max: f64,
    },
    /// Counts of yes and no.
    Rate {
        /// How many yes.
        yes: u64,
        /// How many no.
        no: u64,
    },
    /// Samples.
    Trend(IntervalHistogram),
}

/// Floating-point numbers by their bits: exact in every format, infinities too.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(value.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let value = f64::from_bits(u64::deserialize(deserializer)?);
        // No recorder writes one, and a single one would spoil every comparison.
        if value.is_nan() { Err(D::Error::custom("a gauge is a number")) } else { Ok(value) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Recorder, SeriesPhase, Store};

    /// What is written to a recorder: which series, and what.
    fn any_writes() -> impl Strategy<Value = Vec<(u8, u8, u64)>> {
        let value = prop_oneof![0..5_000_u64, any::<u64>()];
        prop::collection::vec((0..4_u8, 0..5_u8, value), 0..60)
    }

    fn taken(recorder: &mut Recorder, writes: &[(u8, u8, u64)]) -> Snapshot {
        let kinds = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
        for &(kind, name, value) in writes {
            let kind = kinds[usize::from(kind)];
            let metric = format!("{kind:?}");
            let tags = [("name", &*format!("{name} \u{e4}\"\n"))];
            let phase = SeriesPhase::of_number(name % 3).unwrap();
            let series = recorder.series(kind, SeriesKey::new(&metric, &tags, phase));
            match kind {
                Kind::Counter => recorder.add(series, value),
                Kind::Gauge if value == 0 => recorder.set(series, f64::INFINITY),
                Kind::Gauge => recorder.set(series, value as f64 / -3.0),
                Kind::Rate => recorder.rate(series, value % 2 == 0),
                Kind::Trend => recorder.record(series, value),
            }
        }
        recorder.take(1_000, None)
    }

    proptest! {
        #[test]
        fn a_snapshot_survives_the_way(first in any_writes(), second in any_writes()) {
            let mut recorder = Recorder::new(3);
            let (mut near, mut far) = (Store::new(), Store::new());
            for writes in [first, second] {
                let snapshot = taken(&mut recorder, &writes);
                let bytes = serde_json::to_vec(&snapshot).unwrap();
                let arrived: Snapshot = serde_json::from_slice(&bytes).unwrap();
                prop_assert_eq!(&arrived, &snapshot);
                prop_assert_eq!(near.apply(&snapshot), Ok(()));
                prop_assert_eq!(far.apply(&arrived), Ok(()));
            }
            prop_assert_eq!(near, far);
        }

        #[test]
        fn damaged_bytes_are_refused_or_another_snapshot(
            writes in any_writes(),
            at in any::<prop::sample::Index>(),
            byte: u8,
            cut: bool,
        ) {
            let mut bytes = serde_json::to_vec(&taken(&mut Recorder::new(3), &writes)).unwrap();
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            // Whatever it reads as can be merged without harm.
            if let Ok(arrived) = serde_json::from_slice::<Snapshot>(&bytes) {
                drop(Store::new().apply(&arrived));
            }
        }
    }
}
