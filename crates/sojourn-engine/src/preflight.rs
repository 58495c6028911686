//! Before any load: what a run needs of this machine and of the network.

use std::{
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sojourn_plan::{Action, Plan, StageSource};

use crate::RunError;

/// How long each target has to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Raises the soft limit of open files to the hard one; returns it.
pub(crate) fn raise_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Not allowed: the soft limit stays, and running out of descriptors is counted as such.
    let _ignored = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Connects once to every target that the plan names.
pub(crate) fn reach_targets(plan: &Plan) -> Result<(), RunError> {
    let mut targets = targets(plan);
    targets.sort();
    targets.dedup();
    for (host, port) in targets {
        let hint = "start the system under test, or change the plan's `target:` (or --target)";
        let addresses = (host.as_str(), port).to_socket_addrs().map_err(|error| {
            RunError::new(format!("cannot resolve target {host}: {error}"), hint)
        })?;
        let mut last = None;
        let reached = addresses.into_iter().any(|address| {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(_) => true,
                Err(error) => {
                    last = Some(format!("{address}: {error}"));
                    false
                }
            }
        });
        if !reached {
            let why = last.unwrap_or_else(|| "no address".to_owned());
            return Err(RunError::new(format!("cannot reach target {host}:{port} ({why})"), hint));
        }
    }
    Ok(())
}

fn targets(plan: &Plan) -> Vec<(String, u16)> {
    let steps = plan
        .journeys
        .iter()
        .flat_map(|journey| &journey.steps)
        .chain(&plan.setup)
        .chain(plan.refresh.iter().map(|refresh| &refresh.step));
    let of_steps = steps.map(|step| match &step.action {
        Action::Http(action) => (action.host.clone(), action.port),
    });
    let stages = plan.journeys.iter().flat_map(|journey| &journey.stages);
    let of_polls = stages.filter_map(|stage| match &stage.source {
        StageSource::Poll(poll) => Some((poll.action.host.clone(), poll.action.port)),
        StageSource::Event { .. } => None,
    });
    of_steps.chain(of_polls).collect()
}
