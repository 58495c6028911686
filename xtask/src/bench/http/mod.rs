//! Our HTTP client in a closed loop beside wrk, against the same nginx.
//!
//! nginx has one core, the tool under test another. Rounds alternate between the tools, so that a
//! machine that warms up or is disturbed disturbs both alike. What counts is CPU per request: on a
//! machine shared with anything, requests per second tell more about the neighbours.

mod http2;
mod nginx;
mod outputs;
mod tool;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::table::Table;
use crate::shell::{capture, cargo, command, find_on_path, root};
use nginx::Nginx;
use outputs::{ours, whole_runs};
use tool::{Tool, run_rounds};

pub(super) use http2::compare as compare_http2;
pub(super) use outputs::wrks;

const SECONDS: &str = "5";
const CONNECTIONS: &str = "64";
const PACKAGE: &str = "sojourn-http";
const BENCH: &str = super::DRIVEN;

/// What wrk does, as a journey file: the whole engine with ledger, histograms and reports.
const PLAN: &str = "
name: closed
target: ${URL}
journeys:
  get:
    root: { http: { method: GET, url: / }, expect: { status: 200 } }
load:
  - { journey: get, users: 64, steady: 5s, until: root }
";

/// Runs the comparison.
pub(crate) fn compare() -> Result<Table, String> {
    let (wrk, nginx) = (needs("wrk")?, needs("nginx")?);
    needs("taskset")?;
    let ours_built = build()?;
    let mut tools = [
        Tool {
            name: "sojourn-http, epoll",
            command: |program, url| pinned(program, &[url, CONNECTIONS, SECONDS, "epoll"]),
            program: ours_built.clone(),
            read: ours,
            samples: Vec::new(),
        },
        Tool {
            name: "sojourn-http, ring",
            command: |program, url| pinned(program, &[url, CONNECTIONS, SECONDS, "ring"]),
            program: ours_built,
            read: ours,
            samples: Vec::new(),
        },
        Tool {
            name: "sojourn run",
            command: |program, url| {
                let target = format!("URL={url}");
                let (plan, run_file) = (scratch("closed.yaml"), scratch("closed.sojourn"));
                let mut command = pinned(program, &["run", "--quiet", "--format", "json"]);
                command.args(["-e", &target, "--output"]).arg(run_file).arg(plan);
                command
            },
            program: build_sojourn()?,
            read: whole_runs,
            samples: Vec::new(),
        },
        Tool {
            name: "wrk",
            command: |program, url| {
                let connections = format!("-c{CONNECTIONS}");
                let duration = format!("-d{SECONDS}s");
                pinned(program, &["-t1", &connections, &duration, url])
            },
            program: wrk,
            read: wrks,
            samples: Vec::new(),
        },
    ];
    let server = Nginx::start(&nginx)?;
    std::fs::write(scratch("closed.yaml"), PLAN).map_err(|error| format!("the plan: {error}"))?;
    run_rounds(&mut tools, &server, &server.url)?;
    Ok(tool::table("HTTP/1.1, 64 connections, closed loop", &tools, "wrk"))
}

/// A program that must be there.
fn needs(program: &str) -> Result<PathBuf, String> {
    find_on_path(program).ok_or_else(|| {
        format!(
            "`{program}` is missing; try: apt-get install wrk nghttp2-client nginx-light \
             util-linux"
        )
    })
}

/// Builds our benchmark as published binaries are built, and says where it lies.
fn build() -> Result<PathBuf, String> {
    let output = capture(&mut cargo(&[
        "bench",
        "--profile",
        "dist",
        "--package",
        PACKAGE,
        "--bench",
        BENCH,
        "--no-run",
        "--message-format",
        "json-render-diagnostics",
    ]))?;
    output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == BENCH)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| format!("{PACKAGE} has no benchmark `{BENCH}`"))
}

/// Builds `sojourn` likewise.
pub(super) fn build_sojourn() -> Result<PathBuf, String> {
    capture(&mut cargo(&["build", "--profile", "dist", "--package", "sojourn-cli"]))?;
    Ok(root().join("target/dist/sojourn"))
}

/// A file of this comparison.
fn scratch(name: &str) -> PathBuf {
    root().join("target/bench-http").join(name)
}

/// On the last core; nginx has the first.
pub(super) fn pinned(program: &Path, arguments: &[&str]) -> Command {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut command = command("taskset", &["-c", &(cores - 1).to_string()]);
    command.arg(program).args(arguments);
    command
}
