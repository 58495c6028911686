//! What a merged series holds, how two of them add up, and their encoding.

use crate::{Histogram, Kind, Value, varint};

/// The merged content of one series.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// A sum.
    Counter(u64),
    /// Levels by source.
    Gauge(Levels),
    /// Counts of yes and no.
    Rate {
        /// How many yes.
        yes: u64,
        /// How many no.
        no: u64,
    },
    /// A distribution.
    Trend(Box<Histogram>),
}

/// A gauge's levels, kept apart by source: over time a source's later level replaces the earlier
/// and its range widens; over sources levels add up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    // A handful of sources: ordered by number, searched in line.
    sources: Vec<(u32, Level)>,
}

/// One source's level.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level {
    last: f64,
    min: f64,
    max: f64,
}

impl Figure {
    /// Nothing yet, of this kind.
    pub fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter(0),
            Kind::Gauge => Self::Gauge(Levels::default()),
            Kind::Rate => Self::Rate { yes: 0, no: 0 },
            Kind::Trend => Self::Trend(Box::default()),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Counter(_) => Kind::Counter,
            Self::Gauge(_) => Kind::Gauge,
            Self::Rate { .. } => Kind::Rate,
            Self::Trend(_) => Kind::Trend,
        }
    }

    /// Whether nothing was written to it.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Counter(n) => *n == 0,
            Self::Gauge(levels) => levels.sources.is_empty(),
            Self::Rate { yes, no } => (*yes, *no) == (0, 0),
            Self::Trend(histogram) => histogram.count() == 0,
        }
    }

    /// Empties it, keeping a histogram's pages.
    pub fn clear(&mut self) {
        match self {
            Self::Trend(histogram) => histogram.clear(),
            Self::Gauge(levels) => levels.sources.clear(),
            _ => *self = Self::empty(self.kind()),
        }
    }

    /// Adds what a source wrote in its next interval; false when the kinds differ.
    pub(crate) fn apply(&mut self, source: u32, value: &Value) -> bool {
        match (self, value) {
            (Self::Counter(own), Value::Counter(n)) => *own = own.saturating_add(*n),
            (Self::Gauge(own), &Value::Gauge { last, min, max }) => {
                own.later(source, Level { last, min, max });
            }
            (Self::Rate { yes, no }, Value::Rate { yes: y, no: n }) => {
                *yes = yes.saturating_add(*y);
                *no = no.saturating_add(*n);
            }
            (Self::Trend(own), Value::Trend(histogram)) => own.merge_interval(histogram),
            _ => return false,
        }
        true
    }

    /// Adds what the same sources held over a later stretch of time; false when the kinds differ.
    pub(crate) fn append(&mut self, later: &Self) -> bool {
        self.add(later, |own, later| {
            for &(source, level) in &later.sources {
                own.later(source, level);
            }
        })
    }

    /// Adds what other sources held; false when the kinds differ.
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        self.add(other, |own, other| {
            // Numbers of another run's sources mean nothing here: they follow ours.
            let next = own.sources.last().map_or(0, |&(source, _)| source + 1);
            let renumbered = (next..).zip(&other.sources);
            own.sources.extend(renumbered.map(|(source, &(_, level))| (source, level)));
        })
    }

    fn add(&mut self, other: &Self, add_levels: impl FnOnce(&mut Levels, &Levels)) -> bool {
        match (self, other) {
            (Self::Counter(own), Self::Counter(n)) => *own = own.saturating_add(*n),
            (Self::Gauge(own), Self::Gauge(levels)) => add_levels(own, levels),
            (Self::Rate { yes, no }, Self::Rate { yes: y, no: n }) => {
                *yes = yes.saturating_add(*y);
                *no = no.saturating_add(*n);
            }
            (Self::Trend(own), Self::Trend(histogram)) => own.merge(histogram),
            _ => return false,
        }
        true
    }

    /// Appends its encoding: the kind's number, then a counter's and a rate's varints, a gauge's
    /// number of sources with (source, last, min, max) each, floats little-endian, or a histogram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.kind().number());
        match self {
            Self::Counter(n) => varint::write(out, *n),
            Self::Gauge(levels) => {
                varint::write(out, levels.sources.len() as u64);
                for (source, level) in &levels.sources {
                    varint::write(out, u64::from(*source));
                    for value in [level.last, level.min, level.max] {
                        out.extend(value.to_le_bytes());
                    }
                }
            }
            Self::Rate { yes, no } => {
                varint::write(out, *yes);
                varint::write(out, *no);
            }
            Self::Trend(histogram) => histogram.encode(out),
        }
    }

    /// Takes an encoding from the front of `bytes`; `None` when it is none.
    pub fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let &number = bytes.first()?;
        let mut figure = Self::empty(Kind::of_number(number)?);
        figure.append_encoded(bytes)?;
        Some(figure)
    }

    /// Takes an encoding from the front of `bytes` and adds it as what the same sources held over a
    /// later stretch of time. `None`, and nothing is added, when it is none or of another kind.
    pub fn append_encoded(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let (&number, rest) = bytes.split_first()?;
        if number != self.kind().number() {
            return None;
        }
        *bytes = rest;
        let later = match self {
            Self::Trend(own) => return own.merge_encoded(bytes),
            Self::Counter(_) => Self::Counter(varint::read(bytes)?),
            Self::Gauge(_) => Self::Gauge(Levels::decode(bytes)?),
            Self::Rate { .. } => Self::Rate { yes: varint::read(bytes)?, no: varint::read(bytes)? },
        };
        self.append(&later).then_some(())
    }
}

impl Levels {
    /// (last, least, greatest), added over the sources; `None` when there is none.
    pub fn total(&self) -> Option<(f64, f64, f64)> {
        let levels = self.sources.iter().map(|(_, level)| *level);
        let total = levels.reduce(|a, b| Level {
            last: a.last + b.last,
            min: a.min + b.min,
            max: a.max + b.max,
        })?;
        Some((total.last, total.min, total.max))
    }

    fn later(&mut self, source: u32, level: Level) {
        match self.sources.binary_search_by_key(&source, |&(s, _)| s) {
            Ok(at) => {
                let own = &mut self.sources[at].1;
                own.last = level.last;
                own.min = own.min.min(level.min);
                own.max = own.max.max(level.max);
            }
            Err(at) => self.sources.insert(at, (source, level)),
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let mut levels = Self::default();
        for _ in 0..varint::read(bytes)? {
            let source = u32::try_from(varint::read(bytes)?).ok()?;
            // Ascending, below the last number, so that the next one can always be counted on.
            let before = levels.sources.last().map(|&(s, _)| s);
            if source == u32::MAX || before.is_some_and(|before| before >= source) {
                return None;
            }
            let [last, min, max] = [float(bytes)?, float(bytes)?, float(bytes)?];
            levels.sources.push((source, Level { last, min, max }));
        }
        Some(levels)
    }
}

fn float(bytes: &mut &[u8]) -> Option<f64> {
    let (value, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(f64::from_le_bytes(*value))
}
