//! Everybody who runs users: threads of this process, or other processes with threads of their own.

use std::collections::BTreeSet;
use std::time::Duration;

use crossbeam_channel::bounded;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_engine::FollowSource;

use super::processes::{Process, Processes};
use super::threads::{Equipment, REPORTS_MAX, Threads};
use crate::thread::{Member, Order, Report};

/// How long after it is told everybody begins, so that all have heard by then, ns.
const START_THREADS_NS: u64 = MILLISECOND_NS;
const START_PROCESSES_NS: u64 = 50 * MILLISECOND_NS;

/// How long processes have to end, ns.
const END_NS_MAX: u64 = 10 * SECOND_NS;

/// See the module's page.
pub(super) struct Crew {
    threads: Threads,
    /// Their members' numbers follow those of threads.
    processes: Vec<Process>,
    present: BTreeSet<Member>,
    /// What is said of the first process that was lost.
    lost: Option<String>,
    /// Everybody's users have run the script's top level.
    is_ready: bool,
}

impl Crew {
    /// Starts threads, and processes where there are to be any; `options` are the script's, JSON.
    /// Each thread gets one of the sources of journeys, if there are any.
    pub(super) fn start(
        threads: usize,
        equipment: &Equipment,
        sources: Vec<FollowSource>,
        processes: Option<(&Processes, &str)>,
    ) -> Result<Self, String> {
        let (report, reports) = bounded(REPORTS_MAX);
        let channel = (report.clone(), reports);
        let threads = Threads::start(threads, equipment, sources, channel)?;
        let settings = &equipment.settings;
        let processes = processes.map(|(asked, options)| {
            Process::start_all(asked, settings, options, threads.count(), &report)
        });
        let processes = processes.transpose()?.unwrap_or_default();
        let present = (0..threads.count() + processes.len()).collect();
        Ok(Self { threads, processes, present, lost: None, is_ready: false })
    }

    /// Who is there.
    pub(super) fn members(&self) -> BTreeSet<Member> {
        self.present.clone()
    }

    /// Everybody has said that it is ready.
    pub(super) fn ready(&mut self) {
        self.is_ready = true;
    }

    /// Of some members, those that are there.
    pub(super) fn retain(&self, members: &mut BTreeSet<Member>) {
        members.retain(|member| self.present.contains(member));
    }

    /// What is said of a process that was lost, if one was.
    pub(super) fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// How long after now everybody can begin at one instant, ns.
    pub(super) fn start_within_ns(&self) -> u64 {
        if self.processes.is_empty() { START_THREADS_NS } else { START_PROCESSES_NS }
    }

    /// Tells processes what `setup` returned; whether there are any.
    pub(super) fn hand_setup_data(&mut self) -> bool {
        self.processes.iter_mut().for_each(Process::hand_setup_data);
        !self.processes.is_empty()
    }

    /// Tells everybody.
    pub(super) fn tell_all(&mut self, order: impl Fn() -> Order) {
        self.threads.tell_all(&order);
        self.processes.iter_mut().for_each(|process| process.tell(&order()));
    }

    /// Tells the thread that calls functions.
    pub(super) fn tell_caller(&self, order: Order) {
        self.threads.tell(0, order);
    }

    /// The next report, if one comes within so long. A process's loss is noted.
    pub(super) fn next(&mut self, within_ns: u64) -> Result<Option<(Member, Report)>, String> {
        match self.threads.next(within_ns)? {
            Some((member, Report::Lost(why))) => {
                self.lose(member, why);
                Ok(None)
            }
            other => Ok(other),
        }
    }

    fn lose(&mut self, member: Member, why: Option<String>) {
        let Some(number) = member.checked_sub(self.threads.count()) else { return };
        if self.present.remove(&member)
            && let Some(process) = self.processes.get_mut(number)
        {
            let loss = process.loss(why);
            process.kill();
            self.lost.get_or_insert(loss);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.processes.iter_mut().for_each(Process::end);
        // Who runs the script's top level hears nothing meanwhile, and has nothing to lose.
        let until_ns = if self.is_ready { now_ns() + END_NS_MAX } else { 0 };
        let mut is_killed = false;
        while !self.processes.iter_mut().all(Process::has_ended) {
            if now_ns() > until_ns && !std::mem::replace(&mut is_killed, true) {
                self.processes.iter_mut().for_each(Process::kill);
            }
            // What they still report would keep them waiting once the channel is full.
            self.threads.reports.recv_timeout(Duration::from_millis(5)).ok();
        }
    }
}
