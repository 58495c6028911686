//! Making a generator's thread, and the near ends of its channels.

use std::sync::{Arc, OnceLock};

use crossbeam_channel::{Sender, bounded};
use sojourn_broker::Registry;
use sojourn_clock::Anchor;
use sojourn_http::{Io, Waker};
use sojourn_ledger::Batch;
use sojourn_metrics::Snapshot;
use sojourn_plan::Plan;

use super::{GeneratorSpec, Inboxes, Publishers};
use crate::{
    RunError,
    client_error::client_error,
    link::{FromGenerator, ToActor, ToGenerator},
    options::RunOptions,
    poller::PollSender,
    work::Work,
};

/// Wake-ups on their way to a generator.
pub(crate) const WAKE_UPS_MAX: usize = 262_144;
/// Words of the coordinator's on their way to a generator.
pub(crate) const WORDS_MAX: usize = 1_024;

/// What all generators of a process have in common.
pub(crate) struct Shared {
    /// How many generators the run has, in all processes.
    pub(crate) of: u32,
    /// In a process of generators: its number, and which generator tells of it.
    pub(crate) process: Option<(u32, u32)>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) options: RunOptions,
    pub(crate) work: Work,
    pub(crate) anchor: Anchor,
    pub(crate) variables: Vec<Option<Box<str>>>,
    pub(crate) facts: Sender<Batch>,
    pub(crate) reports: Sender<(u32, FromGenerator)>,
    pub(crate) polls: PollSender,
}

impl Shared {
    /// The process's name, for the generator that tells of it.
    fn process(&self, index: u32) -> Option<String> {
        let (number, teller) = self.process?;
        (teller == index).then(|| format!("process {number}"))
    }
}

/// A generator thread that stands and waits for its start.
pub(crate) struct GeneratorThread {
    pub(crate) control: Sender<ToGenerator>,
    pub(crate) actors: Sender<ToActor>,
    /// Snapshots to be written to again.
    pub(crate) spares: Sender<Box<Snapshot>>,
    pub(crate) waker: Waker,
    /// What it waits with.
    pub(crate) io: Io,
}

impl GeneratorThread {
    /// Makes the thread by `spawn`, which gets its body, and waits until it stands. Where clients
    /// wait for events it gets an inbox.
    pub(crate) fn start(
        index: u32,
        shared: &Shared,
        registry: &Registry,
        inboxes: Option<&mut Inboxes>,
        spawn: impl FnOnce(Box<dyn FnOnce() + Send>) -> Result<(), RunError>,
    ) -> Result<Self, RunError> {
        let (control_sender, control) = bounded(WORDS_MAX);
        // A channel's places are made with it, megabytes of them; without a ledger nobody is woken.
        let wake_ups_max = if shared.work.keeps_the_book() { 1 } else { WAKE_UPS_MAX };
        let (actors_sender, actors) = bounded(wake_ups_max);
        let (spare_sender, spares) = bounded(2);
        let (ready_sender, ready) = bounded(1);
        let waker = Arc::new(OnceLock::new());
        let mut publishers = Publishers::new(index, &shared.plan, registry, &waker)?;
        publishers.ready(&shared.plan)?;
        let spec = GeneratorSpec {
            index,
            of: shared.of,
            process: shared.process(index),
            plan: Arc::clone(&shared.plan),
            options: shared.options.clone(),
            work: shared.work.clone(),
            anchor: shared.anchor,
            variables: shared.variables.clone(),
            facts: shared.facts.clone(),
            reports: shared.reports.clone(),
            control,
            actors,
            spares,
            polls: shared.polls.clone(),
            publishers,
            inbox: inboxes.map(|inboxes| inboxes.inbox(&waker)),
            waker,
        };
        spawn(Box::new(move || super::run(spec, &ready_sender)))?;
        let (waker, io) = ready
            .recv()
            .unwrap_or_else(|_| Err(std::io::Error::other("its thread ended before it began")))
            .map_err(|error| client_error(&error))?;
        let (control, actors, spares) = (control_sender, actors_sender, spare_sender);
        Ok(Self { control, actors, spares, waker, io })
    }
}
