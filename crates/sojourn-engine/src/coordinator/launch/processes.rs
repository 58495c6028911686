//! Making the generators of a run in processes of their own.

use std::sync::Arc;

use crossbeam_channel::bounded;
use sojourn_clock::now_ns;
use sojourn_plan::Plan;
use sojourn_session::Offer;

use super::{GeneratorEnds, Launched};
use crate::{
    RunError, Stop,
    coordinator::panic::Role,
    follow::Listener,
    generator::{Inboxes, WAKE_UPS_MAX, WORDS_MAX},
    observer::GeneratorEnd,
    remote::{Assignment, Heard, Process, Processes, Told, fingerprint},
    work::Work,
};

/// Numbers of the recorders of what lost processes did not say: far beyond those of threads.
const LOSSES_FROM: u32 = 1 << 20;

impl Launched {
    /// Starts the processes, which make their plans at the same time, and the threads that link
    /// them to this one.
    pub(super) fn processes(
        &mut self,
        processes: &Processes,
        plan: &Arc<Plan>,
        work: &Work,
        variables: &[Option<Box<str>>],
        far: &GeneratorEnds,
        stop: &Stop,
    ) -> Result<Vec<GeneratorEnd>, RunError> {
        let begun = self.begin(processes, plan, work, variables)?;
        let generators = processes.count * self.options.threads;
        let (losses, lost) = bounded(generators as usize);
        if let Some(fleet) = &processes.fleet {
            (self.losses, self.patience_ns) = (lost, fleet.patience_ns());
        }
        // They make their plans at the same time, and have one deadline.
        let fleet = processes.fleet.as_ref();
        let ready_within_ns = fleet.map_or(u64::MAX, |fleet| fleet.terms().ready_within_ns);
        let until_ns = now_ns().saturating_add(ready_within_ns);
        let mut ends = Vec::new();
        let mut inboxes = work.events().map(|events| Inboxes::new(events.clone()));
        for (number, mut process) in begun.into_iter().enumerate() {
            let ios = process.ready(until_ns, stop)?;
            let link = process.link()?;
            self.far.push(process.another_end()?);
            if let Some(mut inbox) = inboxes.as_mut().map(Inboxes::of_process) {
                let to_events = link.clone();
                self.spawn(Role::Other, &format!("events-{number}"), move || {
                    to_events.events(&mut inbox);
                })?;
            }
            for io in ios {
                let index = ends.len() as u32;
                self.source(format!("generator {index}"));
                let (control_sender, control) = bounded(WORDS_MAX);
                let (actors_sender, actors) = bounded(WAKE_UPS_MAX);
                let (to_control, to_actors) = (link.clone(), link.clone());
                self.spawn(Role::Other, &format!("link-{index}"), move || {
                    to_control.control(index, &control);
                })?;
                self.spawn(Role::Other, &format!("actors-{index}"), move || {
                    to_actors.actors(index, &actors);
                })?;
                self.to_generators.push(control_sender);
                self.ios.push(io);
                ends.push(GeneratorEnd { actors: actors_sender, waker: None });
            }
            let heard = Heard {
                reports: far.reports.clone(),
                facts: far.facts.clone(),
                losses: losses.clone(),
                polls: far.polls.clone(),
                results: work.attack().and_then(|attack| attack.results.clone()),
                told: Told::new(plan, work),
                recorder_number: LOSSES_FROM + number as u32,
            };
            self.spawn(Role::Other, &format!("process-{number}"), move || process.hear(heard))?;
        }
        self.listener = inboxes.map(|inboxes| Arc::new(inboxes) as Arc<dyn Listener>);
        Ok(ends)
    }

    /// Tells every process what to do.
    fn begin(
        &self,
        processes: &Processes,
        plan: &Plan,
        work: &Work,
        variables: &[Option<Box<str>>],
    ) -> Result<Vec<Process>, RunError> {
        let (threads, fingerprint) = (self.options.threads, fingerprint(plan, work));
        let assignment = |process: u32| Assignment {
            words: processes.words.clone(),
            fingerprint,
            run_id: self.options.run_id.clone(),
            generators: process * threads..(process + 1) * threads,
            of: processes.count * threads,
            anchor_ns: (self.anchor.monotonic_ns, self.anchor.unix_ns),
            files: if processes.fleet.is_some() { Offer::default() } else { work.offer() },
            parcel: processes.parcel.clone(),
            passes_results: work.attack().is_some_and(|attack| attack.results.is_some()),
            variables: variables.to_vec(),
        };
        let Some(fleet) = &processes.fleet else {
            let numbers = 0..processes.count;
            return numbers.map(|number| Process::start(number, assignment(number))).collect();
        };
        let members = (0..).zip(fleet.take());
        let begun = members
            .map(|(number, member)| Process::joined(number, member, fleet, assignment(number)));
        begun.collect()
    }
}
