//! The program that is measured: one build for every comparison.

use std::path::PathBuf;

use crate::shell::{capture, cargo, root};

/// Builds `sojourn` as it is published, with scripts, and returns where it lies.
pub(super) fn build_sojourn() -> Result<PathBuf, String> {
    let build = ["build", "--profile", "dist", "--package", "sojourn-cli", "--features", "script"];
    capture(&mut cargo(&build))?;
    Ok(root().join("target/dist/sojourn"))
}
