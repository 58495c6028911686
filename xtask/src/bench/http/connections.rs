//! What an open connection costs in memory: 9,000 of them, each with a request a second.
//!
//! Our mock holds every answer for a second, so that as many connections are open as requests come
//! a second. The same with a tenth of them is the base: the difference, divided by the connections
//! more, is what one costs.

use std::path::Path;

use super::outputs::{attacks, whole_runs};
use super::tool::Tool;
use super::{attack, needs, pinned, scratch};
use crate::bench::built;
use crate::bench::limits::Limits;
use crate::bench::served::Served;
use crate::bench::table::Table;

const MANY: u32 = 9_000;
const FEW: u32 = 900;
/// What one may take.
const EACH_BYTES_MAX: f64 = 2_000.0;

/// Users who ask, wait a second for their answer and ask again.
const PLAN: &str = "
name: held
target: ${URL}
journeys:
  get:
    root: { http: { method: GET, url: / }, expect: { status: 200 } }
load:
  - journey: get
    users: ${USERS}
    steady: 6s
    until: root
health:
  { lag_p99_max: 60s, lag_share_max: 100%, missed_max: 100%, delivered_min: 0%, busy_max: 100% }
";

/// Runs the comparison.
pub(in crate::bench) fn compare() -> Result<Vec<Table>, String> {
    needs("taskset")?;
    let sojourn = built::sojourn()?;
    let plan = scratch("held.yaml");
    std::fs::create_dir_all(scratch("")).map_err(|error| format!("target: {error}"))?;
    std::fs::write(&plan, PLAN).map_err(|error| format!("{}: {error}", plan.display()))?;
    let server = Served::start(&sojourn, |address| {
        let words = ["mock", "--quiet", "--threads", "1", "--latency", "1s", "--listen", address];
        words.map(str::to_owned).to_vec()
    })?;
    let mut table = Table::new(&[
        "9,000 connections, a request a second each",
        "bytes of own memory per connection",
        "MB with 900",
        "MB with 9,000",
        "CPU µs/request",
    ]);
    let mut limits = Limits::of("open connections");
    for way in ["epoll", "ring"] {
        for (name, make) in [("attack", attacking as Make), ("run", running)] {
            let mut measured = Vec::new();
            for count in [FEW, MANY] {
                let mut tool = make(&sojourn, &plan, count, way);
                for _ in 0..3 {
                    tool.sample(&server, &server.url)?;
                }
                measured.push(tool);
            }
            let bytes = |tool: &Tool| tool.median(|sample| sample.own_bytes_max);
            let (few, many) = (bytes(&measured[0]), bytes(&measured[1]));
            let each = (many - few) / f64::from(MANY - FEW);
            let limit = format!("own memory per connection, {name} on {way}, ≤ 2 KB");
            limits.at_most(&limit, Some(each), " bytes", EACH_BYTES_MAX);
            table.row(&[
                format!("sojourn {name}, {way}"),
                format!("{each:.0}"),
                format!("{:.1}", few / 1e6),
                format!("{:.1}", many / 1e6),
                format!("{:.2}", measured[1].median(|sample| sample.cpu_us())),
            ]);
        }
    }
    Ok(vec![table, limits.table()])
}

type Make = fn(&Path, &Path, u32, &'static str) -> Tool;

fn attacking(program: &Path, _plan: &Path, count: u32, way: &'static str) -> Tool {
    let (program, output) = (program.to_path_buf(), scratch("held.sojourn"));
    let (reader, written) = (program.clone(), output.clone());
    let command = move |url: &str| {
        let rate = count.to_string();
        let flags = ["-rate", &rate, "-duration", "6s", "-connections", "20000", "-io", way];
        attack(&program, url, &flags, &output)
    };
    Tool::new("attack", command, move |_| attacks(&reader, &written))
}

fn running(program: &Path, plan: &Path, count: u32, way: &'static str) -> Tool {
    let (program, plan) = (program.to_path_buf(), plan.to_path_buf());
    let command = move |url: &str| {
        let (target, users) = (format!("URL={url}"), format!("USERS={count}"));
        let mut command = pinned(&program, &["run", "--quiet", "--format", "json", "--io", way]);
        command.args(["--connections", "20000", "-e", &target, "-e", &users, "--output"]);
        command.arg(scratch("held-run.sojourn")).arg(&plan);
        command
    };
    Tool::new("run", command, whole_runs)
}
