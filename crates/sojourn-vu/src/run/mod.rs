//! A test from script to exit code.

mod collect;
mod conduct;
mod outputs;
mod threads;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use sojourn_http::ClientConfig;
use sojourn_k6::executors::Scenario;
use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::metrics::{Registry, Totals};
use sojourn_k6::options::{Options, OptionsError, Tiers, consolidate};
use sojourn_k6::thresholds::Thresholds;
use sojourn_script::{Bundle, Limits, ScriptError, Sources};

use crate::console::Console;

pub use collect::{Collected, collect};
pub use conduct::conduct;
pub use outputs::{Output, OutputFormat};

/// Most samples that a thread holds for outputs.
pub(crate) const SAMPLES_MAX: usize = 20_000;
