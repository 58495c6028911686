//! Options: what a script, a configuration file, the environment and flags ask for.
//!
//! Each of those four is a [`Tier`] and becomes an [`Options`] of its own:
//! [`Options::from_json`] for the first two, [`Options::from_environment`], and
//! [`crate::flags::RunFlags::options`]. [`consolidate`] makes one of them, with scenarios in place
//! of shortcuts and a plan for each, and says what to warn of. [`Options::to_json`] shows them as
//! `k6 inspect` and `exec.test.options` do.

mod consolidate;
mod environment;
mod error;
mod list;
mod local_ips;
mod network;
mod scenario;
mod segment;
mod stages;
mod system_tags;
mod table;
mod thresholds;
mod tls;
mod values;

pub use consolidate::{Consolidated, Tiers, consolidate};
pub use environment::Environment;
pub use error::{OptionsError, Tier};
pub use list::Options;
pub use local_ips::LocalIps;
pub use network::{Address, Dns, HostPatterns, Hosts, Network, Networks};
pub use scenario::{ScenarioOptions, Scenarios};
pub use segment::{Fraction, Segment, SegmentSequence};
pub use stages::Stage;
pub use system_tags::SystemTags;
pub use thresholds::{ThresholdOption, Thresholds};
pub use tls::{CipherSuites, TlsAuth, TlsVersions};
pub use values::Tags;

pub(crate) use error::Wrong;
pub(crate) use segment::greatest_common_divisor;
pub(crate) use table::{Kind, Table};
pub(crate) use values::name_and_value;
