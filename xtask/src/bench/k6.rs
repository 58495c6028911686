//! `sojourn k6` beside k6: the same scripts, the same nginx, one run.
//!
//! nginx has the first core; the tools may use all, as their users let them. Rounds alternate.
//! Processor time and peak memory are those of the tools' processes, medians over rounds.

mod arriving;
mod soak;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::bench::built;
use crate::bench::cpu;
use crate::bench::served::Served;
use crate::bench::table::Table;
use crate::phase::now;
use crate::shell::{command, find_on_path, root};

const ROUNDS: usize = 3;

/// `http.get` and `check`, closed loop.
const CLOSED: &str = "
import http from 'k6/http';
import { check } from 'k6';
export const options = { vus: 64, duration: '5s' };
export default function () {
    const answer = http.get(__ENV.BASE);
    check(answer, { 'status is 200': (a) => a.status === 200 });
}
";

/// Users that mostly sleep.
const SLEEPING: &str = "
import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = { vus: Number(__ENV.USERS), duration: '10s' };
export default function () {
    const answer = http.get(__ENV.BASE);
    check(answer, { 'status is 200': (a) => a.status === 200 });
    sleep(1);
}
";

/// Users that do nothing, once.
const STARTING: &str = "
export const options = { vus: 10000, iterations: 10000 };
export default function () {}
";

/// 100 MB that 100 users share; each looks at some.
const SHARED: &str = "
import { SharedArray } from 'k6/data';
const rows = new SharedArray('rows', () =>
    Array.from({ length: 100000 }, (_, i) => ({ id: i, text: 'x'.repeat(980) })));
export const options = { vus: 100, iterations: 1000 };
export default function () {
    const row = rows[(__VU * 977 + __ITER) % rows.length];
    if (row.text.length !== 980) throw new Error('a row is not whole');
}
";

/// What one run of a tool has cost and said.
struct Run {
    wall_s: f64,
    cpu_s: f64,
    peak_kb: f64,
    summary: Value,
}

impl Run {
    /// A figure of the exported summary.
    fn figure(&self, metric: &str, name: &str) -> f64 {
        self.summary["metrics"][metric][name].as_f64().unwrap_or(0.0)
    }
}

/// The two tools, ours first.
struct Tools {
    programs: [(&'static str, PathBuf, &'static [&'static str]); 2],
    folder: PathBuf,
    base: String,
}

/// Runs the comparison.
pub(crate) fn compare() -> Result<Vec<Table>, String> {
    let needs = |program, hint: &str| {
        find_on_path(program).ok_or_else(|| format!("`{program}` is missing; {hint}"))
    };
    let nginx = needs("nginx", "try: apt-get install nginx-light util-linux")?;
    needs("taskset", "try: apt-get install util-linux")?;
    let k6 = needs("k6", "bench/README.md says where it is from")?;
    needs("time", "try: apt-get install time")?;
    let sojourn = built::sojourn()?;
    let folder = root().join("target/bench-k6");
    let server = Served::nginx(&nginx, &folder)?;
    let programs = [
        ("sojourn", sojourn, &["k6", "run"] as &[_]),
        ("k6", k6, &["run", "--no-usage-report"] as &[_]),
    ];
    let tools = Tools { programs, folder, base: server.url.clone() };
    let mut alone = Table::new(&["work", "figure", "sojourn", "k6", "limit of sojourn"]);
    // First: the kernel is busy for a while with what ten thousand users leave behind.
    arriving::measure(&tools, &mut alone)?;
    let mut ratios = Table::new(&["work", "figure", "sojourn", "k6", "ratio", "limit"]);
    closed(&tools, &mut ratios)?;
    sleeping(&tools, &mut ratios)?;
    starting(&tools, &mut ratios)?;
    many(&tools, &mut alone)?;
    shared(&tools, &mut alone)?;
    Ok(vec![ratios, alone, soak::soak(&tools)?])
}

fn closed(tools: &Tools, table: &mut Table) -> Result<(), String> {
    let cost = |run: &Run| run.cpu_s * 1e6 / run.figure("iterations", "count").max(1.0);
    let [ours, theirs] = tools.medians("closed", CLOSED, &[], cost)?;
    row(table, "64 users, get and check", "µs of CPU an iteration", (ours, theirs), 0.35);
    Ok(())
}

fn sleeping(tools: &Tools, table: &mut Table) -> Result<(), String> {
    let users = ["-e", "USERS=1000"];
    let [ours, theirs] = tools.medians("sleeping", SLEEPING, &users, |run| run.peak_kb / 1024.0)?;
    row(table, "1,000 users with sleep", "MB at most", (ours, theirs), 0.85);
    Ok(())
}

fn starting(tools: &Tools, table: &mut Table) -> Result<(), String> {
    let [ours, theirs] = tools.medians("starting", STARTING, &[], |run| run.wall_s)?;
    row(table, "10,000 users made, run once", "s", (ours, theirs), 0.5);
    Ok(())
}

/// Users at 10,000, ours alone: k6 has its figure at 1,000.
fn many(tools: &Tools, table: &mut Table) -> Result<(), String> {
    let run = |users: &str| tools.run(0, "sleeping", SLEEPING, &["-e", users]);
    let (few, many) = (run("USERS=10")?, run("USERS=10000")?);
    let each_kb = (many.peak_kb - few.peak_kb) / 9_990.0;
    let limit = verdict(each_kb, 240.0);
    table.row(&["10,000 users with sleep", "KB a user", &format!("{each_kb:.0}"), "", &limit]);
    Ok(())
}

fn shared(tools: &Tools, table: &mut Table) -> Result<(), String> {
    let peak = |tool| Ok::<_, String>(tools.run(tool, "shared", SHARED, &[])?.peak_kb / 1024.0);
    let (ours, theirs) = (peak(0)?, peak(1)?);
    let figures = [format!("{ours:.0}"), format!("{theirs:.0}")];
    let work = "SharedArray of 100 MB, 100 users";
    table.row(&[work, "MB at most", &figures[0], &figures[1], "its size once, while made twice"]);
    Ok(())
}

fn row(table: &mut Table, work: &str, figure: &str, (ours, theirs): (f64, f64), limit: f64) {
    let ratio = ours / theirs;
    table.row(&[
        work.to_owned(),
        figure.to_owned(),
        format!("{ours:.2}"),
        format!("{theirs:.2}"),
        format!("{ratio:.2}"),
        verdict(ratio, limit),
    ]);
}

/// What is not a number holds nothing.
fn verdict(value: f64, limit: f64) -> String {
    format!("≤ {limit}: {}", if value <= limit { "holds" } else { "MISSED" })
}

impl Tools {
    /// Medians of a figure of both tools.
    fn medians(
        &self,
        name: &str,
        script: &str,
        flags: &[&str],
        figure: impl Fn(&Run) -> f64,
    ) -> Result<[f64; 2], String> {
        Ok(medians(&self.rounds(name, script, flags)?, figure))
    }

    /// Runs of both tools, taking turns.
    fn rounds(&self, name: &str, script: &str, flags: &[&str]) -> Result<[Vec<Run>; 2], String> {
        let mut runs = [Vec::new(), Vec::new()];
        for round in 1..=ROUNDS {
            eprintln!("  {name}, round {round} of {ROUNDS}");
            for (tool, runs) in runs.iter_mut().enumerate() {
                runs.push(self.run(tool, name, script, flags)?);
            }
        }
        Ok(runs)
    }

    fn run(&self, tool: usize, name: &str, script: &str, flags: &[&str]) -> Result<Run, String> {
        let (shown, program, words) = &self.programs[tool];
        let path = |ending: &str| self.folder.join(format!("{name}.{ending}"));
        let (script_path, summary, times) = (path("js"), path("json"), path("time"));
        let explain = |error: std::io::Error| format!("{shown}, {name}: {error}");
        std::fs::write(&script_path, script).map_err(explain)?;
        let before_us = cpu::of_ended_children()?;
        let began = now();
        let status = command("/usr/bin/time", &["-f", "%M", "-o"])
            .arg(&times)
            .arg(program)
            .args(*words)
            .args(["--quiet", "--summary-export"])
            .arg(&summary)
            .args(["-e", &format!("BASE={}", self.base), "-e", &format!("TOOL={shown}")])
            .args(flags)
            .arg(&script_path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(explain)?;
        let wall_s = began.elapsed().as_secs_f64();
        if !status.success() {
            return Err(format!("{shown}, {name}: {status}"));
        }
        let cpu_s = (cpu::of_ended_children()? - before_us) as f64 / 1e6;
        let peak_kb = number(&times)?;
        let summary = std::fs::read_to_string(&summary).map_err(explain)?;
        let summary = serde_json::from_str(&summary).map_err(|error| error.to_string())?;
        Ok(Run { wall_s, cpu_s, peak_kb, summary })
    }
}

fn medians(rounds: &[Vec<Run>; 2], figure: impl Fn(&Run) -> f64) -> [f64; 2] {
    rounds.each_ref().map(|runs| {
        let mut figures: Vec<f64> = runs.iter().map(&figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    })
}

fn number(path: &Path) -> Result<f64, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let last = text.lines().last().unwrap_or_default().trim();
    last.parse().map_err(|_| format!("{}: `{last}` is no number", path.display()))
}
