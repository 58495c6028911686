//! Before any load: what a run needs of this machine and of the network.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sojourn_clock::SECOND_NS;
use sojourn_http::{Client, ClientConfig, Origin, origin_host_header};
use sojourn_plan::{Plan, StageSource};

use crate::{RunError, client_error::client_error, generator::origin_of, process_health};

/// How long each target has to accept a connection, nanoseconds.
pub(crate) const REACH_TIMEOUT_NS: u64 = 5 * SECOND_NS;
/// What to do about a target out of reach.
pub(crate) const START_IT: &str =
    "start the system under test, or change the plan's `target:` (or --target)";

/// Raises the soft limit of open files of this process to the hard one; returns how many it may
/// have open now.
pub fn raise_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Not allowed: the soft limit stays, and running out of descriptors is counted as such.
    let _ignored = setrlimit(Resource::Nofile, raised);
    process_health::descriptors()
}

/// Connects once to every target that the plan names, the way its load will.
pub(crate) fn reach_targets(plan: &Plan, config: &ClientConfig) -> Result<(), RunError> {
    let mut client = Client::new(config.clone()).map_err(|error| client_error(&error))?;
    for origin in targets(plan) {
        client.reach(&origin, REACH_TIMEOUT_NS).map_err(|failure| {
            RunError::new(
                format!("cannot reach target {}: {failure}", origin_host_header(&origin)),
                START_IT,
            )
        })?;
    }
    Ok(())
}

/// Every target of the plan's requests, each once.
pub(crate) fn targets(plan: &Plan) -> Vec<Origin> {
    let steps = plan
        .journeys
        .iter()
        .flat_map(|journey| &journey.steps)
        .chain(&plan.setup)
        .chain(plan.refresh.iter().map(|refresh| &refresh.step));
    let of_steps = steps.filter_map(|step| step.action.http().map(origin_of));
    let stages = plan.journeys.iter().flat_map(|journey| &journey.stages);
    let of_polls = stages.filter_map(|stage| match &stage.source {
        StageSource::Poll(poll) => Some(origin_of(&poll.action)),
        StageSource::Event { .. } => None,
    });
    let mut targets: Vec<Origin> = Vec::new();
    for origin in of_steps.chain(of_polls) {
        if !targets.contains(&origin) {
            targets.push(origin);
        }
    }
    targets
}
