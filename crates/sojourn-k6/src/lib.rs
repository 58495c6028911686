//! k6's words, as pure code: what its options mean, what its executors plan, how its metrics add
//! up, when a threshold fails, what its summaries and outputs look like.
//!
//! Everything is described from k6's public documentation and behaviour. Nothing in here reads a
//! clock, opens a socket, starts a thread or runs a script: time and values are handed in.
//!
//! # From options to a plan
//!
//! ```
//! use sojourn_k6::options::{Environment, Options, Tier, Tiers, consolidate};
//!
//! # fn main() -> Result<(), sojourn_k6::options::OptionsError> {
//! let exported = serde_json::json!({"vus": 10, "duration": "30s"});
//! let (script, unknown) = Options::from_json(Tier::Script, &exported)?;
//! assert!(unknown.is_empty(), "to be warned of");
//! let environment = Options::from_environment(&Environment::new())?;
//! let all = consolidate(Tiers { script, environment, ..Tiers::default() })?;
//! all.check_exports(|name| name == "default")?;
//!
//! let scenario = &all.scenarios[0];
//! assert_eq!(scenario.line(), "default: 10 looping VUs for 30s (gracefulStop: 30s)");
//! assert_eq!(scenario.spans(9)[0].end_ns, 30_000_000_000);
//! assert_eq!(all.requirements().max_vus, 10);
//! # Ok(())
//! # }
//! ```
//!
//! - [`options`]: [`options::Options`] of a tier, [`options::consolidate`] for all of them, and
//!   what `exec.test.options` ([`options::Options::to_json`]) and `k6 inspect`
//!   ([`options::Consolidated::inspected`]) show.
//! - [`flags`]: [`flags::RunFlags`] for clap, [`flags::Settings`] for what no script can export.
//! - [`executors`]: [`executors::Scenario`] has `spans(slot)` and `wanted(at_ns)` where users loop,
//!   `starts()` where arrivals are due, and k6's words for both.
//! - [`exit_code`]: what the process ends with.
//! - [`log`]: where the log goes.
//! - [`archive`]: a script and all that it needs in one file.

pub mod archive;
pub mod duration;
pub mod executors;
pub mod exit_code;
pub mod flags;
pub mod log;
pub mod metrics;
pub mod options;
pub mod output;
pub mod summary;
pub mod thresholds;
