//! Our HTTP client in a closed loop beside wrk, against the same nginx.
//!
//! nginx has one core, the tool under test another. Rounds alternate between the tools, so that a
//! machine that warms up or is disturbed disturbs both alike. What counts is CPU per request: on a
//! machine shared with anything, requests per second tell more about the neighbours.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::cpu;
use crate::bench::served::Served;
use crate::bench::table::Table;
use crate::phase::now;
use crate::shell::{capture, cargo, command, find_on_path, root, show};

const ROUNDS: usize = 5;
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

/// One run of one tool.
struct Sample {
    requests: f64,
    elapsed_s: f64,
    tool_cpu_us: f64,
    server_cpu_us: f64,
}

/// A tool under test.
struct Tool {
    name: &'static str,
    command: fn(&Path, &str) -> Command,
    program: PathBuf,
    /// The requests that its output reports, or why it cannot be believed.
    read: fn(&str) -> Result<f64, String>,
    samples: Vec<Sample>,
}

/// Runs the comparison.
pub(crate) fn compare() -> Result<Table, String> {
    let needs = |program| {
        find_on_path(program).ok_or_else(|| {
            format!("`{program}` is missing; try: apt-get install wrk nginx-light util-linux")
        })
    };
    let (wrk, nginx) = (needs("wrk")?, needs("nginx")?);
    needs("taskset")?;
    let mut tools = [
        Tool {
            name: PACKAGE,
            command: |program, url| pinned(program, &[url, CONNECTIONS, SECONDS]),
            program: build()?,
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
    let server = Served::nginx(&nginx, &scratch(""))?;
    std::fs::write(scratch("closed.yaml"), PLAN).map_err(|error| format!("the plan: {error}"))?;
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS}");
        for tool in &mut tools {
            tool.samples.push(sample(tool, &server)?);
        }
        tools.reverse();
    }
    tools.sort_by_key(|tool| tool.name);
    Ok(table(&tools))
}

fn sample(tool: &Tool, server: &Served) -> Result<Sample, String> {
    let mut command = (tool.command)(&tool.program, &server.url);
    let shown = show(&command);
    let (tool_before, server_before) = (cpu::of_ended_children()?, cpu::of_process(server.pid())?);
    let begin = now();
    let output = capture(&mut command)?;
    let elapsed_s = begin.elapsed().as_secs_f64();
    let requests = (tool.read)(&output).map_err(|error| format!("`{shown}`: {error}"))?;
    Ok(Sample {
        requests,
        elapsed_s,
        tool_cpu_us: (cpu::of_ended_children()? - tool_before) as f64,
        server_cpu_us: (cpu::of_process(server.pid())? - server_before) as f64,
    })
}

fn table(tools: &[Tool]) -> Table {
    let mut table = Table::new(&[
        "client, 64 connections, closed loop",
        "CPU µs/request, median",
        "min to max",
        "requests/s, median",
        "nginx CPU µs/request, median",
    ]);
    for tool in tools {
        let sorted = |figure: fn(&Sample) -> f64| {
            let mut figures: Vec<f64> = tool.samples.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures
        };
        let cpu = sorted(|sample| sample.tool_cpu_us / sample.requests);
        let rate = sorted(|sample| sample.requests / sample.elapsed_s);
        let server = sorted(|sample| sample.server_cpu_us / sample.requests);
        let median = ROUNDS / 2;
        table.row(&[
            tool.name.to_owned(),
            format!("{:.2}", cpu[median]),
            format!("{:.2} to {:.2}", cpu[0], cpu[ROUNDS - 1]),
            format!("{:.0}", rate[median]),
            format!("{:.2}", server[median]),
        ]);
    }
    table
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

/// `requests=123 failures=0 …`
fn ours(output: &str) -> Result<f64, String> {
    let field = |name: &str| {
        let value = output.split_whitespace().find_map(|word| word.strip_prefix(name));
        value.and_then(|value| value.parse::<f64>().ok())
    };
    match (field("requests="), field("failures=")) {
        (Some(requests), Some(0.0)) if requests > 0.0 => Ok(requests),
        (Some(_), Some(failures)) => Err(format!("{failures} requests failed, or none were made")),
        _ => Err("its output names no requests".to_owned()),
    }
}

/// A report in JSON, of a run that may be believed and had no failures.
fn whole_runs(output: &str) -> Result<f64, String> {
    let report: Value = serde_json::from_str(output).map_err(|error| error.to_string())?;
    let outcome = report["verdict"]["outcome"].as_str();
    if outcome != Some("pass") {
        return Err(format!("its verdict is {outcome:?}, not pass"));
    }
    let completed = &report["ledger"]["journeys_total"]["whole_run"]["completed"];
    completed.as_f64().filter(|count| *count > 0.0).ok_or_else(|| "it completed nothing".to_owned())
}

/// `  123 requests in 5.00s, 4.5MB read`
pub(super) fn wrks(output: &str) -> Result<f64, String> {
    if output.contains("Socket errors") || output.contains("Non-2xx") {
        return Err(format!("it met errors: {output}"));
    }
    output
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .and_then(|(count, _)| count.parse().ok())
        .filter(|count| *count > 0.0)
        .ok_or_else(|| "its output names no requests".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_and_errors_not_overlooked() {
        let wrk = "Running 5s test\n  Latency 1ms\n  123456 requests in 5.00s, 17MB read\n";
        assert_eq!(wrks(wrk), Ok(123_456.0));
        assert!(wrks(&format!("{wrk}  Socket errors: connect 0, read 3\n")).is_err());
        assert!(wrks("unable to connect").is_err());
        assert_eq!(ours("requests=500 failures=0 per_second=100"), Ok(500.0));
        assert!(ours("requests=500 failures=1").is_err());
        assert!(ours("requests=0 failures=0").is_err());
        assert!(ours("").is_err());
    }
}
