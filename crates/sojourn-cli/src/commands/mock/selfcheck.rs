//! `sojourn mock selfcheck`: how much the mock can hold on this machine, and how exactly.

use sojourn_engine::EXIT_FAILED;
use sojourn_mock::{MockOptions, RunFiles, Stair, Staircase, StairsEnd, highest, read_latency};

use crate::errors::UsageError;

/// How much it can hold on this machine, and how exactly
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn mock selfcheck
  sojourn mock selfcheck --latency 'lognormal(p50=80ms, p99=600ms)' --bound 2ms")]
pub(crate) struct Selfcheck {
    /// How long every answer is held
    #[arg(long, value_name = "LAW", default_value = "700ms")]
    latency: String,
    /// Overshoot p99 must stay below this
    #[arg(long, value_name = "DURATION", default_value = "5ms", value_parser = super::duration)]
    bound: u64,
    /// First rate, requests per second
    #[arg(long, value_name = "N", default_value_t = 1000.0, value_parser = positive)]
    from: f64,
    /// Last rate, requests per second [default: as far as it goes]
    #[arg(long, value_name = "N", value_parser = positive)]
    to: Option<f64>,
    /// How long each rate is measured
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = super::duration)]
    step: u64,
    /// Threads of the mock [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) threads: Option<u32>,
}

/// Climbs the staircase and states the highest rate.
pub(crate) fn run(command: &Selfcheck, options: MockOptions) -> Result<u8, UsageError> {
    let latency = read_latency(&command.latency, &RunFiles::default())
        .map_err(|wrong| UsageError::with(format!("--latency: {}", wrong.message), wrong.hint))?;
    let mean_s = latency.mean_ns() / 1e9;
    let staircase = Staircase {
        latency,
        bound_ns: command.bound,
        from_per_s: command.from,
        to_per_s: command.to.unwrap_or(f64::INFINITY),
        factor: 1.5,
        step_ns: command.step,
    };
    println!("holding answers for {}; overshoot p99 below {}", command.latency, ms(command.bound));
    println!("     rate/s  connections     held  overshoot p50        p99        max   lag p99");
    let stairs = staircase.climb(&options, show).map_err(|error| {
        let hint = "raise `ulimit -n`, or begin with a lower --from";
        UsageError::new(format!("the check came to nothing: {error}"), hint)
    })?;
    say_end(&stairs, command);
    println!(
        "Little's law: connections = rate × hold, so {:.3} s of hold take {:.0} connections for \
         every 1,000 requests a second; a client with fewer waits for them, not for the mock.",
        mean_s,
        mean_s * 1000.0
    );
    match highest(&stairs) {
        Some(stair) => {
            println!(
                "highest: {:.0} requests/s with {} connections, overshoot p99 {}",
                stair.rate_per_s,
                stair.connections,
                ms(stair.overshoot_ns[1])
            );
            Ok(0)
        }
        None => Ok(EXIT_FAILED),
    }
}

fn show(stair: &Stair) {
    let [p50, p99, max] = stair.overshoot_ns.map(ms);
    println!(
        "{:>11.0}  {:>11}  {:>7}  {p50:>13}  {p99:>9}  {max:>9}  {:>8}",
        stair.rate_per_s,
        stair.connections,
        stair.held,
        ms(stair.lag_p99_ns)
    );
}

fn say_end(stairs: &[Stair], command: &Selfcheck) {
    let Some(last) = stairs.last() else {
        return;
    };
    let rate = last.rate_per_s;
    match last.end {
        Some(StairsEnd::Bound) => {
            println!("at {rate:.0}/s the overshoot exceeds {}", ms(command.bound));
        }
        Some(StairsEnd::Failures) => println!("at {rate:.0}/s {} requests failed", last.failed),
        Some(StairsEnd::Generator) => println!(
            "at {rate:.0}/s the load itself came late: this machine is too busy or too small to \
             say more"
        ),
        Some(StairsEnd::Ports) => {
            println!("one address has no ports for a higher rate: the mock may take more");
        }
        Some(StairsEnd::Asked) | None => {}
    }
}

fn ms(ns: u64) -> String {
    format!("{:.2} ms", ns as f64 / 1e6)
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (1.0..=1e7).contains(&number) => Ok(number),
        _ => Err("write a number from 1 to 10,000,000".to_owned()),
    }
}
