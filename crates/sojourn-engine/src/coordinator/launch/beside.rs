//! Threads beside the load that read, once a second, what others say, and that renew variables.

use std::sync::Arc;

use crossbeam_channel::{Sender, bounded};
use sojourn_broker::Registry;
use sojourn_ledger::Batch;
use sojourn_metrics::Snapshot;
use sojourn_plan::Plan;

use super::{Launched, Role};
use crate::{
    RunError,
    backlog::{self, BacklogSpec},
    observer::{FromObserver, TapReport},
    poller::{self, PollerSpec},
    refresh::{self, RefreshSpec},
    resources::{self, Resources, ResourcesSpec},
    steps::Latest,
};

/// The far ends of the poller's channels.
pub(super) struct PollerEnds {
    pub(super) hand_over: poller::HandOver,
    pub(super) facts: Sender<Batch>,
    pub(super) snapshots: Sender<Box<Snapshot>>,
    pub(super) notes: Sender<String>,
    pub(super) defects: Sender<FromObserver>,
}

impl Launched {
    /// Whoever asks for polled stages.
    pub(super) fn poller(
        &mut self,
        plan: &Arc<Plan>,
        variables: &Latest,
        ends: PollerEnds,
    ) -> Result<(), RunError> {
        let source = self.source("poller".to_owned());
        let (start_sender, start) = bounded(1);
        self.starts.push(start_sender);
        // Dropped last: until then the coordinator knows that the poller may say something.
        let alive = ends.snapshots.clone();
        let spec = PollerSpec {
            plan: Arc::clone(plan),
            options: self.options.clone(),
            variables: variables.clone(),
            source,
            facts: ends.facts,
            snapshots: ends.snapshots,
            notes: ends.notes,
            hand_over: ends.hand_over,
            start,
            stop: Arc::clone(&self.stop.0),
        };
        self.spawn(Role::Other, "poller", move || {
            let _alive = alive;
            if let Err(why) = poller::run(spec) {
                // The run is void; the coordinator reads until it has heard that the poller ended.
                let _ignored = ends.defects.send(FromObserver::Void(why));
            }
        })
    }

    /// Whoever reads what waits in the brokers, where a channel asks for it.
    pub(super) fn backlog(
        &mut self,
        plan: &Plan,
        registry: &Registry,
        reports: Sender<TapReport>,
        notes: Sender<String>,
    ) -> Result<(), RunError> {
        let readers = backlog::readers(plan, registry)?;
        if readers.is_empty() {
            return Ok(());
        }
        let (start_sender, start) = bounded(1);
        self.starts.push(start_sender);
        // The observer has the number after the last source's.
        let number = self.sources.len() as u32 + 1;
        let stop = Arc::clone(&self.stop.0);
        let spec = BacklogSpec { readers, number, reports, notes, start, stop };
        self.spawn(Role::Other, "backlog", move || backlog::run(spec))
    }

    /// Whoever reads the system's own resources, where the plan names any.
    pub(super) fn resources(
        &mut self,
        plan: &Plan,
        reports: Sender<TapReport>,
        notes: Sender<String>,
    ) -> Result<(), RunError> {
        let resources = Resources::open(plan, &self.options.client.tls)?;
        if resources.is_empty() {
            return Ok(());
        }
        self.resources.clone_from(&resources.described);
        let (start_sender, start) = bounded(1);
        self.starts.push(start_sender);
        // After the observer's and the backlog's.
        let number = self.sources.len() as u32 + 2;
        let stop = Arc::clone(&self.stop.0);
        let spec = ResourcesSpec { resources, number, reports, notes, start, stop };
        self.spawn(Role::Other, "resources", move || resources::run(spec))
    }

    /// Whoever renews variables, where the plan says so.
    pub(super) fn refresh(
        &mut self,
        plan: &Arc<Plan>,
        variables: &Latest,
        notes: Sender<String>,
    ) -> Result<(), RunError> {
        if plan.refresh.is_empty() {
            return Ok(());
        }
        let (start_sender, start) = bounded(1);
        self.starts.push(start_sender);
        let spec = RefreshSpec {
            plan: Arc::clone(plan),
            options: self.options.clone(),
            variables: variables.clone(),
            generators: self.to_generators.clone(),
            notes,
            start,
            stop: Arc::clone(&self.stop.0),
        };
        self.spawn(Role::Other, "refresh", move || refresh::run(&spec))
    }
}
