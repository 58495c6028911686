//! What a generator thread is made with.

use std::sync::{Arc, OnceLock};

use crossbeam_channel::{Receiver, Sender};
use sojourn_clock::{Anchor, MILLISECOND_NS};
use sojourn_http::{ClientConfig, ConnectTo, HostPort, Waker};
use sojourn_ledger::Batch;
use sojourn_metrics::Snapshot;
use sojourn_plan::{Model, Plan};

use crate::{
    attack::Targets,
    generator::{Inbox, Publishers},
    link::{FromGenerator, ToActor, ToGenerator},
    options::RunOptions,
    poller::PollSender,
    work::Work,
};

/// What a generator thread is made with.
pub(crate) struct GeneratorSpec {
    pub(crate) index: u32,
    pub(crate) of: u32,
    /// The name of its process of generators, if it is the one that tells of that.
    pub(crate) process: Option<String>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) options: RunOptions,
    pub(crate) work: Work,
    pub(crate) anchor: Anchor,
    pub(crate) variables: Vec<Option<Box<str>>>,
    pub(crate) facts: Sender<Batch>,
    pub(crate) reports: Sender<(u32, FromGenerator)>,
    pub(crate) control: Receiver<ToGenerator>,
    pub(crate) actors: Receiver<ToActor>,
    pub(crate) spares: Receiver<Box<Snapshot>>,
    pub(crate) polls: PollSender,
    pub(crate) publishers: Publishers,
    /// Where the events come in that its clients may wait for.
    pub(crate) inbox: Option<Inbox>,
    /// Where its publishers find its waker.
    pub(crate) waker: Arc<OnceLock<Waker>>,
}

/// From this lag budget on, it does not matter whether a wait ends some microseconds late.
const LAX_NS: u64 = MILLISECOND_NS / 5;

/// For how long a closed loop's answers may wait to be looked at together, when nobody has said it.
const GATHER_NS: u64 = MILLISECOND_NS / 2;

impl GeneratorSpec {
    /// How its client connects: a script may have chosen an address.
    pub(super) fn client(&self) -> ClientConfig {
        let mut config = self.options.client.clone();
        config.punctual &= self.options.lag_budget_ns.unwrap_or(0) < LAX_NS;
        let Some(attack) = self.work.attack() else { return config };
        for most in [&mut config.connections_max, &mut config.idle_max] {
            *most = share(*most, self.index, self.of);
        }
        // Nobody has said when these requests are to begin.
        if self.plan.load.iter().all(|load| matches!(load.model, Model::Closed { .. })) {
            config.gather_ns = self.options.lag_budget_ns.unwrap_or(GATHER_NS);
        }
        let Targets::Scripted(scripted) = &attack.targets else { return config };
        if let Some(address) = scripted.address(self.index) {
            let to = HostPort { host: address.ip().to_string(), port: address.port() };
            let target = &scripted.target;
            let from = HostPort { host: target.host.clone(), port: target.port };
            config.connect_to.push(ConnectTo { from, to: vec![to] });
        }
        config
    }
}

/// A generator's part of a limit that all have together: at least one, where it is not zero.
fn share(whole: usize, index: u32, of: u32) -> usize {
    let before = (of - 1 - index) as usize;
    match whole {
        0 => 0,
        whole => ((whole + before) / of as usize).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_shared_out_and_leaves_nobody_without() {
        let shares = |whole, of| (0..of).map(|index| share(whole, index, of)).collect::<Vec<_>>();
        assert_eq!(shares(10, 4), [3, 3, 2, 2]);
        assert_eq!(shares(8, 1), [8]);
        assert_eq!(shares(2, 3), [1, 1, 1]);
        assert_eq!(shares(0, 2), [0, 0]);
    }
}
