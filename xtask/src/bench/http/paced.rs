//! Paced: 10,000 requests a second, evenly spaced, on few connections.
//!
//! Beside Vegeta, ours writes what Vegeta writes, a record per request; beside oha, which writes
//! only a summary, a run file.

use std::path::Path;

use super::closed::{named, of_other};
use super::outputs::{attacks, ohas};
use super::tool::{Tool, run_rounds};
use super::{SECONDS, attack, needs, nginx, pinned, scratch};
use crate::bench::built;
use crate::bench::limits::Limits;
use crate::bench::table::Table;

const RATE: u32 = 10_000;

/// Runs the comparison.
pub(in crate::bench) fn compare() -> Result<Vec<Table>, String> {
    let (vegeta, oha, server) = (needs("vegeta")?, needs("oha")?, nginx()?);
    let sojourn = built::sojourn()?;
    let mut tools = vec![
        ours(&sojourn, "sojourn attack, records", "paced.bin", &[]),
        ours(&sojourn, "sojourn attack, run file", "paced.sojourn", &[]),
        ours(
            &sojourn,
            "sojourn attack, -lag-budget 100us",
            "near.sojourn",
            &["-lag-budget", "100us"],
        ),
        ours(&sojourn, "sojourn attack, -lag-budget 1ms", "lax.sojourn", &["-lag-budget", "1ms"]),
        vegetas(&vegeta),
        ohas_tool(&oha),
    ];
    std::fs::write(scratch("targets"), format!("GET {}\n", server.url))
        .map_err(|error| format!("targets: {error}"))?;
    run_rounds(&mut tools, &server, &server.url)?;
    Ok(vec![table(&tools), limits(&tools)])
}

/// By a run file, which tells of lag; records, as Vegeta writes them, cost a little more.
fn limits(tools: &[Tool]) -> Table {
    let mut limits = Limits::of("sojourn attack, paced");
    let of_other = |own: &str, other: &str| {
        named(tools, own).zip(named(tools, other)).map(|(own, other)| of_other(own, other))
    };
    let lag_us = |own: &str| {
        named(tools, own)
            .map(|tool| tool.median(|sample| sample.reading.lag_us_p99.unwrap_or(f64::NAN)))
    };
    for own in ["sojourn attack, records", "sojourn attack, run file"] {
        let ratio = of_other(own, "vegeta");
        limits.at_most(&format!("CPU per request, {own}, ≤ 0.6 × Vegeta's"), ratio, " ×", 0.6);
    }
    let file = "sojourn attack, run file";
    limits.at_most("lag p99 ≤ 150 µs", lag_us(file), " µs", 150.0);
    let lax = "sojourn attack, -lag-budget 1ms";
    let ratio = of_other(lax, "oha");
    limits.at_most("CPU per request, -lag-budget 1ms, ≤ 0.6 × oha's", ratio, " ×", 0.6);
    limits.at_most("lag p99, -lag-budget 1ms, ≤ 1 ms", lag_us(lax), " µs", 1_000.0);
    let wanted = f64::from(RATE) * SECONDS.parse::<f64>().unwrap_or(f64::NAN);
    let of_ours = tools.iter().filter(|tool| tool.name.starts_with("sojourn"));
    let counts = of_ours.flat_map(|tool| &tool.samples).map(|sample| sample.reading.requests);
    let off = counts.map(|count| (count - wanted).abs()).fold(0.0, f64::max);
    limits.at_most("requests more or less than asked for, any round", Some(off), "", 0.0);
    limits.table()
}

fn ours(program: &Path, name: &str, file: &str, more: &'static [&'static str]) -> Tool {
    let (program, output) = (program.to_path_buf(), scratch(file));
    let (reader, written) = (program.clone(), output.clone());
    let command = move |url: &str| {
        let (rate, duration) = (RATE.to_string(), format!("{SECONDS}s"));
        let mut flags = vec!["-rate", &rate, "-duration", &duration];
        flags.extend(more);
        attack(&program, url, &flags, &output)
    };
    Tool::new(name, command, move |_| attacks(&reader, &written))
}

fn vegetas(program: &Path) -> Tool {
    let (program, output) = (program.to_path_buf(), scratch("vegeta.bin"));
    let (reader, written) = (program.clone(), output.clone());
    let command = move |_: &str| {
        let (rate, duration) = (format!("-rate={RATE}"), format!("-duration={SECONDS}s"));
        let mut command = pinned(&program, &["attack", &rate, &duration]);
        command.arg("-targets").arg(scratch("targets")).arg("-output").arg(&output);
        // Without a bound it opens thousands of connections on one core, and collapses.
        command.arg("-max-workers=1000");
        command
    };
    Tool::new("vegeta", command, move |_| attacks(&reader, &written))
}

fn ohas_tool(program: &Path) -> Tool {
    let program = program.to_path_buf();
    let command = move |url: &str| {
        let (rate, duration) = (RATE.to_string(), format!("{SECONDS}s"));
        let flags = ["--no-tui", "--output-format", "json", "-q", &rate, "-z", &duration, url];
        pinned(&program, &flags)
    };
    Tool::new("oha", command, ohas)
}

fn table(tools: &[Tool]) -> Table {
    let mut table = Table::new(&[
        "10,000 requests/s, paced",
        "CPU µs/request, median",
        "of Vegeta's",
        "of oha's",
        "user + system",
        "requests sent, median",
        "lag p99 µs, median",
        "min to max",
        "own memory MB, max",
    ]);
    for tool in tools {
        let of = |name| named(tools, name).map_or(f64::NAN, |other| of_other(tool, other));
        let lag = tool.sorted(|sample| sample.reading.lag_us_p99.unwrap_or(f64::NAN));
        let shown = |lag: f64| match lag.is_nan() {
            true => "-".to_owned(),
            false => format!("{lag:.0}"),
        };
        let memory = tool.sorted(|sample| sample.own_bytes_max / 1e6);
        table.row(&[
            tool.name.clone(),
            format!("{:.2}", tool.median(|sample| sample.cpu_us())),
            format!("{:.2}", of("vegeta")),
            format!("{:.2}", of("oha")),
            format!(
                "{:.2} + {:.2}",
                tool.median(|sample| sample.user_us()),
                tool.median(|sample| sample.system_us())
            ),
            format!("{:.0}", tool.median(|sample| sample.reading.requests)),
            shown(lag[lag.len() / 2]),
            format!("{} to {}", shown(lag[0]), shown(lag[lag.len() - 1])),
            format!("{:.1}", memory[memory.len() - 1]),
        ]);
    }
    table
}
