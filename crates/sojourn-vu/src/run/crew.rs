//! Everybody who runs users: threads of this process, or other processes with threads of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::bounded;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_engine::{FleetTerms, FollowSource, OnLoss, Processes};

use super::processes::Process;
use super::threads::{Equipment, REPORTS_MAX, Threads};
use crate::settings::Settings;
use crate::thread::{Member, Order, Report};

/// How long after it is told everybody begins, so that all have heard by then, ns.
const START_THREADS_NS: u64 = MILLISECOND_NS;
const START_PROCESSES_NS: u64 = 50 * MILLISECOND_NS;
const START_FAR_NS: u64 = SECOND_NS;

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
    /// It was lost before the scenarios began.
    is_lost_early: bool,
    /// Everybody's users have run the script's top level.
    is_ready: bool,
    /// Scenarios have begun, or will at an instant that was told.
    has_begun: bool,
    /// How processes on other machines are treated.
    terms: Option<FleetTerms>,
    /// When everybody has to be ready, ns.
    ready_until_ns: u64,
    settings: Arc<Settings>,
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
        let settings = Arc::clone(&equipment.settings);
        let fleet = processes.as_ref().and_then(|(asked, _)| asked.fleet.as_ref());
        let terms = fleet.map(sojourn_engine::Fleet::terms);
        let within_ns = terms.map_or(u64::MAX, |terms| terms.ready_within_ns);
        let ready_until_ns = now_ns().saturating_add(within_ns);
        let processes = processes.map(|(asked, options)| {
            Process::start_all(asked, &settings, options, threads.count(), &report)
        });
        let processes = processes.transpose()?.unwrap_or_default();
        let present = (0..threads.count() + processes.len()).collect();
        Ok(Self {
            threads,
            processes,
            present,
            lost: None,
            is_lost_early: false,
            is_ready: false,
            has_begun: false,
            terms,
            ready_until_ns,
            settings,
        })
    }

    /// Who is there.
    pub(super) fn members(&self) -> BTreeSet<Member> {
        self.present.clone()
    }

    /// What processes are called; empty where users are threads of this one.
    pub(super) fn names(&self) -> BTreeMap<Member, String> {
        let first = self.threads.count();
        let named = self.processes.iter().enumerate();
        named.map(|(at, process)| (first + at, process.name())).collect()
    }

    /// Everybody has said that it is ready.
    pub(super) fn ready(&mut self) {
        self.is_ready = true;
    }

    /// Of some members, those that are there.
    pub(super) fn retain(&self, members: &mut BTreeSet<Member>) {
        members.retain(|member| self.present.contains(member));
    }

    /// Of some members, those that are heard of: the others may take long to answer.
    pub(super) fn retain_heard_of(&self, members: &mut BTreeSet<Member>) {
        members.retain(|member| self.process(*member).is_none_or(Process::is_heard_of));
    }

    /// What is said of a member that should be ready by now; `None`: there is time left.
    pub(super) fn late(&self, waited_for: &BTreeSet<Member>) -> Option<String> {
        let process = waited_for.iter().find_map(|member| self.process(*member))?;
        let terms = self.terms.filter(|_| now_ns() >= self.ready_until_ns)?;
        let within_s = terms.ready_within_ns as f64 / SECOND_NS as f64;
        let name = process.name();
        Some(format!("{name} was not ready within {within_s} s; --ready-timeout waits longer"))
    }

    fn process(&self, member: Member) -> Option<&Process> {
        self.processes.get(member.checked_sub(self.threads.count())?)
    }

    /// What is said of a process that was lost, if one was.
    pub(super) fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// The same where the test ends with it at once.
    pub(super) fn lost_for_all(&self) -> Option<&str> {
        self.lost().filter(|_| !self.goes_on())
    }

    /// The same where the test can't come to a verdict without it.
    pub(super) fn lost_for_good(&self) -> Option<&str> {
        let is_remark = self.terms.is_some_and(|terms| terms.on_loss == OnLoss::Continue);
        self.lost().filter(|_| !is_remark || !self.goes_on())
    }

    /// Whether the test goes on without who was lost. Processes of this machine end together.
    fn goes_on(&self) -> bool {
        let ends_all = self.terms.is_none_or(|terms| terms.on_loss == OnLoss::Abort);
        !ends_all && !self.is_lost_early && !self.has_nobody()
    }

    /// Whether all processes are lost.
    fn has_nobody(&self) -> bool {
        self.present.iter().all(|member| *member < self.threads.count())
    }

    /// How long after now everybody can begin at one instant, ns.
    pub(super) fn start_within_ns(&self) -> u64 {
        match (self.processes.is_empty(), self.terms) {
            (true, _) => START_THREADS_NS,
            (false, None) => START_PROCESSES_NS,
            (false, Some(_)) => START_FAR_NS,
        }
    }

    /// Tells processes what `setup` returned; whether there are any.
    pub(super) fn hand_setup_data(&mut self) -> bool {
        self.processes.iter_mut().for_each(Process::hand_setup_data);
        !self.processes.is_empty()
    }

    /// Tells everybody.
    pub(super) fn tell_all(&mut self, order: impl Fn() -> Order) {
        self.has_begun |= matches!(order(), Order::Start { .. });
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
            self.is_lost_early |= !self.has_begun;
            if self.goes_on() {
                let told = format!("{loss}; the test goes on without its users");
                self.settings.console.error(&told);
            }
            self.lost.get_or_insert(loss);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.processes.iter_mut().for_each(Process::end);
        // Who runs the script's top level hears nothing meanwhile, and has nothing to lose.
        let until_ns = if self.is_ready { now_ns() + END_NS_MAX } else { 0 };
        let mut killed_ns = None;
        while !self.processes.iter_mut().all(Process::has_ended) {
            match killed_ns {
                None if now_ns() > until_ns => {
                    killed_ns = Some(now_ns());
                    self.processes.iter_mut().for_each(Process::kill);
                }
                // One that is cut off can't be told. Its machine ends it.
                Some(killed_ns) if self.terms.is_some() && now_ns() > killed_ns + END_NS_MAX => {
                    break;
                }
                _ => {}
            }
            // What they still report would keep them waiting once the channel is full.
            self.threads.reports.recv_timeout(Duration::from_millis(5)).ok();
        }
    }
}
