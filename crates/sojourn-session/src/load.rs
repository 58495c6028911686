//! The load of a definition: a plan, as all runs have one.

mod events;

use std::sync::Arc;

use sojourn_pace::{Arrivals, Profile, Segment};
use sojourn_plan::{HealthLimits, Journey, Load, Model, Plan, Step};

use crate::channels::Channels;
use crate::definition::{Definition, Phase};
use crate::mix::Mix;
use crate::program::{Named, NamedStep, Program};

use events::EventLoading;
pub use events::{EventLoad, Expected, Published};

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
    /// Every session is a journey without stages, every phase a load entry, every name of requests,
    /// messages and expectations in a session a step. Behind the sessions come journeys of events,
    /// without steps: each row of expectations is one.
    pub plan: Plan,
    /// Of each load entry: which sessions its clients take.
    pub mixes: Vec<Mix>,
    /// Of each of the program's requests: its step in its session's journey.
    pub steps: Vec<usize>,
    /// What there is to publish and to wait for, where there is anything.
    pub events: Option<EventLoad>,
}

/// The load of a definition. `text` is the script, for reports.
pub fn session_load(
    name: &str,
    text: String,
    definition: &Definition,
    with: (&Program, &Channels),
    timeout_ns: u64,
) -> SessionLoad {
    let mut made = without_load(name, text, with, timeout_ns);
    let mut from_ns = 0;
    for phase in &definition.phases {
        let entry = entry(phase, from_ns);
        from_ns = entry.steady_ns;
        made.plan.load.push(entry);
    }
    made.mixes = definition.phases.iter().map(|phase| phase.mix.clone()).collect();
    made
}

/// The load of a validation: one client of each session at once, whatever phases and weights say.
/// Its figures are no measurements, so nothing that is slow makes it void.
pub fn validation_load(
    name: &str,
    text: String,
    with: (&Program, &Channels),
    timeout_ns: u64,
) -> SessionLoad {
    let mut made = without_load(name, text, with, timeout_ns);
    let sessions = with.0.sessions().count();
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
        declared: format!("one client of {}", made.plan.journeys[session].name),
    });
    made.plan.load = load.collect();
    made.plan.health =
        HealthLimits { lag_p99_max_ns: DRAIN_NS, busy_for_ns: DRAIN_NS, ..HealthLimits::default() };
    made.mixes = (0..sessions).map(|session| Mix::only(session, sessions)).collect();
    made
}

/// The sessions as journeys, and of each of the program's requests its step; nobody comes yet.
fn without_load(
    name: &str,
    text: String,
    (program, channels): (&Program, &Channels),
    timeout_ns: u64,
) -> SessionLoad {
    let mut journeys: Vec<Journey> =
        program.sessions().map(|session| journey(session, timeout_ns)).collect();
    let mut events = EventLoading::new(program, channels, timeout_ns);
    let mut steps = vec![0; program.requests.len()];
    for NamedStep { what, session, name } in program.named_steps() {
        let named = &mut journeys[session].steps;
        match what {
            Named::Request(number) => {
                steps[number as usize] = request_step(named, name, timeout_ns);
            }
            Named::Publish(number) => events.publish(named, name, number as usize),
            Named::Expect(number) => events.expect(named, name, number as usize),
        }
    }
    let text = channels.without_secrets(text);
    let mut plan = Plan { name: name.to_owned(), seed: 1, journeys, text, ..Plan::default() };
    let events = events.finish(&mut plan);
    SessionLoad { plan, mixes: Vec::new(), steps, events }
}

/// The place of a request's step, which is made if it is new.
fn request_step(steps: &mut Vec<Step>, name: String, timeout_ns: u64) -> usize {
    if let Some(known) = steps.iter().position(|step| step.name == name) {
        return known;
    }
    // Those beyond the bound share one.
    let name = if steps.len() < STEPS_MAX { name } else { OTHERS.to_owned() };
    step_named(steps, name, |name| Step::named(name, timeout_ns))
}

/// The place of a step of this name, which is made if it is new.
fn step_named(steps: &mut Vec<Step>, name: String, make: impl FnOnce(String) -> Step) -> usize {
    let known = steps.iter().position(|step| step.name == name);
    known.unwrap_or_else(|| {
        steps.push(make(name));
        steps.len() - 1
    })
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
        steady_ns: from_ns.saturating_add(duration_ns),
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
