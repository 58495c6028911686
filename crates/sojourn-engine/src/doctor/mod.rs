//! Before a run: can this plan run here, and will its figures be worth believing? Nothing is
//! loaded; only a probe sends anything, one journey of each kind.
//!
//! A file for each family of checks. They look the way a run does, with the same code, and leave
//! nothing behind: taps are closed, no group is joined, nothing is acknowledged.

mod cgroup;
mod channels;
mod clock;
mod connections;
mod demand;
mod memory;
mod names;
mod plan;
mod probe;
mod processors;
mod targets;

use rustix::process::{Resource, getrlimit};
use sojourn_analysis::check::{Check, Finding};
use sojourn_broker::Registry;
use sojourn_plan::Plan;

use crate::{RunOptions, Stop, machine::Machine, preflight};
use cgroup::Allowance;
use demand::Demand;
use names::Names;

/// Why nothing more was looked at.
const INTERRUPTED: &str = "interrupted";
/// What there is to look at besides the plan, in order.
const OTHERS: &[&str] = &[
    "clock",
    "sleep",
    "steal",
    "processors",
    "memory",
    "descriptors",
    "ports",
    "name",
    "target",
    "channel",
];

/// A plan to be looked at, and how it would be run.
#[derive(Debug)]
pub struct Examination<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The run's options. No run file is written.
    pub options: &'a RunOptions,
    /// Connectors of this build.
    pub registry: &'a Registry,
    /// One journey of each kind is sent. It has the effects that it has.
    pub probe: bool,
    /// Ends it early: what is left is skipped.
    pub stop: &'a Stop,
}

impl Examination<'_> {
    /// Looks at everything, in order; `begin` is told what is looked at next, for those who wait.
    /// It takes half a second and what targets and brokers take; a probe, at worst, its journeys'
    /// `within` and linger besides.
    pub fn run(&self, begin: &mut dyn FnMut(&str)) -> Vec<Check> {
        let mut checks = plan::checks(self.plan);
        begin("clock and sleeps");
        checks.extend(clock::checks(self.plan, self.options.client.spin));
        begin("processors, memory, descriptors");
        let allowance = Allowance::this();
        let soft = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let machine = Machine::this(preflight::raise_descriptors());
        let demand = Demand::of(self.plan, self.options);
        checks.push(processors::check(self.plan, self.options, &allowance));
        checks.push(memory::check(&demand, &machine, &allowance));
        let targets = preflight::targets(self.plan);
        let names = Names::of(&targets, begin);
        let client = &self.options.client;
        checks.extend(connections::checks(&demand, &names, client, (soft, &machine)));
        checks.extend(names.checks());
        checks.extend(self.unless_stopped("target", || {
            targets::checks(&targets, &names, client, self.probe, begin)
        }));
        checks.extend(self.unless_stopped("channel", || {
            channels::checks(self.plan, self.registry, self.stop, begin)
        }));
        let probe = self.unless_stopped("probe", || self.probe(&checks, begin));
        checks.extend(probe);
        checks
    }

    fn unless_stopped(&self, name: &str, look: impl FnOnce() -> Vec<Check>) -> Vec<Check> {
        match self.stop.graceful() {
            true => vec![Check::skipped(name, "", INTERRUPTED)],
            false => look(),
        }
    }

    fn probe(&self, checks: &[Check], begin: &mut dyn FnMut(&str)) -> Vec<Check> {
        let skipped = |why: &str| vec![Check::skipped("probe", "", why)];
        if !self.probe {
            return skipped("not asked for: --probe sends one journey of each kind");
        }
        let is_needed = |check: &&Check| {
            matches!(check.name.as_str(), "name" | "target" | "channel" | "backlog")
        };
        if checks.iter().filter(is_needed).any(|check| check.outcome == Finding::Failed) {
            return skipped("a target or channel is missing");
        }
        begin("one journey of each kind, to its deadline");
        probe::checks(self.plan, self.options, self.registry, self.stop)
    }
}

/// What is to be said of a file that is no plan: each problem and what to do about it; the rest is
/// skipped.
pub fn unread(file: &str, problems: Vec<(String, Option<String>)>) -> Vec<Check> {
    let plan = problems
        .into_iter()
        .map(|(found, advice)| Check::failed("plan", file, found).advised(advice));
    let others = OTHERS.iter().map(|name| Check::skipped(name, "", "the plan could not be read"));
    plan.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_file_that_is_no_plan_the_rest_is_skipped() {
        let problems = vec![("x.yaml:1:1: no journeys".to_owned(), Some("add one".to_owned()))];
        let checks = unread("x.yaml", problems);
        assert_eq!(
            (checks[0].outcome, checks[0].advice.as_deref()),
            (Finding::Failed, Some("add one"))
        );
        let rest = &checks[1..];
        assert_eq!(rest.len(), OTHERS.len());
        assert!(rest.iter().all(|check| check.outcome == Finding::Skipped));
    }
}
