//! What a metric's values mean: its kind and what they contain.

use std::fmt;

/// How the values of a metric add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum MetricKind {
    /// A sum.
    Counter = 0,
    /// The last value, with the least and the greatest.
    Gauge = 1,
    /// The share of values that are not zero.
    Rate = 2,
    /// A distribution.
    Trend = 3,
}

impl MetricKind {
    /// The word of scripts' summaries and of outputs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        }
    }

    pub(crate) const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Counter,
            1 => Self::Gauge,
            2 => Self::Rate,
            _ => Self::Trend,
        }
    }
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the values of a metric are, which decides how they are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contains {
    /// Plain numbers.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Contains {
    /// The word of scripts' summaries and of outputs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Time => "time",
            Self::Data => "data",
        }
    }
}

impl fmt::Display for Contains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
