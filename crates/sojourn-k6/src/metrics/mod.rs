//! Metrics: what is measured, with which tags, and what it adds up to.
//!
//! A [`Registry`] names the metrics. Each thread has an interner of tags, [`TagSets`], and an
//! account, [`Shard`]; what the accounts hold is merged into [`Totals`] by whoever keeps the test.
//! Thresholds and summaries read totals; outputs write [`Sample`]s.
//!
//! ```
//! use sojourn_k6::metrics::{Contains, MetricKind, Registry, Shard, ShardOptions, TagSets, Totals};
//! use sojourn_k6::thresholds::{Moment, Spec, Thresholds};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // While the script initialises.
//! let mut registry = Registry::new();
//! let paid = registry.declare("paid", MetricKind::Trend, Contains::Time)?;
//! let spec = Spec { text: "p(95)<500".to_owned(), abort_on_fail: false, delay_abort_ns: 0 };
//! let options = [("paid{by:card}".to_owned(), vec![spec])];
//! let mut thresholds = Thresholds::new(&mut registry, options)?;
//!
//! // On each thread.
//! let mut sets = TagSets::new(registry.matcher());
//! let mut shard = Shard::new(ShardOptions::default());
//! let base = sets.empty().clone();
//! let tags = sets.with(&base, &[("by", "card"), ("scenario", "default")]);
//! shard.add(paid, &tags, 1_800_000_000_000_000_000, 612.5);
//!
//! // Where the test is kept.
//! let mut totals = Totals::default();
//! totals.merge(shard.take());
//! let ended = thresholds.evaluate(&totals, 10_000_000_000, Moment::End);
//! assert_eq!(ended.failed, ["paid{by:card}"]);
//! # Ok(())
//! # }
//! ```

mod account;
pub mod builtin;
mod carried;
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
pub use carried::{CarriedError, CarriedSamples};
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
