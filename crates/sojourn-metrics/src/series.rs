//! What a number is of.

use serde::{Deserialize, Serialize};

/// How a series' values merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A count that adds up.
    Counter,
    /// A level: the last value, with the interval's minimum and maximum. Merging over time keeps
    /// the later value and the widest range; merging over sources adds the values.
    Gauge,
    /// Yes and no: two counts that add up.
    Rate,
    /// A distribution: histograms that add up.
    Trend,
}

impl Kind {
    /// Its number in encodings; never changed.
    pub fn number(self) -> u8 {
        match self {
            Self::Counter => 0,
            Self::Gauge => 1,
            Self::Rate => 2,
            Self::Trend => 3,
        }
    }

    /// The kind of this number.
    pub fn of_number(number: u8) -> Option<Self> {
        [Self::Counter, Self::Gauge, Self::Rate, Self::Trend]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

/// The phase a series belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SeriesPhase {
    /// Journeys whose t0 fell in the warm-up.
    WarmUp,
    /// Journeys whose t0 fell in the steady phase.
    Steady,
    /// Not of a journey: health, unmatched events, in-flight levels.
    Any,
}

impl SeriesPhase {
    /// Its number in encodings; never changed.
    pub fn number(self) -> u8 {
        match self {
            Self::WarmUp => 0,
            Self::Steady => 1,
            Self::Any => 2,
        }
    }

    /// The phase of this number.
    pub fn of_number(number: u8) -> Option<Self> {
        [Self::WarmUp, Self::Steady, Self::Any].into_iter().find(|phase| phase.number() == number)
    }
}

/// A series' full name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeriesKey {
    /// Dotted metric name, as in docs/definitions.md.
    pub metric: String,
    /// Tags in order of their names, such as `journey` and `stage`.
    pub tags: Vec<(String, String)>,
    /// Phase.
    pub phase: SeriesPhase,
}

impl SeriesKey {
    /// A key; tags are sorted by name.
    pub fn new(metric: &str, tags: &[(&str, &str)], phase: SeriesPhase) -> Self {
        let mut tags: Vec<_> =
            tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        tags.sort();
        Self { metric: metric.to_owned(), tags, phase }
    }

    /// The value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }
}

/// `lag` or `stage.hop{journey=payment,stage=settled}`, with the warm-up's marked as such.
impl std::fmt::Display for SeriesKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.metric)?;
        for (at, (name, value)) in self.tags.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            write!(f, "{before}{name}={value}")?;
        }
        if !self.tags.is_empty() {
            f.write_str("}")?;
        }
        match self.phase {
            SeriesPhase::WarmUp => f.write_str(" (warm-up)"),
            SeriesPhase::Steady | SeriesPhase::Any => Ok(()),
        }
    }
}

/// A series within one [`crate::Recorder`] or [`crate::Store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeriesId(pub u32);

/// Trends of one [`crate::Recorder`] that have samples in common; see [`crate::Recorder::joint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointId(pub(crate) u32);
