//! A metric: its name and meaning, and the number by which threads know it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::kind::{Contains, MetricKind};

/// Names a metric or submetric within one [`Registry`](super::Registry). It carries the metric's
/// kind, so that a thread can account for a metric that was declared after the thread began.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MetricId(u32);

impl MetricId {
    pub(crate) const fn new(index: u32, kind: MetricKind) -> Self {
        Self((index << 2) | kind as u32)
    }

    /// Its place in the registry's order of declaration, from 0.
    pub const fn index(self) -> usize {
        (self.0 >> 2) as usize
    }

    /// How its values add up.
    pub const fn kind(self) -> MetricKind {
        MetricKind::from_bits(self.0)
    }
}

impl fmt::Debug for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MetricId({} {})", self.kind(), self.index())
    }
}

/// A metric, or a submetric that counts only its parent's samples with certain tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// By which samples name it.
    pub id: MetricId,
    /// As scripts and thresholds write it: `http_reqs`, `http_reqs{status:200}`.
    pub name: Box<str>,
    /// How its values add up.
    pub kind: MetricKind,
    /// What its values are.
    pub contains: Contains,
    /// What makes it a submetric.
    pub submetric: Option<Submetric>,
    /// Whether k6 has no such metric and prints nothing of it.
    pub is_ours: bool,
}

/// What a submetric counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submetric {
    /// Whose samples.
    pub parent: MetricId,
    /// What stands between the braces of its name.
    pub suffix: Box<str>,
    /// The tags that a sample must have, sorted by key.
    pub tags: Vec<(Box<str>, Box<str>)>,
}
