//! Thresholds and health limits.

use sojourn_metrics::{Threshold, ThresholdError};

use crate::{HealthLimits, Journey, Plan, Stage, StageKind, Step};

use super::Reader;
use super::fields::{Fields, shown};
use super::node::{Content, Node};
use super::problems::suggestion;
use super::shapes;

impl Reader<'_> {
    /// The thresholds, their names looked up in the plan.
    pub(super) fn thresholds(&mut self, node: &Node, plan: &Plan) -> Vec<Threshold> {
        let mut thresholds = Vec::new();
        for item in self.problems.list(node).unwrap_or_default() {
            thresholds.extend(self.threshold(item, plan));
        }
        thresholds
    }

    fn threshold(&mut self, node: &Node, plan: &Plan) -> Option<Threshold> {
        let (at, abort) = match &node.content {
            Content::Map(_) => {
                let fields = Fields::of(node, &shapes::THRESHOLD, &mut self.problems)?;
                let abort = match fields.get("abort") {
                    Some(node) => self.problems.flag(node)?,
                    None => false,
                };
                (fields.get("threshold")?, abort)
            }
            _ => (node, false),
        };
        let text = self.problems.text(at)?;
        let mut threshold = match parse(text) {
            Ok(threshold) => threshold,
            Err(error) => {
                let part = text.get(error.range.clone()).unwrap_or_default();
                let message = format!("`{}`: {}", shown(text), error.message);
                self.problems.within(at, part, message, error.hint);
                return None;
            }
        };
        threshold.abort |= abort;
        if !self.journeys_broken {
            self.check_subject(at, &threshold.subject, plan);
        }
        Some(threshold)
    }

    /// Journeys, stages and steps that a threshold names must be there, and be only one.
    fn check_subject(&mut self, node: &Node, subject: &[String], plan: &Plan) {
        let parts: Vec<&str> = subject.iter().map(String::as_str).collect();
        let journeys = || own_journeys(plan).map(|journey| journey.name.as_str());
        match parts.as_slice() {
            ["poison", rest @ ..] => self.check_poison(node, rest, plan),
            ["journey", name, ..] if !journeys().any(|known| known == *name) => {
                let message = format!("unknown journey `{}`", shown(name));
                self.problems.within(node, name, message, suggestion(name, journeys()));
            }
            ["limit", name, ..] if !plan.limits.iter().any(|limit| limit.name == *name) => {
                let known = plan.limits.iter().map(|limit| limit.name.as_str());
                let message = format!("unknown limit `{}`", shown(name));
                self.problems.within(node, name, message, suggestion(name, known));
            }
            ["stage", name, ..] => {
                self.check_part(node, "stage", name, plan, |journey| {
                    journey.stages.iter().map(|stage| stage.name.as_str()).collect()
                });
            }
            ["branch", name, ..] => {
                self.check_part(node, "alternative", name, plan, |journey| {
                    let is_branch = |stage: &&Stage| matches!(stage.kind, StageKind::Branch(_));
                    let branches = journey.stages.iter().filter(is_branch);
                    branches.map(|stage| stage.name.as_str()).collect()
                });
            }
            ["step", name, ..] => {
                // Setup's, teardown's and refresh's steps are measured too.
                let others = plan.setup.iter().chain(&plan.teardown);
                let others = others.chain(plan.refresh.iter().map(|refresh| &refresh.step));
                if others.into_iter().any(|step: &Step| step.name == *name) {
                    return;
                }
                self.check_part(node, "step", name, plan, |journey| {
                    journey.steps.iter().map(|step| step.name.as_str()).collect()
                });
            }
            _ => {}
        }
    }

    /// There must be poisoned journeys, and of the one that is named.
    fn check_poison(&mut self, node: &Node, rest: &[&str], plan: &Plan) {
        let poisoned = plan.journeys.iter().filter_map(|journey| journey.poison);
        let poisoned: Vec<&str> =
            poisoned.map(|poison| plan.journeys[poison.of].name.as_str()).collect();
        if poisoned.is_empty() {
            let hint = "say at a root what share of it: `poison: { share: 1%, set: { … } }`";
            self.problems.at(node, "no journey of this plan is poisoned", Some(hint.to_owned()));
        } else if let [name, _, ..] = rest
            && rest.get(1) != Some(&"share")
            && !poisoned.contains(name)
        {
            let message = format!("no poisoned journey `{}`", shown(name));
            self.problems.within(node, name, message, suggestion(name, poisoned));
        }
    }

    /// `S` of any journey, or `J/S`.
    fn check_part<'p>(
        &mut self,
        node: &Node,
        what: &str,
        name: &str,
        plan: &'p Plan,
        names_of: impl Fn(&'p Journey) -> Vec<&'p str>,
    ) {
        let all: Vec<(&str, &str)> = own_journeys(plan)
            .flat_map(|journey| {
                let names = names_of(journey).into_iter();
                names.map(|name| (journey.name.as_str(), name))
            })
            .collect();
        let (message, hint) = match name.split_once('/') {
            Some((journey, part)) => {
                if all.contains(&(journey, part)) {
                    return;
                }
                let qualified: Vec<String> =
                    all.iter().map(|(journey, part)| format!("{journey}/{part}")).collect();
                let hint = suggestion(name, qualified.iter().map(String::as_str));
                (format!("unknown {what} `{}`", shown(name)), hint)
            }
            None => {
                let owners: Vec<&str> = all
                    .iter()
                    .filter(|(_, part)| *part == name)
                    .map(|(journey, _)| *journey)
                    .collect();
                match owners.as_slice() {
                    [_] => return,
                    [] => {
                        let known = all.iter().map(|(_, part)| *part);
                        let hint = suggestion(name, known);
                        (format!("unknown {what} `{}`", shown(name)), hint)
                    }
                    [first, second, ..] => (
                        format!("{what} `{name}` is in journey `{first}` and in `{second}`"),
                        Some(format!("write `{first}/{name}`")),
                    ),
                }
            }
        };
        self.problems.within(node, name, message, hint);
    }

    /// The health limits: those given, else the defaults.
    pub(super) fn health(&mut self, node: &Node) -> Option<HealthLimits> {
        let fields = Fields::of(node, &shapes::HEALTH, &mut self.problems)?;
        let mut limits = HealthLimits::default();
        let fractions = [
            ("missed_max", &mut limits.missed_max),
            ("delivered_min", &mut limits.delivered_min),
            ("lag_share_max", &mut limits.lag_share_max),
            ("busy_max", &mut limits.busy_max),
        ];
        for (name, limit) in fractions {
            let given = fields.get(name).and_then(|node| self.problems.fraction(node));
            *limit = given.unwrap_or(*limit);
        }
        let durations = [
            ("lag_p99_max", &mut limits.lag_p99_max_ns),
            ("busy_for", &mut limits.busy_for_ns),
            ("tap_behind_max", &mut limits.tap_behind_max_ns),
            ("silent_max", &mut limits.silent_max_ns),
        ];
        for (name, limit) in durations {
            let given = fields.get(name);
            let given = given.and_then(|node| self.problems.duration_above_zero(node));
            *limit = given.unwrap_or(*limit);
        }
        Some(limits)
    }
}

/// The journeys of the file: their poisoned twins have thresholds of their own.
fn own_journeys(plan: &Plan) -> impl Iterator<Item = &Journey> {
    plan.journeys.iter().filter(|journey| journey.poison.is_none())
}

/// The one place where thresholds are parsed.
fn parse(text: &str) -> Result<Threshold, ThresholdError> {
    Threshold::parse(text)
}
