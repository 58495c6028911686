//! The plan of an attack: one journey without stages, whose steps are the targets.

use std::collections::HashSet;

use sojourn_metrics::Threshold;
use sojourn_pace::Arrivals;

use super::{pace::Pace, pace::PaceError, target::Target};
use crate::{Journey, Load, Model, Plan, Step, Think, Until, UserStage};

/// Targets told apart in reports; further ones are one step together.
const STEPS_MAX: usize = 100;

/// Name of the step that the targets beyond [`STEPS_MAX`] share, and those of a stream.
const OTHERS: &str = "other targets";

/// How hard, for how long.
#[derive(Clone, Debug)]
pub struct AttackLoad {
    /// When hits are due.
    pub pace: Pace,
    /// Placed at random around the pace instead of evenly.
    pub poisson: bool,
    /// How long; `None`: until stopped, or as the pace says.
    pub duration_ns: Option<u64>,
    /// Most hits in flight at once; a closed loop has just so many.
    pub workers_max: u32,
    /// From a hit's beginning to its end at most, nanoseconds.
    pub timeout_ns: u64,
}

/// The plan of an attack on `targets` (none known yet: a stream's). `text` is the command line, for
/// reports, without secrets.
pub fn attack_plan(
    name: &str,
    text: String,
    targets: &[Target],
    load: &AttackLoad,
    thresholds: Vec<Threshold>,
) -> Result<Plan, PaceError> {
    let name = if name.is_empty() { "attack" } else { name };
    let profile = load.pace.profile(load.duration_ns)?;
    let length_ns = length_ns(&profile, load.duration_ns);
    let model = match &load.pace {
        Pace::Unpaced => Model::Closed {
            stages: vec![UserStage { to: load.workers_max, over_ns: 0 }],
            think: Think::None,
            until: Until::Root,
            iterations: None,
        },
        _ => Model::Open {
            profile,
            arrivals: if load.poisson { Arrivals::Poisson } else { Arrivals::Constant },
            limit: None,
        },
    };
    Ok(Plan {
        name: name.to_owned(),
        seed: 1,
        journeys: vec![Journey {
            trace: false,
            label: None,
            poison: None,
            name: name.to_owned(),
            steps: steps(targets, load.timeout_ns),
            stages: Vec::new(),
            within_ns: load.timeout_ns,
            linger_ns: 0,
        }],
        load: vec![Load {
            journeys: vec![(0, 1.0)],
            model,
            warmup_ns: 0,
            steady_ns: length_ns,
            // Every hit in flight ends by its own timeout.
            drain_ns: load.timeout_ns.saturating_add(5_000_000_000),
            declared: declared(load),
        }],
        thresholds,
        text,
        ..Plan::default()
    })
}

/// The number of a target's step in an attack's plan.
pub fn step_of(plan: &Plan, target: &Target) -> usize {
    let steps = plan.journeys.first().map_or(&[][..], |journey| &journey.steps);
    let label = target.label();
    steps
        .iter()
        .position(|step| step.name == label)
        .unwrap_or_else(|| steps.len().saturating_sub(1))
}

fn steps(targets: &[Target], timeout_ns: u64) -> Vec<Step> {
    let mut seen = HashSet::new();
    let mut labels: Vec<String> = targets.iter().map(Target::label).collect();
    labels.retain(|label| seen.insert(label.clone()));
    let is_folded = labels.is_empty() || labels.len() > STEPS_MAX;
    labels.truncate(STEPS_MAX);
    labels.extend(is_folded.then(|| OTHERS.to_owned()));
    labels.into_iter().map(|label| Step::named(label, timeout_ns)).collect()
}

fn length_ns(profile: &sojourn_pace::Profile, duration_ns: Option<u64>) -> u64 {
    use sojourn_pace::Segment::{Linear, RandomSteps, Sine};
    if profile.segments.is_empty() {
        return duration_ns.unwrap_or(super::pace::FOREVER_NS);
    }
    let of_segment = |segment: &sojourn_pace::Segment| match segment {
        Linear { duration_ns, .. } | Sine { duration_ns, .. } | RandomSteps { duration_ns, .. } => {
            *duration_ns
        }
    };
    profile.segments.iter().map(of_segment).sum()
}

/// The load in one line.
fn declared(load: &AttackLoad) -> String {
    use crate::read::units::{show_ns, show_rate};
    let placed = if load.poisson { ", Poisson" } else { "" };
    let over = load.duration_ns.map_or_else(
        || "until stopped".to_owned(),
        |duration_ns| format!("for {}", show_ns(duration_ns)),
    );
    match &load.pace {
        Pace::Unpaced => format!("{} workers, no pace, {over}", load.workers_max),
        Pace::Constant(rate) => format!("{}{placed} {over}", show_rate(rate.per_s())),
        Pace::Ramp(from, to) => {
            format!("{} to {}{placed} {over}", show_rate(*from), show_rate(*to))
        }
        Pace::Stages(stages) => {
            let stages: Vec<String> = stages.iter().map(stage).collect();
            format!("{}{placed}", stages.join(", then "))
        }
        Pace::Sine(_) => format!("a sine wave{placed} {over}"),
    }
}

/// A stage of a pace in words.
fn stage(segment: &sojourn_pace::Segment) -> String {
    use crate::read::units::{show_ns, show_rate};
    match segment {
        sojourn_pace::Segment::Linear { from_per_s, to_per_s, duration_ns } => {
            let rate = match from_per_s == to_per_s {
                true => show_rate(*from_per_s),
                false => format!("{} to {}", show_rate(*from_per_s), show_rate(*to_per_s)),
            };
            format!("{rate} for {}", show_ns(*duration_ns))
        }
        other => format!("{other:?}"),
    }
}
