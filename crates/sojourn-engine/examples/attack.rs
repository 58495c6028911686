//! An attack from a program of one's own: two seconds at fifty a second, and what came of them.
//!
//! `cargo run --release -p sojourn-engine --example attack -- http://127.0.0.1:8080/`

#![expect(clippy::print_stdout, reason = "an example speaks to the terminal")]

use std::error::Error;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS};
use sojourn_engine::{Attack, RunOptions, Stop, Targets};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_plan::{AttackLoad, Pace, TargetDefaults, TargetFormat, TargetReader, attack_plan};

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which URL? see the top of this file")?;
    let line = format!("GET {url}");
    let (defaults, files) = (TargetDefaults::default(), Box::new(|path: &str| std::fs::read(path)));
    let reader = TargetReader::new("a line", line.as_bytes(), TargetFormat::Http, defaults, files);
    let targets = reader.collect::<Result<Vec<_>, _>>()?;
    let load = AttackLoad {
        pace: Pace::rate("50")?,
        poisson: false,
        duration_ns: Some(2 * SECOND_NS),
        workers_max: 100,
        timeout_ns: 10 * SECOND_NS,
    };
    let plan = attack_plan("", String::new(), &targets, &load, Vec::new())?;
    let attack = Attack {
        name: String::new(),
        targets: Targets::Listed(targets.into()),
        workers_max: load.workers_max,
        redirects_max: Some(10),
        allowed_hosts: Vec::new(),
        body_max: None,
        chunked: false,
        results: None,
        patient: false,
    };
    // Another thread may stop it early; the closure hears how it goes, once a second.
    let (options, stop) = (RunOptions::new(None, "example".to_owned()), Stop::default());
    let ended = sojourn_engine::attack(&plan, &options, attack, &stop, &mut |now| {
        println!("{} of them begun", now.started);
    })?;
    let steady = SeriesPhase::Steady;
    let count = ended.figures.sum(names::STEP_REQUESTS, &[], steady);
    let response = ended.figures.merged(names::STEP_RESPONSE, &[], steady);
    let ms = |q| response.quantile(q).map_or(0.0, |ns| ns as f64 / MILLISECOND_NS as f64);
    println!("{count} requests, {:?}", ended.summary.verdict);
    println!("response time from the schedule: p50 {:.2} ms, p99 {:.2} ms", ms(0.5), ms(0.99));
    Ok(())
}
