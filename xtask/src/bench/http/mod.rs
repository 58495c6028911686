//! Our HTTP client beside others, against the same server.
//!
//! The server has one core, the tool under test another. Rounds alternate between the tools, so
//! that a machine that warms up or is disturbed disturbs all alike. What counts is CPU per request:
//! on a machine shared with anything, requests per second tell more about the neighbours.

mod closed;
mod connections;
mod http2;
mod outputs;
mod paced;
mod soak;
mod tool;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::built;
use crate::bench::served::Served;
use crate::shell::{command, find_on_path, root};

pub(super) use closed::compare as compare_closed;
pub(super) use connections::compare as compare_connections;
pub(super) use http2::compare as compare_http2;
pub(super) use outputs::wrks;
pub(super) use paced::compare as compare_paced;
pub(super) use soak::compare as compare_soak;
pub(super) use tool::own_bytes;

/// What each run lasts, seconds.
const SECONDS: &str = "5";

/// A program that must be there.
fn needs(program: &str) -> Result<PathBuf, String> {
    find_on_path(program).ok_or_else(|| {
        format!(
            "`{program}` is missing; try: apt-get install wrk nghttp2-client nginx-light \
             util-linux; bench/README.md says where the others are from"
        )
    })
}

/// nginx, on the first core.
fn nginx() -> Result<Served, String> {
    needs("taskset")?;
    Served::nginx(&needs("nginx")?, &scratch(""))
}

/// Builds our benchmark, and says where it lies.
fn build() -> Result<PathBuf, String> {
    built::benchmark("sojourn-http", super::CLOSED_LOOP)
}

/// A file of these comparisons.
fn scratch(name: &str) -> PathBuf {
    root().join("target/bench-http").join(name)
}

/// On the last core; the server has the first.
pub(super) fn pinned(program: &Path, arguments: &[&str]) -> Command {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut command = command("taskset", &["-c", &(cores - 1).to_string()]);
    command.arg(program).args(arguments);
    command
}

/// `sojourn attack` on a URL, writing to `output`.
fn attack(program: &Path, url: &str, flags: &[&str], output: &Path) -> Command {
    let mut command = pinned(program, &["attack", url, "-quiet"]);
    command.args(flags).arg("-output").arg(output).stderr(Stdio::null());
    command
}
