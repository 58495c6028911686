//! `sojourn mock` beside a mock as it is usually written (fasthttp) and beside nginx.
//!
//! Each server has the first core, the client the last. Without latency wrk asks in a closed loop
//! over 64 connections; holding 700 ms, `sojourn run` keeps 8,000 requests held in an open one.
//! Rounds alternate between the servers. What counts is CPU per request of the server, and by how
//! much longer than 700 ms it holds an answer. Ours counts that itself, and that is what its limit
//! means; beside it stands how much longer the client waits, by which the servers are compared: the
//! client's own delays are in that figure, and its lag tells how large they are.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::built;
use crate::bench::cpu;
use crate::bench::http::{pinned, wrks};
use crate::bench::limits::Limits;
use crate::bench::served::Served;
use crate::bench::table::Table;
use crate::shell::{capture, find_on_path, root};

const ROUNDS: usize = 5;
const HOLD_ROUNDS: usize = 3;
const HOLD_MS: u64 = 700;
const HELD: u64 = 8000;
/// By how much longer than asked for our mock may hold, 99 times of 100.
const OVERSHOOT_MS_MAX: f64 = 5.0;
/// Memory of the mock for each request that it holds.
const HELD_BYTES_MAX: f64 = 4096.0;

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
    lag_p99_ms: f64,
    bytes_per_held: f64,
    /// As the server counts it, if it does.
    own_over_p99_ms: Option<f64>,
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
    let sojourn = built::sojourn()?;
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
    Ok(vec![table(&tools), verdicts(&tools)])
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
        lag_p99_ms: report["health"]["lag_ns"]["p99"].as_f64().unwrap_or(f64::NAN) / 1e6,
        own_over_p99_ms: own_overshoot_ms(&server.get("/_sojourn/metrics")?),
    })
}

/// What 99 % of the overshoots that the server itself has counted do not exceed, milliseconds.
fn own_overshoot_ms(metrics: &str) -> Option<f64> {
    let prefix = "sojourn_mock_overshoot_quantile_seconds{quantile=\"0.99\"} ";
    let seconds = metrics.lines().find_map(|line| line.strip_prefix(prefix))?;
    seconds.parse::<f64>().ok().map(|seconds| seconds * 1e3)
}

/// The median of a figure of the rounds, if there are such.
fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

impl Tool {
    fn of_holds(&self, figure: fn(&Hold) -> f64) -> Option<f64> {
        median(self.hold.iter().map(figure))
    }

    fn own_over_p99_ms(&self) -> Option<f64> {
        median(self.hold.iter().filter_map(|hold| hold.own_over_p99_ms))
    }
}

fn table(tools: &[Tool]) -> Table {
    let mut table = Table::new(&[
        "server",
        "CPU µs/request, 64 connections",
        "min to max",
        "CPU µs/request, 8,000 held",
        "overshoot p99 ms, as the server counts it",
        "as the client sees it: p50 ms",
        "p99 ms",
        "client's lag p99 ms",
        "p99 ms less the lag",
        "bytes per held request",
    ]);
    for tool in tools {
        let mut cpu = tool.cpu_us.clone();
        cpu.sort_by(f64::total_cmp);
        let shown = |figure: Option<f64>, digits: usize| match figure {
            Some(figure) => format!("{figure:.digits$}"),
            None => "-".to_owned(),
        };
        table.row(&[
            tool.name.to_owned(),
            format!("{:.2}", cpu[ROUNDS / 2]),
            format!("{:.2} to {:.2}", cpu[0], cpu[ROUNDS - 1]),
            shown(tool.of_holds(|hold| hold.cpu_us), 2),
            shown(tool.own_over_p99_ms(), 2),
            shown(tool.of_holds(|hold| hold.over_p50_ms), 2),
            shown(tool.of_holds(|hold| hold.over_p99_ms), 2),
            shown(tool.of_holds(|hold| hold.lag_p99_ms), 2),
            shown(tool.of_holds(|hold| hold.over_p99_ms - hold.lag_p99_ms), 2),
            shown(tool.of_holds(|hold| hold.bytes_per_held), 0),
        ]);
    }
    table
}

/// The limits of our mock, and whether they hold.
fn verdicts(tools: &[Tool]) -> Table {
    let mut limits = Limits::of("sojourn mock");
    let named = |name: &str| tools.iter().find(|tool| tool.name == name);
    let Some(ours) = named("sojourn mock") else { return limits.table() };
    let limit = format!("overshoot p99 as it counts it ≤ {OVERSHOOT_MS_MAX} ms");
    limits.at_most(&limit, ours.own_over_p99_ms(), " ms", OVERSHOOT_MS_MAX);
    let of_other = |name: &str, of: fn(&Tool) -> Option<f64>| {
        named(name).and_then(of).zip(of(ours)).map(|(other, own)| own / other)
    };
    let plain = |tool: &Tool| median(tool.cpu_us.iter().copied());
    limits.at_most("CPU per request ≤ 0.92 × fasthttp's", of_other("fasthttp", plain), " ×", 0.92);
    limits.at_most("CPU per request ≤ 1.0 × nginx's", of_other("nginx return", plain), " ×", 1.0);
    let ratio = of_other("fasthttp", |tool| tool.of_holds(|hold| hold.cpu_us));
    limits.at_most("CPU per request, 8,000 held, ≤ 0.6 × fasthttp's", ratio, " ×", 0.6);
    let held = ours.of_holds(|hold| hold.bytes_per_held);
    limits.at_most("memory per held request ≤ 4 KiB", held, " bytes", HELD_BYTES_MAX);
    limits.table()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_own_overshoot_is_read_from_its_quantiles() {
        let text = "sojourn_mock_overshoot_seconds_bucket{le=\"0.0025\"} 99\n\
                    sojourn_mock_overshoot_quantile_seconds{quantile=\"0.9\"} 0.0001\n\
                    sojourn_mock_overshoot_quantile_seconds{quantile=\"0.99\"} 0.0023\n";
        assert_eq!(own_overshoot_ms(text), Some(2.3));
        assert_eq!(own_overshoot_ms("404"), None);
    }

    #[test]
    fn a_limit_holds_or_is_missed_by_the_servers_own_count() {
        let hold = |own_over_p99_ms, cpu_us| Hold {
            cpu_us,
            over_p50_ms: 0.4,
            over_p99_ms: 7.8,
            lag_p99_ms: 4.0,
            bytes_per_held: 200.0,
            own_over_p99_ms,
        };
        let tool = |name, cpu_us, own, holds: f64| Tool {
            name,
            program: PathBuf::new(),
            arguments: ours,
            cpu_us: vec![cpu_us; ROUNDS],
            hold: vec![hold(own, holds)],
        };
        let of = |own| {
            let tools = [
                tool("sojourn mock", 7.0, Some(own), 30.0),
                tool("fasthttp", 9.5, None, 52.0),
                tool("nginx return", 7.4, None, 1.0),
            ];
            let shown = verdicts(&tools).to_string();
            shown.lines().skip(2).map(|line| line.contains("holds")).collect::<Vec<_>>()
        };
        assert_eq!(of(4.9), [true; 5]);
        assert_eq!(of(5.1), [false, true, true, true, true]);
    }
}
