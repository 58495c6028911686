//! `sojourn mock` beside a mock as it is usually written (fasthttp) and beside nginx.
//!
//! Each server has the first core, the client the last. Without latency wrk asks in a closed loop
//! over 64 connections; holding 700 ms, `sojourn run` keeps 8,000 requests held in an open one.
//! Rounds alternate between the servers. What counts is CPU per request of the server, and by how
//! much longer than 700 ms the client waits: both servers are measured by the same client, whose
//! own delays are in the figure.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::cpu;
use crate::bench::http::{pinned, wrks};
use crate::bench::served::Served;
use crate::bench::sojourn::build_sojourn;
use crate::bench::table::Table;
use crate::shell::{capture, find_on_path, root};

const ROUNDS: usize = 5;
const HOLD_ROUNDS: usize = 3;
const HOLD_MS: u64 = 700;
const HELD: u64 = 8000;

/// Requests that are held 700 ms and come as often as makes 8,000 held at a time.
const PLAN: &str = "
name: hold
target: ${URL}
journeys:
  get:
    root: { http: { method: GET, url: / }, expect: { status: 200 } }
load:
  - { journey: get, rate: \"${RATE}/s\", warmup: 4s, steady: 10s, drain: 5s }
health:
  { lag_p99_max: 60s, lag_share_max: 100%, missed_max: 100%, delivered_min: 0%, busy_max: 100% }
";

/// A server under test.
struct Tool {
    name: &'static str,
    program: PathBuf,
    /// Arguments for an address and a hold; `None`: it cannot hold.
    arguments: fn(&str, u64) -> Option<Vec<String>>,
    cpu_us: Vec<f64>,
    hold: Vec<Hold>,
}

/// A round of holding.
struct Hold {
    cpu_us: f64,
    over_p50_ms: f64,
    over_p99_ms: f64,
    bytes_per_held: f64,
    own_over_p99: String,
}

/// Runs the comparison.
pub(crate) fn compare() -> Result<Vec<Table>, String> {
    let needs = |program, hint: &str| {
        find_on_path(program).ok_or_else(|| format!("`{program}` is missing; {hint}"))
    };
    let packages = "try: apt-get install wrk nginx-light util-linux";
    let (wrk, nginx) = (needs("wrk", packages)?, needs("nginx", packages)?);
    needs("taskset", packages)?;
    let fasthttp = needs("fasthttp-mock", "bench/README.md says how to build it")?;
    let sojourn = build_sojourn()?;
    let folder = root().join("target/bench-mock");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    std::fs::write(folder.join("body.json"), "{\"status\":\"ok\"}")
        .map_err(|error| format!("body.json: {error}"))?;
    std::fs::write(folder.join("hold.yaml"), PLAN).map_err(|error| format!("plan: {error}"))?;
    let mut tools = [
        tool("sojourn mock", sojourn.clone(), ours),
        tool("fasthttp", fasthttp, fasthttps),
        tool("nginx return", nginx, |_, _| None),
    ];
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS}, without latency");
        for tool in &mut tools {
            let server = tool.serve(&folder, 0)?;
            tool.cpu_us.push(closed_loop(&wrk, &server)?);
        }
        tools.reverse();
    }
    for round in 1..=HOLD_ROUNDS {
        eprintln!("  round {round} of {HOLD_ROUNDS}, holding {HELD} requests");
        for tool in tools.iter_mut().filter(|tool| (tool.arguments)("", 1).is_some()) {
            let server = tool.serve(&folder, HOLD_MS)?;
            tool.hold.push(hold(&sojourn, &folder, &server)?);
        }
        tools.reverse();
    }
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.name));
    Ok(vec![table(&tools)])
}

fn tool(
    name: &'static str,
    program: PathBuf,
    arguments: fn(&str, u64) -> Option<Vec<String>>,
) -> Tool {
    Tool { name, program, arguments, cpu_us: Vec::new(), hold: Vec::new() }
}

fn ours(address: &str, hold_ms: u64) -> Option<Vec<String>> {
    let body = root().join("target/bench-mock/body.json").display().to_string();
    let latency = format!("{hold_ms}ms");
    let words =
        ["mock", "--quiet", "--threads", "1", "--listen", address, "--respond", &body, "--latency"];
    Some(words.into_iter().chain([latency.as_str()]).map(str::to_owned).collect())
}

fn fasthttps(address: &str, hold_ms: u64) -> Option<Vec<String>> {
    let delay = format!("{hold_ms}ms");
    Some(["-addr", address, "-delay", &delay].map(str::to_owned).to_vec())
}

impl Tool {
    fn serve(&self, folder: &Path, hold_ms: u64) -> Result<Served, String> {
        match (self.arguments)("", hold_ms) {
            None => Served::nginx(&self.program, folder),
            Some(_) => Served::start(&self.program, |address| {
                (self.arguments)(address, hold_ms).unwrap_or_default()
            }),
        }
    }
}

/// CPU of the server for each request of wrk's, microseconds.
fn closed_loop(wrk: &Path, server: &Served) -> Result<f64, String> {
    let before = cpu::of_process(server.pid())?;
    let output = capture(&mut pinned(wrk, &["-t1", "-c64", "-d5s", &server.url]))?;
    Ok((cpu::of_process(server.pid())? - before) as f64 / wrks(&output)?)
}

fn hold(sojourn: &Path, folder: &Path, server: &Served) -> Result<Hold, String> {
    let rate = HELD * 1000 / HOLD_MS;
    let (resident, _) = server.resident()?;
    let before = cpu::of_process(server.pid())?;
    let mut command = pinned(sojourn, &["run", "--quiet", "--format", "json"]);
    command
        .args(["-e", &format!("URL={}", server.url), "-e", &format!("RATE={rate}")])
        .args(["--connections", "20000", "--output"])
        .arg(folder.join("hold.sojourn"))
        .arg(folder.join("hold.yaml"));
    let report: Value =
        serde_json::from_str(&capture(&mut command)?).map_err(|error| error.to_string())?;
    let cpu_us = (cpu::of_process(server.pid())? - before) as f64;
    let (_, resident_max) = server.resident()?;
    let counts = &report["ledger"]["journeys_total"]["whole_run"];
    let (started, completed) = (counts["started"].as_f64(), counts["completed"].as_f64());
    if completed.is_none() || started != completed {
        return Err(format!("not every request was answered: {counts}"));
    }
    let step = &report["journeys"][0]["steps"][0]["service_ns"];
    let over_ms = |name: &str| step[name].as_f64().unwrap_or(f64::NAN) / 1e6 - HOLD_MS as f64;
    Ok(Hold {
        cpu_us: cpu_us / completed.unwrap_or(f64::NAN),
        over_p50_ms: over_ms("p50"),
        over_p99_ms: over_ms("p99"),
        bytes_per_held: (resident_max - resident) as f64 / HELD as f64,
        own_over_p99: own_overshoot(&server.get("/_sojourn/metrics")?),
    })
}

/// The bound below which 99 % of the overshoots are that the server itself has counted.
fn own_overshoot(metrics: &str) -> String {
    let name = "sojourn_mock_overshoot_seconds";
    let value = |line: &str| line.rsplit(' ').next().and_then(|word| word.parse::<f64>().ok());
    let all =
        metrics.lines().find(|line| line.starts_with(&format!("{name}_count"))).and_then(value);
    let Some(all) = all else {
        return "-".to_owned();
    };
    let prefix = format!("{name}_bucket{{le=\"");
    let bucket = metrics
        .lines()
        .filter(|line| line.starts_with(&prefix))
        .find(|line| value(line).is_some_and(|count| count >= 0.99 * all));
    let bound = bucket.and_then(|line| line.strip_prefix(&prefix)?.split('"').next());
    match bound.and_then(|bound| bound.parse::<f64>().ok()) {
        Some(seconds) => format!("≤ {} ms", seconds * 1000.0),
        None => "> 300 s".to_owned(),
    }
}

fn table(tools: &[Tool]) -> Table {
    let mut table = Table::new(&[
        "server",
        "CPU µs/request, 64 connections",
        "min to max",
        "CPU µs/request, 8,000 held",
        "overshoot p50 ms",
        "p99 ms",
        "as the server counts it, p99",
        "bytes per held request",
    ]);
    for tool in tools {
        let mut cpu = tool.cpu_us.clone();
        cpu.sort_by(f64::total_cmp);
        let median = |figure: fn(&Hold) -> f64| {
            let mut figures: Vec<f64> = tool.hold.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures.get(figures.len() / 2).copied()
        };
        let shown = |figure: Option<f64>, digits: usize| match figure {
            Some(figure) => format!("{figure:.digits$}"),
            None => "-".to_owned(),
        };
        table.row(&[
            tool.name.to_owned(),
            format!("{:.2}", cpu[ROUNDS / 2]),
            format!("{:.2} to {:.2}", cpu[0], cpu[ROUNDS - 1]),
            shown(median(|hold| hold.cpu_us), 2),
            shown(median(|hold| hold.over_p50_ms), 2),
            shown(median(|hold| hold.over_p99_ms), 2),
            tool.hold.first().map_or_else(|| "-".to_owned(), |hold| hold.own_over_p99.clone()),
            shown(median(|hold| hold.bytes_per_held), 0),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_own_overshoot_is_read_from_its_buckets() {
        let text = "sojourn_mock_overshoot_seconds_bucket{le=\"0.001\"} 98\n\
                    sojourn_mock_overshoot_seconds_bucket{le=\"0.0025\"} 99\n\
                    sojourn_mock_overshoot_seconds_bucket{le=\"+Inf\"} 100\n\
                    sojourn_mock_overshoot_seconds_count 100\n";
        assert_eq!(own_overshoot(text), "≤ 2.5 ms");
        assert_eq!(own_overshoot("404"), "-");
    }
}
