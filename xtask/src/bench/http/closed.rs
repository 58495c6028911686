//! A closed loop: every connection sends its next request as soon as it has its answer.

use std::path::Path;

use super::outputs::{attacks, ours, read_wrks, whole_runs};
use super::tool::{ROUNDS, Sample, Tool, run_rounds};
use super::{SECONDS, attack, build, needs, nginx, pinned, scratch};
use crate::bench::built;
use crate::bench::limits::Limits;
use crate::bench::table::Table;

/// What wrk does, as a journey file: the whole engine with ledger, histograms and reports.
const PLAN: &str = "
name: closed
target: ${URL}
journeys:
  get:
    root: { http: { method: GET, url: / }, expect: { status: 200 } }
load:
  - journey: get
    users: ${USERS}
    steady: 5s
    until: root
";

const WAYS: [&str; 2] = ["epoll", "ring"];

/// Runs the comparison, with 64 and with 512 connections.
pub(in crate::bench) fn compare() -> Result<Vec<Table>, String> {
    let (wrk, server) = (needs("wrk")?, nginx()?);
    let (client, sojourn) = (build()?, built::sojourn()?);
    let plan = scratch("closed.yaml");
    std::fs::write(&plan, PLAN).map_err(|error| format!("{}: {error}", plan.display()))?;
    let mut tables = Vec::new();
    for connections in ["64", "512"] {
        eprintln!("  {connections} connections");
        let mut tools = Vec::new();
        for way in WAYS {
            tools.push(bare(&client, connections, way));
        }
        for way in WAYS {
            tools.push(attacking(&sojourn, connections, way));
        }
        for way in WAYS {
            tools.push(running(&sojourn, &plan, connections, way));
        }
        let program = wrk.clone();
        let command = move |url: &str| {
            let (connections, duration) = (format!("-c{connections}"), format!("-d{SECONDS}s"));
            pinned(&program, &["-t1", &connections, &duration, url])
        };
        tools.push(Tool::new("wrk", command, read_wrks));
        run_rounds(&mut tools, &server, &server.url)?;
        tables.push(table(&format!("{connections} connections, closed loop"), &tools, "wrk"));
        tables.push(limits(connections, &tools));
    }
    Ok(tables)
}

/// What the project asks of an attack with all its accounts.
fn limits(connections: &str, tools: &[Tool]) -> Table {
    let mut limits = Limits::of(&format!("sojourn attack, {connections} connections"));
    for (way, most) in [("epoll", 1.0), ("ring", 0.92)] {
        let tool = named(tools, &format!("sojourn attack, {way}"));
        let ratio = tool.zip(named(tools, "wrk")).map(|(own, wrk)| of_other(own, wrk));
        limits.at_most(&format!("CPU per request on {way} ≤ {most} × wrk's"), ratio, " ×", most);
        let user_us = tool.map(|tool| tool.median(Sample::user_us));
        limits.at_most(&format!("of it outside the kernel, {way}, ≤ 1 µs"), user_us, " µs", 1.0);
    }
    limits.table()
}

/// The tool of that name.
pub(super) fn named<'a>(tools: &'a [Tool], name: &str) -> Option<&'a Tool> {
    tools.iter().find(|tool| tool.name == name)
}

/// The bare client, which counts and no more.
fn bare(program: &Path, connections: &'static str, way: &'static str) -> Tool {
    let program = program.to_path_buf();
    Tool::new(
        &format!("sojourn-http, {way}"),
        move |url| pinned(&program, &[url, connections, SECONDS, way]),
        ours,
    )
}

fn attacking(program: &Path, connections: &'static str, way: &'static str) -> Tool {
    let (program, output) = (program.to_path_buf(), scratch("attack.sojourn"));
    let (reader, written) = (program.clone(), output.clone());
    let command = move |url: &str| {
        let duration = format!("{SECONDS}s");
        let flags = ["-rate=0", "-max-workers", connections, "-duration", &duration, "-io", way];
        attack(&program, url, &flags, &output)
    };
    Tool::new(&format!("sojourn attack, {way}"), command, move |_| attacks(&reader, &written))
}

fn running(program: &Path, plan: &Path, connections: &'static str, way: &'static str) -> Tool {
    let (program, plan) = (program.to_path_buf(), plan.to_path_buf());
    let command = move |url: &str| {
        let (target, users) = (format!("URL={url}"), format!("USERS={connections}"));
        let mut command = pinned(&program, &["run", "--quiet", "--format", "json", "--io", way]);
        command.args(["-e", &target, "-e", &users, "--output"]);
        command.arg(scratch("closed.sojourn")).arg(&plan);
        command
    };
    Tool::new(&format!("sojourn run, {way}"), command, whole_runs)
}

/// A row for each tool, compared with the one of that name.
pub(super) fn table(head: &str, tools: &[Tool], reference: &str) -> Table {
    let mut table = Table::new(&[
        head,
        "CPU µs/request, median",
        &format!("of {reference}'s"),
        "user + system",
        "min to max",
        "requests/s, median",
        "server CPU µs/request, median",
        "own memory MB, max",
    ]);
    let others = named(tools, reference);
    for tool in tools {
        let cpu = tool.sorted(|sample| sample.cpu_us());
        let ratio = others.map(|other| of_other(tool, other));
        let memory = tool.sorted(|sample| sample.own_bytes_max / 1e6);
        table.row(&[
            tool.name.clone(),
            format!("{:.2}", cpu[ROUNDS / 2]),
            format!("{:.2}", ratio.unwrap_or(f64::NAN)),
            format!(
                "{:.2} + {:.2}",
                tool.median(|sample| sample.user_us()),
                tool.median(|sample| sample.system_us())
            ),
            format!("{:.2} to {:.2}", cpu[0], cpu[ROUNDS - 1]),
            format!("{:.0}", tool.median(|sample| sample.reading.requests / sample.elapsed_s)),
            format!("{:.2}", tool.median(|sample| sample.server_us())),
            format!("{:.1}", memory[ROUNDS - 1]),
        ]);
    }
    table
}

/// CPU per request as a share of another tool's: the median of the rounds' ratios, so that a round
/// in which the machine was slow for both says as much as another.
pub(super) fn of_other(tool: &Tool, other: &Tool) -> f64 {
    let pairs = tool.samples.iter().zip(&other.samples);
    let mut ratios: Vec<f64> = pairs.map(|(own, theirs)| own.cpu_us() / theirs.cpu_us()).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
}
