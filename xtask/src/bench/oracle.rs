//! Sojourn beside a queue of known theory: what `sojourn-cli`'s benchmark `oracle` prints, as a row
//! for each load and its verdicts.
//!
//! 80 s of 2,500 to 5,000 arrivals a second in each of six loads are two million services;
//! `SOJOURN_ORACLE_SECONDS` says otherwise. Mock and generator have real-time priority where that
//! may be had: what is compared is what they say of a request, not when the kernel lets them run.

use std::collections::HashMap;
use std::process::Command;

use super::{built, figure};
use crate::bench::table::Table;
use crate::shell::{command, show, succeeds};

const SECONDS: &str = "80";

/// The loads as the benchmark calls them, and as people do.
const LOADS: [(&str, &str); 6] = [
    ("mm1_50", "M/M/1, ρ = 0.5"),
    ("mm1_70", "M/M/1, ρ = 0.7"),
    ("mm1_90", "M/M/1, ρ = 0.9"),
    ("mm3_50", "M/M/3, ρ = 0.5"),
    ("mm3_70", "M/M/3, ρ = 0.7"),
    ("mm3_90", "M/M/3, ρ = 0.9"),
];

/// Runs it.
pub(super) fn compare() -> Result<Vec<Table>, String> {
    let mut command = at_real_time(built::benchmark_command("sojourn-cli", "oracle")?);
    if std::env::var_os("SOJOURN_ORACLE_SECONDS").is_none() {
        command.env("SOJOURN_ORACLE_SECONDS", SECONDS);
    }
    let shown = show(&command);
    command.stderr(std::process::Stdio::inherit());
    // A limit that is missed makes its exit code 1, and is to be seen in the table.
    let output = command.output().map_err(|error| format!("`{shown}`: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    tables(&said).ok_or_else(|| format!("`{shown}` has not measured every load:\n{said}"))
}

/// The command with a real-time priority, or as it is where there is none to be had.
fn at_real_time(plain: Command) -> Command {
    const CHRT: [&str; 2] = ["--fifo", "10"];
    if !succeeds(command("chrt", &CHRT).arg("true")) {
        eprintln!(
            "  no real-time priority here (`chrt`): the machine's own doings are measured too"
        );
        return plain;
    }
    let mut real_time = command("chrt", &CHRT);
    real_time.arg(plain.get_program()).args(plain.get_args());
    plain.get_current_dir().map(|folder| real_time.current_dir(folder));
    real_time
}

/// A row for each load, and one for each limit; `None`: a load is missing.
fn tables(output: &str) -> Option<Vec<Table>> {
    let figures: HashMap<&str, &str> =
        output.lines().filter_map(figure).map(|[name, value, _]| (name, value)).collect();
    let mut table = Table::new(&[
        "load",
        "arrivals/s",
        "services",
        "mismatches with Lindley",
        "agreement µs: p50",
        "p99",
        "mean µs: theory",
        "truth",
        "measured",
        "p99 µs: theory",
        "truth",
        "measured",
    ]);
    for (load, name) in LOADS {
        let of = |what: &str| figures.get(format!("oracle.{load}.{what}").as_str()).copied();
        table.row(&[
            name,
            of("arrivals_per_s")?,
            of("services")?,
            of("lindley_mismatches")?,
            of("added_p50")?,
            of("added_p99")?,
            of("mean_theory")?,
            of("mean_truth")?,
            of("mean_measured")?,
            of("p99_theory")?,
            of("p99_truth")?,
            of("p99_measured")?,
        ]);
    }
    let mut verdicts = Table::new(&["load", "limit", "measured", "verdict"]);
    for line in output.lines().filter_map(|line| line.strip_prefix("verdict oracle.")) {
        let mut parts = line.split(": ");
        let (load, limit, measured, verdict) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (_, name) = LOADS.into_iter().find(|(known, _)| *known == load)?;
        let measured = measured.replace(" us in ", " µs in ");
        verdicts.row(&[name, limit, measured.trim(), verdict]);
    }
    Some(vec![table, verdicts])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_rows_and_verdicts_are_shown() {
        let names = [
            "arrivals_per_s",
            "services",
            "lindley_mismatches",
            "added_p50",
            "added_p99",
            "mean_theory",
            "mean_truth",
            "mean_measured",
            "p99_theory",
            "p99_truth",
            "p99_measured",
        ];
        let line = |(load, _): (&str, &str)| {
            names.map(|name| format!("oracle.{load}.{name} 7 us\n")).concat()
        };
        let mut output: String = LOADS.into_iter().map(line).collect();
        output.push_str("verdict oracle.mm3_90: agreement p99: 250.0 us in 0.0 to 200.0: MISSED\n");
        let shown = tables(&output).unwrap().iter().map(ToString::to_string).collect::<String>();
        assert_eq!(shown.matches("M/M/").count(), 7, "{shown}");
        assert!(shown.contains("250.0 µs in 0.0 to 200.0 | MISSED"), "{shown}");
        assert!(tables(&output.replace("oracle.mm3_50.services", "x")).is_none());
    }
}
