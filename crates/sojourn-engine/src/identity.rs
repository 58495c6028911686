//! What a run file says of its run before anything is measured.

use sojourn_clock::Anchor;
use sojourn_plan::{Plan, StageKind, StageSource};
use sojourn_record::{GeneratorLimits, Identity, JourneyShape, PoisonShape, StageShape};

use crate::{RunOptions, machine, process_health};

/// The identity of a run that starts at `start_ns`.
pub(crate) fn identity(
    plan: &Plan,
    options: &RunOptions,
    anchor: &Anchor,
    start_ns: u64,
    channels: Vec<(String, String)>,
    resources: Vec<(String, String)>,
    io: String,
) -> Identity {
    let longest = |of: fn(&sojourn_plan::Load) -> u64| plan.load.iter().map(of).max().unwrap_or(0);
    Identity {
        name: plan.name.clone(),
        suite: plan.suite.clone(),
        run_id: options.run_id.clone(),
        labels: plan.labels.clone(),
        start_unix_ns: anchor.unix_ns_at(start_ns),
        start_monotonic_ns: start_ns,
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        io,
        load: plan.load.iter().map(|load| load.declared.clone()).collect(),
        phases_ns: [
            longest(|load| load.warmup_ns),
            longest(|load| load.steady_ns),
            longest(|load| load.drain_ns),
        ],
        plan: plan.text.clone(),
        journeys: journey_shapes(plan),
        channels,
        resources,
        health_limits: health_limits(plan),
        generator_limits: Some(generator_limits(plan)),
    }
}

/// Outlines of a plan's journeys, as run files have them.
pub fn journey_shapes(plan: &Plan) -> Vec<JourneyShape> {
    plan.journeys.iter().map(|journey| journey_shape(plan, journey)).collect()
}

/// A journey's outline.
pub(crate) fn journey_shape(plan: &Plan, journey: &sojourn_plan::Journey) -> JourneyShape {
    let root_steps = journey.steps.iter().filter(|step| step.after.is_none()).count();
    let mut steps: Vec<_> = journey.steps.iter().collect();
    steps.sort_by_key(|step| step.after.is_some());
    JourneyShape {
        name: journey.name.clone(),
        root_steps,
        stages: (0..journey.stages.len()).map(|index| stage_shape(plan, journey, index)).collect(),
        within_ns: journey.within_ns,
        steps: steps.into_iter().map(|step| step.name.clone()).collect(),
        poison: journey.poison.map(|poison| PoisonShape {
            of: plan.journeys[poison.of].name.clone(),
            share: poison.share,
        }),
    }
}

fn stage_shape(plan: &Plan, journey: &sojourn_plan::Journey, index: usize) -> StageShape {
    let stage = &journey.stages[index];
    let (on, poll_ns) = match &stage.source {
        StageSource::Event { channel, .. } => {
            let channel = &plan.channels[*channel];
            let connector = channel.connector.word();
            (format!("{} ({connector})", channel.name), None)
        }
        StageSource::Poll(poll) => ("poll".to_owned(), Some(poll.every_ns)),
    };
    let last_root = journey.steps.iter().rfind(|step| step.after.is_none());
    StageShape {
        name: stage.name.clone(),
        on,
        kind: match stage.kind {
            StageKind::Required => "required",
            StageKind::Optional => "optional",
            StageKind::Never => "never",
            StageKind::Failure => "failure",
            StageKind::Branch(_) => "branch",
        }
        .to_owned(),
        after: stage.after.map_or_else(
            || last_root.map_or_else(String::new, |step| step.name.clone()),
            |after| journey.stages[after].name.clone(),
        ),
        poll_ns,
    }
}

fn generator_limits(plan: &Plan) -> GeneratorLimits {
    let health = &plan.health;
    GeneratorLimits {
        busy_max: health.busy_max,
        busy_for_ns: health.busy_for_ns,
        lag_p99_max_ns: health.lag_p99_max_ns,
        lag_share_max: health.lag_share_max,
        tap_behind_max_ns: health.tap_behind_max_ns,
        descriptors: process_health::descriptors(),
        ports: machine::count_of(&machine::ephemeral_ports()),
    }
}

fn health_limits(plan: &Plan) -> Vec<(String, String)> {
    let health = &plan.health;
    let percent = |fraction: f64| format!("{} %", fraction * 100.0);
    let seconds = |ns: u64| format!("{} s", ns as f64 / 1e9);
    vec![
        ("missed arrivals".into(), format!("at most {}", percent(health.missed_max))),
        ("delivered".into(), format!("at least {} of scheduled", percent(health.delivered_min))),
        (
            "lag p99".into(),
            format!(
                "at most {} ms, or {} of the response p50 when that is larger",
                health.lag_p99_max_ns as f64 / 1e6,
                percent(health.lag_share_max)
            ),
        ),
        (
            "generator thread".into(),
            format!(
                "at most {} busy for {}",
                percent(health.busy_max),
                seconds(health.busy_for_ns)
            ),
        ),
        ("tap behind".into(), format!("at most {}", seconds(health.tap_behind_max_ns))),
        ("source silent".into(), format!("at most {}", seconds(health.silent_max_ns))),
    ]
}
