//! Metrics: what is measured, with which tags, and what it adds up to.
//!
//! A [`Registry`] names the metrics. Each thread has an interner of tags, [`TagSets`], and an
//! account, [`Shard`]; what the accounts hold is merged into [`Totals`] by whoever keeps the test.
//! Thresholds and summaries read totals; outputs write [`Sample`]s.

mod account;
pub mod builtin;
mod checks;
mod hash;
mod kind;
mod log_linear;
mod matcher;
mod metric;
mod registry;
mod sample;
mod scopes;
mod shard;
mod sink;
mod submetric;
mod system_tags;
mod tag_set;
mod tag_sets;
mod totals;
mod trend;

pub use account::Account;
pub use checks::{Check, Checks, Group, NAMES_MAX};
pub use kind::{Contains, MetricKind};
pub use matcher::Matcher;
pub use metric::{Metric, MetricId, Submetric};
pub use registry::{DeclareError, Registry};
pub use sample::Sample;
pub use scopes::{SCOPES_MAX, Scope, ScopeAccount, Scopes};
pub use shard::{Delta, Shard, ShardOptions};
pub use sink::{Counter, Gauge, Rate, Sink};
pub use submetric::SubmetricError;
pub use system_tags::{SystemTag, SystemTags};
pub use tag_set::TagSet;
pub use tag_sets::{SETS_MAX, TagSets};
pub use totals::Totals;
pub use trend::{Percentiles, RAW_MAX, RELATIVE_ERROR_MAX, Trend};
