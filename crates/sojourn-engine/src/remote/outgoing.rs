//! What the generators of a process say, on its way to the coordinator: a thread for each channel.

use std::{
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use crossbeam_channel::{Receiver, Sender};
use sojourn_ledger::Batch;
use sojourn_metrics::Snapshot;

use super::{FromProcess, wire};
use crate::{attack::Passed, link::FromGenerator, poller::Task};

/// The coordinator's ends of the channels that all generators of a process have.
pub(super) struct Outgoing {
    pub(super) reports: Receiver<(u32, FromGenerator)>,
    pub(super) facts: Receiver<Batch>,
    /// Journeys with polled stages, if there are any.
    pub(super) polls: Option<Receiver<Task>>,
    /// An attack's results, if anybody wants them.
    pub(super) results: Option<Passed>,
}

/// The socket, and whether its coordinator is there.
#[derive(Clone)]
struct To(Arc<Mutex<UnixStream>>);

impl Outgoing {
    /// Passes all on until the channels' senders are gone or the coordinator is. `spares`: where
    /// snapshots are given back to, of the generators from number `first` on.
    pub(super) fn pass(
        self,
        socket: &Arc<Mutex<UnixStream>>,
        spares: Vec<Sender<Box<Snapshot>>>,
        first: u32,
    ) -> Vec<JoinHandle<()>> {
        let Self { reports, facts, polls, results } = self;
        let [to_reports, to_facts, to_results] = [(); 3].map(|()| To(Arc::clone(socket)));
        let mut links = vec![
            std::thread::spawn(move || pass_reports(&to_reports, &reports, &spares, first)),
            std::thread::spawn(move || pass_facts(&to_facts, &facts, polls.as_ref())),
        ];
        links.extend(
            results.map(|results| std::thread::spawn(move || pass_results(&to_results, &results))),
        );
        links
    }
}

impl To {
    /// False: the coordinator is gone.
    fn tell(&self, message: &FromProcess) -> bool {
        let mut socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wire::write(&mut *socket, message).is_ok()
    }
}

fn pass_reports(
    to: &To,
    reports: &Receiver<(u32, FromGenerator)>,
    spares: &[Sender<Box<Snapshot>>],
    first: u32,
) {
    for (index, report) in reports {
        let message = FromProcess::Report(index, report);
        if !to.tell(&message) {
            return;
        }
        give_back(spares, first, message);
    }
}

/// Facts, and what is to be polled: that was handed over before any fact that could end its
/// journey, and goes before it.
fn pass_facts(to: &To, facts: &Receiver<Batch>, polls: Option<&Receiver<Task>>) {
    for batch in facts {
        let tasks = polls.into_iter().flat_map(Receiver::try_iter);
        let mut all = tasks.map(FromProcess::Poll).chain([FromProcess::Facts(batch)]);
        if !all.all(|message| to.tell(&message)) {
            return;
        }
    }
}

fn pass_results(to: &To, results: &Passed) {
    for chunk in &results.chunks {
        let message = FromProcess::Results(chunk);
        if !to.tell(&message) {
            return;
        }
        if let FromProcess::Results(mut chunk) = message {
            chunk.clear();
            // A generator that has spares already needs no further one.
            let _ignored = results.spares.try_send(chunk);
        }
    }
}

/// Hands a snapshot that has been told back to its generator, to be written to again.
fn give_back(spares: &[Sender<Box<Snapshot>>], first: u32, message: FromProcess) {
    if let FromProcess::Report(index, FromGenerator::Snapshot(mut snapshot)) = message
        && let Some(spares) = spares.get(index.wrapping_sub(first) as usize)
    {
        snapshot.recycle();
        // A generator that has spares already needs no further one.
        let _ignored = spares.try_send(snapshot);
    }
}
