//! The system's own resources, as they were read beside the load.

use schemars::JsonSchema;
use serde::Serialize;
use sojourn_analysis::resources::{Memory, Processor, Saturated};

/// A resource's figures over the steady phase; what was not read is `None`.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ResourceReport {
    /// Its name; of one of a query's series with the labels, `NAME{pod=a}`. Foreign input.
    pub name: String,
    /// What it is: `process 4711`, `cgroup /sys/fs/cgroup/api.slice`, `query sum(…)`.
    pub what: String,
    /// Processor time.
    pub processor: Option<Processor>,
    /// Memory.
    pub memory: Option<Memory>,
    /// Most descriptors open at once.
    pub descriptors_max: Option<f64>,
    /// Most threads.
    pub threads_max: Option<f64>,
    /// What a query yielded.
    pub value: Option<Values>,
    /// That it was used up.
    pub saturated: Option<Saturated>,
}

/// The values of a query, in whatever unit it has.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Values {
    /// Seconds with a value.
    pub seconds: usize,
    /// Their mean.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The last one.
    pub last: f64,
}
