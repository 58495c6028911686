//! `report` on a million results beside Vegeta's, on the same file.
//!
//! Rounds alternate between the tools. What counts is processor time: user and system of the
//! process, as the kernel accounts it, in ticks of 10 ms; the faster tool runs several times in a
//! round, so that ticks matter as little to it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::{cpu, limits::Limits, table::Table};
use crate::shell::{capture, find_on_path, root, show};

const RECORDS: u64 = 1_000_000;
const ROUNDS: usize = 5;

/// What a small server answers: 15 bytes and five headers, in Base64.
const BODY: &str = "aGVsbG8sIHNvam91cm4K";
const HEADERS: &str = "\
    Q29ubmVjdGlvbjoga2VlcC1hbGl2ZQ0KQ29udGVudC1MZW5ndGg6IDE1DQpDb250ZW50LVR5cGU6IHRl\
    eHQvcGxhaW4NCkRhdGU6IFNhdCwgMjEgTm92IDIwMjYgMTg6NTQ6MjkgR01UDQpTZXJ2ZXI6IG5naW54\
    LzEuMjIuMQ0KDQo=";

/// A tool under test.
struct Tool {
    name: &'static str,
    program: PathBuf,
    /// Runs in a round.
    runs: u64,
    /// Processor time of one run, microseconds, of each round.
    samples_us: Vec<f64>,
}

/// Runs the comparison.
pub(crate) fn compare() -> Result<Vec<Table>, String> {
    let vegeta = find_on_path("vegeta")
        .ok_or("`vegeta` is missing; put its folder on PATH (github.com/tsenart/vegeta)")?;
    let sojourn = super::built::sojourn()?;
    let file = make(&sojourn)?;
    let mut tools = [
        Tool { name: "sojourn report", program: sojourn, runs: 5, samples_us: Vec::new() },
        Tool { name: "vegeta report", program: vegeta, runs: 1, samples_us: Vec::new() },
    ];
    let mut first_report = None;
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS}");
        for tool in &mut tools {
            let report = sample(tool, &file)?;
            let expected = first_report.get_or_insert_with(|| report.clone());
            if *expected != report {
                let name = tool.name;
                return Err(format!("{name} printed another report:\n{report}\nnot\n{expected}"));
            }
        }
        tools.reverse();
    }
    tools.sort_by_key(|tool| tool.name);
    let [ours, vegetas] = &tools;
    let mut limits = Limits::of("sojourn report");
    let times = ours.sorted_s()[ROUNDS / 2].recip() * vegetas.sorted_s()[ROUNDS / 2];
    limits.at_least("results per CPU second ≥ 5 × Vegeta's", Some(times), " ×", 5.0);
    Ok(vec![table(&tools), limits.table()])
}

impl Tool {
    /// Processor time of a run, seconds, in order.
    fn sorted_s(&self) -> Vec<f64> {
        let mut seconds: Vec<f64> = self.samples_us.iter().map(|us| us / 1e6).collect();
        seconds.sort_by(f64::total_cmp);
        seconds
    }
}

/// Runs a round of a tool; what it printed.
fn sample(tool: &mut Tool, file: &Path) -> Result<String, String> {
    let before_us = cpu::of_ended_children()?;
    let mut report = String::new();
    for _ in 0..tool.runs {
        let mut command = Command::new(&tool.program);
        report = capture(command.arg("report").arg(file).stdin(Stdio::null()))?;
    }
    let used_us = (cpu::of_ended_children()? - before_us) as f64;
    tool.samples_us.push(used_us / tool.runs as f64);
    Ok(report)
}

fn table(tools: &[Tool]) -> Table {
    let mut table = Table::new(&[
        "report on 1,000,000 results (gob)",
        "CPU s, median",
        "min to max",
        "results per CPU second, median",
    ]);
    for tool in tools {
        let seconds = tool.sorted_s();
        let median = seconds[ROUNDS / 2];
        table.row(&[
            tool.name.to_owned(),
            format!("{median:.3}"),
            format!("{:.3} to {:.3}", seconds[0], seconds[ROUNDS - 1]),
            format!("{:.0}", RECORDS as f64 / median),
        ]);
    }
    table
}

/// Makes the file: like an attack at 10,000 requests a second on a server with exponential response
/// times, of which one in a hundred fails.
fn make(sojourn: &Path) -> Result<PathBuf, String> {
    let file = root().join("target/bench-results").join("results.bin");
    let explain = |error: std::io::Error| format!("{}: {error}", file.display());
    std::fs::create_dir_all(file.parent().unwrap_or(&file)).map_err(explain)?;
    let out = File::create(&file).map_err(explain)?;
    let mut encode = Command::new(sojourn);
    encode.args(["encode", "-to", "gob"]).stdin(Stdio::piped()).stdout(out);
    let shown = show(&encode);
    let mut process = encode.spawn().map_err(|error| format!("`{shown}`: {error}"))?;
    if let Some(stdin) = process.stdin.take() {
        write_results(&mut BufWriter::new(stdin)).map_err(|error| format!("`{shown}`: {error}"))?;
    }
    let status = process.wait().map_err(explain)?;
    if status.success() { Ok(file) } else { Err(format!("`{shown}` ended with {status}")) }
}

/// Results as CSV.
fn write_results(out: &mut impl Write) -> std::io::Result<()> {
    let mut state = 1u64;
    for seq in 0..RECORDS {
        const FACTOR: u64 = 6_364_136_223_846_793_005;
        state = state.wrapping_mul(FACTOR).wrapping_add(1_442_695_040_888_963_407);
        let share = ((state >> 40) as f64 + 0.5) / (1u64 << 24) as f64;
        let latency_ns = 40_000 - (share.ln() * 300_000.0) as i64;
        let unix_ns = 1_700_000_000_000_000_000 + seq * 100_000 + (state >> 50);
        let is_failure = state >> 33 & 127 == 0;
        let (code, error) = if is_failure { (503, "503 Service Unavailable") } else { (200, "") };
        writeln!(
            out,
            "{unix_ns},{code},{latency_ns},0,15,{error},{BODY},bench,{seq},GET,\
             http://127.0.0.1:8080/,{HEADERS}"
        )?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_per_run_and_second() {
        let samples_us = vec![200_000.0, 250_000.0, 190_000.0, 210_000.0, 205_000.0];
        let tool = Tool { name: "a", program: PathBuf::new(), runs: 5, samples_us };
        let text = table(&[tool]).to_string();
        assert!(text.contains("| 0.205 "), "{text}");
        assert!(text.contains("| 0.190 to 0.250 |") && text.contains("| 4878049 "), "{text}");
    }
}
