//! The flags of `k6 run`, of k6 2.2 and those that its second version removed, and ours.
//!
//! [`RunFlags`] is for clap. [`RunFlags::options`] makes the strongest tier of options of them;
//! [`Settings`] has what is no option of a script, from flags, the environment and the
//! configuration file.

mod args;
mod dashboard;
mod settings;
mod to_options;

pub use args::RunFlags;
pub use dashboard::DashboardSettings;
pub use settings::{Settings, SummaryMode};
