//! Journeys.

use std::collections::BTreeMap;

use crate::{Escape, Journey, KeyRule, Stage, StageSource, Step, Template};

use super::Reader;
use super::fields::{Fields, given_or};
use super::node::{Key, Node};
use super::order;
use super::poison::PoisonedRoot;
use super::shapes;
use super::stages::STAGES_MAX;
use super::steps::STEPS_MAX;
use super::steps::{RawStep, announce};
use super::templates::Scope;

/// The least time a journey is watched beyond its deadline.
const LINGER_LEAST_NS: u64 = 10_000_000_000;

/// How long a journey with this deadline is watched beyond it unless its file says otherwise,
/// nanoseconds.
pub fn usual_linger_ns(within_ns: u64) -> u64 {
    LINGER_LEAST_NS.max(within_ns / 2)
}

/// A journey and its share of load entries that name none.
pub(super) struct Weighted {
    pub(super) journey: Journey,
    pub(super) weight: f64,
    /// Its poisoned ones: their share, and the journey apart that they are.
    pub(super) poison: Option<(f64, Journey)>,
}

impl Reader<'_> {
    /// All journeys, in declared order. `scope` has what setup and refresh hand over.
    pub(super) fn journeys(&mut self, node: &Node, scope: &Scope) -> Vec<Weighted> {
        let mut journeys = Vec::new();
        let entries = self.problems.map(node).unwrap_or_default();
        if entries.is_empty() {
            self.problems.at(node, "a plan without journeys", None);
        }
        for (key, value) in entries {
            journeys.extend(self.journey(key, value, scope));
        }
        journeys
    }

    fn journey(&mut self, key: &Key, node: &Node, scope: &Scope) -> Option<Weighted> {
        let named = self.problems.check_name(key.range.start, &key.name, "journey");
        let fields = Fields::of(node, &shapes::JOURNEY, &mut self.problems)?;
        let raw = self.journey_steps(key, &fields);
        let mut scope = scope.clone();
        scope.in_journey = true;
        let label = fields.get("label").and_then(|node| self.label(node, &scope));
        announce(&raw, &mut scope);
        let (mut steps, poisoned) = self.root_steps(&raw, &mut scope);
        let stage_nodes = fields.get("stages");
        let raw_stages = self.raw_stages(stage_nodes);
        self.following_steps(&raw, &raw_stages.names, &mut scope, &mut steps);
        let stages = self.stages(&raw_stages, &steps, &scope);
        self.check_key(key, &raw, &steps, &stages);
        if let (Some(node), true) = (stage_nodes, stages.len() > STAGES_MAX) {
            let message = format!("{} stages: a journey has at most {STAGES_MAX}", stages.len());
            let hint = Some("split it into two journeys".to_owned());
            self.problems.at(node, message, hint);
        }
        let within_ns = self.within(key, &fields, &steps, &stages);
        let usual_linger_ns = match within_ns {
            Some(within_ns) if !stages.is_empty() => usual_linger_ns(within_ns),
            _ => 0,
        };
        let linger_ns =
            given_or(fields.get("linger"), usual_linger_ns, |node| self.problems.duration(node));
        let of_root = raw.first().and_then(|root| root.fields.get("trace"));
        let trace = given_or(of_root, self.trace, |node| self.problems.flag(node))?;
        self.check_batch(&raw, &steps, &stages, trace);
        let weight = given_or(fields.get("weight"), 1.0, |node| self.weight(node));
        let (within_ns, linger_ns, weight) = (within_ns?, linger_ns?, weight?);
        named?;
        let name = key.name.clone();
        let journey =
            Journey { name, steps, stages, within_ns, linger_ns, trace, label, poison: None };
        let poison = self.twin(&raw, &journey, poisoned);
        Some(Weighted { journey, weight, poison })
    }

    /// Whose a journey is. Compiled apart, so that with a label the others draw as without.
    fn label(&mut self, node: &Node, scope: &Scope) -> Option<Template> {
        self.compiler.switch_streams();
        let template = self.compiler.text(node, Escape::Raw, scope, &mut self.problems);
        self.compiler.switch_streams();
        if template.as_ref().is_some_and(Template::is_literal) {
            let hint = "take it from a row: `label: \"{{ row.tenants.name }}\"`";
            self.problems.at(node, "every journey has the same label", Some(hint.to_owned()));
        }
        template
    }

    /// A weight above zero.
    pub(super) fn weight(&mut self, node: &Node) -> Option<f64> {
        let weight = self.problems.number(node)?;
        if weight <= 0.0 {
            let hint = Some("leave the journey out instead".to_owned());
            self.problems.at(node, "a weight must be above zero", hint);
            return None;
        }
        Some(weight)
    }

    fn journey_steps<'n>(&mut self, key: &Key, fields: &Fields<'n>) -> Vec<RawStep<'n>> {
        match (fields.get("root"), fields.get("steps")) {
            (Some(root), None) => {
                self.raw_step(root, &shapes::ROOT, Some("root")).into_iter().collect()
            }
            (None, Some(node)) => {
                let steps = self.raw_steps(node, &shapes::STEP);
                if steps.len() > STEPS_MAX {
                    let message =
                        format!("{} steps: a journey has at most {STEPS_MAX}", steps.len());
                    self.problems.at(node, message, Some("make it several journeys".to_owned()));
                }
                steps
            }
            (Some(_), Some(steps)) => {
                let hint = "put the root's request first among `steps`";
                let message = "both `root` and `steps`";
                self.problems.at(steps, message, Some(hint.to_owned()));
                Vec::new()
            }
            (None, None) if fields.has_unknown => Vec::new(),
            (None, None) => {
                self.problems.at_byte(
                    key.range.start,
                    format!("journey `{}` has neither `root` nor `steps`", key.name),
                    Some("say what starts it: `root: { http: POST /path }`".to_owned()),
                );
                Vec::new()
            }
        }
    }

    /// The steps that wait for no stage: each knows what those before it yielded.
    fn root_steps(
        &mut self,
        raw: &[RawStep<'_>],
        scope: &mut Scope,
    ) -> (Vec<Step>, Option<PoisonedRoot>) {
        let mut steps = Vec::new();
        let mut poisoned = None;
        for step in raw.iter().filter(|step| step.after().is_none()) {
            let read = self.step(step, scope);
            // Asked of every step: a second one is an error to tell.
            let here = self.poison(step, read.as_ref(), steps.len(), scope);
            poisoned = poisoned.or(here);
            scope.key |= step.fields.get("key").is_some();
            for (name, id, _) in &step.extracts {
                scope.set(name, *id);
            }
            steps.extend(read);
        }
        if let (Some(first), true) = (raw.first(), raw.iter().all(|step| step.after().is_some())) {
            let message = "every step waits for a stage: none starts the journey";
            let hint = Some("leave `after` away from the first step".to_owned());
            self.problems.at(first.node, message, hint);
        }
        (steps, poisoned)
    }

    /// The steps that wait for a stage. They know what the root yielded, and earlier ones of them.
    fn following_steps(
        &mut self,
        raw: &[RawStep<'_>],
        stages: &BTreeMap<String, usize>,
        scope: &mut Scope,
        steps: &mut Vec<Step>,
    ) {
        let mut names: Vec<(&str, usize)> = Vec::new();
        names.extend(stages.iter().map(|(name, place)| (name.as_str(), *place)));
        names.sort_by_key(|(_, place)| *place);
        let names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
        for step in raw {
            let Some(after) = step.after() else {
                continue;
            };
            if let Some(node) = step.fields.get("retry") {
                let hint = Some("what follows a stage is tried once".to_owned());
                self.problems.at(node, "`retry` belongs to root steps", hint);
            }
            self.refuse_poison(step);
            let place = self.problems.lookup(after, "stage", &names);
            let place = place.and_then(|place| stages.get(names[place]).copied());
            let read = self.step(step, scope);
            for (name, id, _) in &step.extracts {
                scope.set(name, *id);
            }
            steps.extend(read.zip(place).map(|(step, place)| Step { after: Some(place), ..step }));
        }
    }

    /// Events are told apart by the journey's key: exactly one root step yields it.
    fn check_key(&mut self, key: &Key, raw: &[RawStep<'_>], steps: &[Step], stages: &[Stage]) {
        let mut keyed = raw.iter().filter(|step| step.fields.get("key").is_some());
        let first = keyed.next();
        for second in keyed {
            let node = second.fields.get("key").unwrap_or(second.node);
            let hint = Some("a journey has one key, from one of its root steps".to_owned());
            self.problems.at(node, "a second key", hint);
        }
        if let Some(late) = first.filter(|step| step.after().is_some()) {
            let node = late.fields.get("key").unwrap_or(late.node);
            let message = "a step that waits for a stage can't yield the key";
            let hint = Some("events are found by the key: a root step must yield it".to_owned());
            self.problems.at(node, message, hint);
        }
        let has_event = |stage: &Stage| matches!(stage.source, StageSource::Event { .. });
        if first.is_none() && !steps.is_empty() && stages.iter().any(has_event) {
            self.problems.at_byte(
                key.range.start,
                format!("journey `{}` waits for events, but has no key", key.name),
                Some(
                    "say where its key is: `key: body.id`, or make it: `key: \"{{ uuid() }}\"`"
                        .to_owned(),
                ),
            );
        }
        for step in steps {
            if let Some(KeyRule::Made(template)) = &step.key
                && template.is_literal()
            {
                let message = format!("journey `{}`: every journey has the same key", key.name);
                let hint = Some("make it of something that differs, such as uuid()".to_owned());
                self.problems.at_byte(key.range.start, message, hint);
            }
        }
    }

    fn within(
        &mut self,
        key: &Key,
        fields: &Fields<'_>,
        steps: &[Step],
        stages: &[Stage],
    ) -> Option<u64> {
        match fields.get("within") {
            Some(node) => self.problems.duration_above_zero(node),
            None if fields.get("stages").is_none() => {
                let times_ns = steps.iter().map(Step::time_max_ns);
                Some(times_ns.fold(0, u64::saturating_add))
            }
            None => {
                let polls = stages.iter().all(order::is_poll) && !stages.is_empty();
                let what = if polls { "a state" } else { "events" };
                self.problems.at_byte(
                    key.range.start,
                    format!("journey `{}` waits for {what}, but not how long", key.name),
                    Some("add `within: 30s`: later journeys are late or lost".to_owned()),
                );
                None
            }
        }
    }
}
