//! `cargo xtask bench`: the crates' benchmarks, our HTTP client beside wrk and h2load, our mock
//! beside others, our figures beside a queue of known theory, our scripts beside k6's, our sessions
//! beside our attack, an attack that is looked at beside one that is not, our `report` beside
//! Vegeta's, and the brokers' taps beside bare clients.
//!
//! A crate's benchmark is a `benches/*.rs` with `harness = false` whose `main` prints one
//! `name value unit` a line; other lines are shown but not collected. Everything is built with the
//! `dist` profile, as published binaries are.

mod awake;
mod brokers;
mod built;
mod clients;
mod cpu;
mod http;
mod k6;
mod limits;
mod live;
mod merge;
mod mock;
mod oracle;
mod record;
mod results;
mod served;
mod table;

use crate::bench::table::Table;
use crate::metadata::workspace;
use crate::phase::phase;
use crate::shell::capture;
use crate::{Failure, shell::root};

/// A comparison with another tool.
type Comparison = fn() -> Result<Vec<Table>, String>;

/// The comparisons, by names that are no crate's benchmarks.
const COMPARISONS: [(&str, Comparison); 12] = [
    ("http", http::compare_closed),
    ("paced", http::compare_paced),
    ("connections", http::compare_connections),
    ("http2", http::compare_http2),
    ("soak", http::compare_soak),
    ("mock", mock::compare),
    ("oracle", oracle::compare),
    ("k6", k6::compare),
    ("results", results::compare),
    ("clients", clients::compare),
    ("live", live::compare),
    ("brokers", brokers::compare),
];
/// Run by the comparison with a server to talk to; alone it has nothing to do.
const CLOSED_LOOP: &str = "closed_loop";
/// Run by comparisons: that one, and one whose figures make a table of their own.
const DRIVEN: [&str; 2] = [CLOSED_LOOP, "oracle"];
/// Run by the comparison `live`; by itself when asked for by name.
const OF_LIVE: &str = "interaction";
/// Of the connectors, run by the comparison `brokers`; one by one when asked for by name.
const OF_BROKERS: &str = "tap";

/// Runs the benchmarks named by crate or benchmark, or all of them.
pub(crate) fn run(options: &[&str]) -> Result<(), Failure> {
    let is_flag = |option: &&&str| option.starts_with('-');
    if let Some(flag) = options.iter().filter(is_flag).find(|flag| **flag != "--record") {
        return Err(Failure::usage(&format!("`{flag}` is no option of bench")));
    }
    let is_recorded = options.contains(&"--record");
    let names: Vec<&str> = options.iter().copied().filter(|o| !o.starts_with('-')).collect();
    let benches = find(&names)?;
    let is_wanted = |name: &str| names.is_empty() || names.contains(&name);
    if benches.is_empty() && !COMPARISONS.iter().any(|(name, _)| is_wanted(name)) {
        return Err(Failure::usage(&format!("no benchmark is named {}", names.join(" or "))));
    }
    if !benches.is_empty() {
        let mut table = Table::new(&["benchmark", "value", "unit"]);
        for (package, bench) in &benches {
            let output = phase(&format!("bench {bench}"), || measure(package, bench))?;
            for [name, value, unit] in output.lines().filter_map(figure) {
                table.row(&[name, value, unit]);
            }
        }
        println!("{table}");
        if is_recorded {
            match names.as_slice() {
                [] => record::write(&root(), "crates", &table.to_string())?,
                // Some of them: the others' rows stay.
                _ => record::merge(&root(), "crates", &table)?,
            }
        }
    }
    let mut missed = Vec::new();
    for (name, compare) in COMPARISONS.into_iter().filter(|(name, _)| is_wanted(name)) {
        let tables = phase(&format!("bench {name}"), compare)?;
        let shown = tables.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        println!("{shown}");
        if is_recorded {
            record::write(&root(), name, &shown)?;
        }
        missed.extend(tables.iter().flat_map(Table::missed).map(|row| format!("{name}: {row}")));
    }
    match missed.is_empty() {
        true => Ok(()),
        false => Err(Failure::Check(format!("limits missed:\n  {}", missed.join("\n  ")))),
    }
}

/// (package, benchmark) of those wanted.
fn find(names: &[&str]) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for package in workspace()? {
        for target in package.targets.iter().filter(|target| target.kind == "bench") {
            let is_wanted = |name: &&str| *name == package.name || *name == target.name;
            let is_usual = names.is_empty() && ![OF_BROKERS, OF_LIVE].contains(&&*target.name);
            if !DRIVEN.contains(&target.name.as_str()) && (is_usual || names.iter().any(is_wanted))
            {
                found.push((package.name.clone(), target.name.clone()));
            }
        }
    }
    Ok(found)
}

fn measure(package: &str, bench: &str) -> Result<String, String> {
    let output = capture(&mut built::benchmark_command(package, bench)?)?;
    for line in output.lines().filter(|line| figure(line).is_none()) {
        eprintln!("  {line}");
    }
    Ok(output)
}

/// Reads `name value unit`.
fn figure(line: &str) -> Option<[&str; 3]> {
    let mut words = line.split_whitespace();
    let figure = [words.next()?, words.next()?, words.next()?];
    let is_number = figure[1].parse::<f64>().is_ok_and(f64::is_finite);
    (words.next().is_none() && is_number).then_some(figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_from_words() {
        assert_eq!(figure("codec.parse 310.5 ns"), Some(["codec.parse", "310.5", "ns"]));
        for other in ["", "codec.parse 310.5", "nothing to do", "a 1 b c", "a NaN b"] {
            assert_eq!(figure(other), None, "{other}");
        }
    }

    #[test]
    fn unknown_names_and_flags_are_wrong_usage() {
        assert!(matches!(run(&["no-such-benchmark"]), Err(Failure::Usage(_))));
        assert!(matches!(run(&["--fast"]), Err(Failure::Usage(_))));
    }
}
