//! The programs that are measured: `sojourn`, and the crates' benchmarks.
//!
//! All come out of one set of features, that of published binaries and of what benchmarks need
//! besides: a build of single packages, or without benchmarks, has others, and cargo would compile
//! most crates again for each.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::shell::{capture, cargo, command, root};

const FEATURES: [&str; 3] = ["--workspace", "--features", "sojourn-cli/full"];

/// What is measured: for a quick look, whose figures are not recorded, `release` is built already.
fn profile() -> String {
    std::env::var("SOJOURN_BENCH_PROFILE").unwrap_or_else(|_| "dist".to_owned())
}

/// Builds `sojourn` as it is published, and returns where it lies.
pub(super) fn sojourn() -> Result<PathBuf, String> {
    // Any benchmark brings what all need.
    let targets = ["--bin", "sojourn", "--bench", super::CLOSED_LOOP];
    build(&targets, &root().join("crates/sojourn-cli"), "sojourn")
}

/// Builds a crate's benchmark, and returns where it lies.
pub(super) fn benchmark(package: &str, bench: &str) -> Result<PathBuf, String> {
    build(&["--bench", bench], &root().join("crates").join(package), bench)
}

/// A crate's benchmark as cargo would run it: in the crate's folder, told that it is to measure.
pub(super) fn benchmark_command(package: &str, bench: &str) -> Result<Command, String> {
    let program = benchmark(package, bench)?;
    let mut command = command(&program.to_string_lossy(), &["--bench"]);
    command.current_dir(root().join("crates").join(package));
    Ok(command)
}

/// Builds, and finds the target of this name among the executables of the crate in a folder.
fn build(targets: &[&str], folder: &Path, name: &str) -> Result<PathBuf, String> {
    let profile = profile();
    let rest = ["--profile", &profile, "--message-format", "json-render-diagnostics"];
    let output = capture(&mut cargo(&[&["build"], &FEATURES[..], targets, &rest].concat()))?;
    let manifest = folder.join("Cargo.toml");
    output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .filter(|message| message["manifest_path"].as_str().map(Path::new) == Some(&manifest))
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| format!("{} has no `{name}` that is built", manifest.display()))
}
