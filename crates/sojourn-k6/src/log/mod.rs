//! Where the log goes, as `--log-output` says it, and the log as Loki takes it.

mod loki;
mod output;

pub use loki::{LokiEntry, LokiOptions};
pub use output::{LeastLevel, LogOutput};
