//! The load of a definition: a plan, as all runs have one.

use std::sync::Arc;

use sojourn_pace::{Arrivals, Profile, Segment};
use sojourn_plan::{HealthLimits, Journey, Load, Model, Plan, Step};

use crate::definition::{Definition, Phase};
use crate::mix::Mix;
use crate::program::Program;

/// Requests of a session that are told apart; further ones are one step together.
const STEPS_MAX: usize = 100;
/// The step of those beyond.
pub(crate) const OTHERS: &str = "other requests";
/// How long clients are waited for after the last phase: the test ends with the last of them.
const DRAIN_NS: u64 = 7 * 24 * 3_600 * SECOND_NS;
const SECOND_NS: u64 = 1_000_000_000;

/// What a definition comes to as a load.
#[derive(Clone, Debug)]
pub struct SessionLoad {
    /// Every session is a journey without stages, every phase a load entry, every name of requests
    /// in a session a step.
    pub plan: Plan,
    /// Of each load entry: which sessions its clients take.
    pub mixes: Vec<Mix>,
    /// Of each of the program's requests: its step in its session's journey.
    pub steps: Vec<usize>,
}

/// The load of a definition. `text` is the script, for reports, without secrets.
pub fn session_load(
    name: &str,
    text: String,
    definition: &Definition,
    program: &Program,
    timeout_ns: u64,
) -> SessionLoad {
    let (journeys, steps) = journeys(program, timeout_ns);
    let mut from_ns = 0;
    let mut load = Vec::new();
    for phase in &definition.phases {
        load.push(entry(phase, from_ns));
        from_ns = load.last().map_or(from_ns, |entry: &Load| entry.steady_ns);
    }
    let plan = Plan { name: name.to_owned(), seed: 1, journeys, load, text, ..Plan::default() };
    let mixes = definition.phases.iter().map(|phase| phase.mix.clone()).collect();
    SessionLoad { plan, mixes, steps }
}

/// The load of a validation: one client of each session at once, whatever phases and weights say.
/// Its figures are no measurements, so nothing that is slow makes it void.
pub fn validation_load(
    name: &str,
    text: String,
    program: &Program,
    timeout_ns: u64,
) -> SessionLoad {
    let (journeys, steps) = journeys(program, timeout_ns);
    let sessions = journeys.len();
    let load = (0..sessions).map(|session| Load {
        journeys: vec![(session, 1.0)],
        model: Model::Open {
            profile: Profile::default(),
            arrivals: Arrivals::Replay(Arc::from([0])),
            limit: Some(1),
        },
        warmup_ns: 0,
        steady_ns: 0,
        drain_ns: DRAIN_NS,
        declared: format!("one client of {}", journeys[session].name),
    });
    let load = load.collect();
    let health =
        HealthLimits { lag_p99_max_ns: DRAIN_NS, busy_for_ns: DRAIN_NS, ..HealthLimits::default() };
    let mut plan = Plan { name: name.to_owned(), seed: 1, load, text, health, ..Plan::default() };
    plan.journeys = journeys;
    let mixes = (0..sessions).map(|session| Mix::only(session, sessions)).collect();
    SessionLoad { plan, mixes, steps }
}

/// The sessions as journeys, and of each of the program's requests its step.
fn journeys(program: &Program, timeout_ns: u64) -> (Vec<Journey>, Vec<usize>) {
    let mut journeys: Vec<Journey> =
        program.sessions().map(|session| journey(session, timeout_ns)).collect();
    let steps = program.request_names().into_iter().map(|(session, request)| {
        let steps = &mut journeys[session].steps;
        if let Some(known) = steps.iter().position(|step| step.name == request) {
            return known;
        }
        if steps.len() <= STEPS_MAX {
            let is_last = steps.len() == STEPS_MAX;
            let name = if is_last { OTHERS.to_owned() } else { request };
            steps.push(Step::named(name, timeout_ns));
        }
        steps.len() - 1
    });
    let steps = steps.collect();
    (journeys, steps)
}

/// A phase after so much time: nothing arrives before.
fn entry(phase: &Phase, from_ns: u64) -> Load {
    let duration_ns = (phase.duration_s * SECOND_NS as f64).round() as u64;
    let constant = |rate_per_s: f64, duration_ns| Segment::Linear {
        from_per_s: rate_per_s,
        to_per_s: rate_per_s,
        duration_ns,
    };
    let mut segments = vec![constant(0.0, from_ns), constant(phase.rate_per_s, duration_ns)];
    segments.retain(|segment| !matches!(segment, Segment::Linear { duration_ns: 0, .. }));
    let most = phase.clients_max.map(|most| format!(", {most} clients at most"));
    let name = phase.name.as_ref().map(|name| format!("{name}: "));
    Load {
        journeys: (0..phase.mix.sessions())
            .map(|session| (session, phase.mix.share(session)))
            .filter(|(_, share)| *share > 0.0)
            .collect(),
        model: Model::Open {
            profile: Profile { segments },
            arrivals: Arrivals::Poisson,
            limit: phase.clients_max.map(u64::from),
        },
        warmup_ns: 0,
        steady_ns: from_ns + duration_ns,
        drain_ns: DRAIN_NS,
        declared: format!(
            "{}{} clients/s for {} s{}",
            name.unwrap_or_default(),
            phase.rate_per_s,
            phase.duration_s,
            most.unwrap_or_default()
        ),
    }
}

fn journey(session: &str, timeout_ns: u64) -> Journey {
    Journey {
        name: session.to_owned(),
        steps: Vec::new(),
        stages: Vec::new(),
        within_ns: timeout_ns,
        linger_ns: 0,
        trace: false,
        label: None,
        poison: None,
    }
}
