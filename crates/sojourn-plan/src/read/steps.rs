//! Steps: a request or message, what its answer must be, and what is taken from it.

use crate::selector::Selector;
use crate::{Action, Escape, Extract, HttpAction, KeyRule, Refresh, Step, VariableId};

use super::Reader;
use super::conditions::conditions;
use super::fields::Fields;
use super::node::Node;
use super::selectors::{self, Place};
use super::shape::Shape;
use super::shapes;
use super::templates::Scope;

/// Most steps of a journey: its actor keeps one bit for each.
pub(super) const STEPS_MAX: usize = 32;

/// A step's mapping, before anything in it is compiled: names and variables must be known first.
pub(super) struct RawStep<'n> {
    pub(super) node: &'n Node,
    pub(super) fields: Fields<'n>,
    pub(super) name: String,
    pub(super) extracts: Vec<(String, VariableId, &'n Node)>,
}

impl<'n> RawStep<'n> {
    /// The stage it waits for, as named.
    pub(super) fn after(&self) -> Option<&'n Node> {
        self.fields.get("after")
    }
}

impl Reader<'_> {
    /// Setup and teardown: steps in order, each knowing what those before it extracted.
    pub(super) fn plain_steps(&mut self, node: &Node, scope: &mut Scope) -> Vec<Step> {
        let raw = self.raw_steps(node, &shapes::STEP);
        for step in &raw {
            for name in ["key", "after", "retry", "batch", "clock", "publish", "poison"] {
                if let Some(node) = step.fields.get(name) {
                    let message = format!("`{name}` belongs to a journey's steps");
                    self.problems.at(node, message, None);
                }
            }
        }
        announce(&raw, scope);
        let mut steps = Vec::new();
        for step in &raw {
            steps.extend(self.step(step, scope));
            for (name, id, _) in &step.extracts {
                scope.set(name, *id);
            }
        }
        steps
    }

    /// Steps repeated during the run. What they extract is theirs and the journeys'.
    pub(super) fn refresh(&mut self, node: &Node, scope: &mut Scope) -> Vec<Refresh> {
        let raw = self.raw_steps(node, &shapes::REFRESH);
        announce(&raw, scope);
        let mut refresh = Vec::new();
        for step in &raw {
            let every = step.fields.get("every");
            let every_ns = every.and_then(|node| self.problems.duration_above_zero(node));
            let read = self.step(step, scope);
            refresh.extend(every_ns.zip(read).map(|(every_ns, step)| Refresh { every_ns, step }));
            for (name, id, _) in &step.extracts {
                scope.set(name, *id);
            }
        }
        refresh
    }

    /// A list of steps, with their names checked and their variables numbered.
    pub(super) fn raw_steps<'n>(&mut self, node: &'n Node, shape: &Shape) -> Vec<RawStep<'n>> {
        let mut steps: Vec<RawStep<'n>> = Vec::new();
        for item in self.problems.list(node).unwrap_or_default() {
            let Some(step) = self.raw_step(item, shape, None) else {
                continue;
            };
            if steps.iter().any(|other| other.name == step.name) {
                let at = step.fields.get("name").unwrap_or(item);
                let message = format!("two steps are named `{}`", step.name);
                let hint = Some("reports and thresholds tell steps apart by name".to_owned());
                self.problems.at(at, message, hint);
            }
            steps.push(step);
        }
        steps
    }

    /// One step; `name` where its mapping needs none.
    pub(super) fn raw_step<'n>(
        &mut self,
        node: &'n Node,
        shape: &Shape,
        name: Option<&str>,
    ) -> Option<RawStep<'n>> {
        let fields = Fields::of(node, shape, &mut self.problems)?;
        let name = match fields.get("name") {
            Some(at) => {
                let name = self.problems.text(at)?;
                self.problems.check_name(at.range.start, name, "step")?;
                name.to_owned()
            }
            // A missing name is already reported; the rest of the step still gets read.
            None => name.unwrap_or("step").to_owned(),
        };
        let mut extracts = Vec::new();
        if let Some(map) = fields.get("extract") {
            for (key, value) in self.problems.map(map).unwrap_or_default() {
                let id = self.variable(key.range.start, &key.name);
                extracts.extend(id.map(|id| (key.name.clone(), id, value)));
            }
        }
        Some(RawStep { node, fields, name, extracts })
    }

    /// Compiles a step. A key that the client makes is known to its own request.
    pub(super) fn step(&mut self, raw: &RawStep<'_>, scope: &mut Scope) -> Option<Step> {
        let key = raw.fields.get("key").and_then(|node| self.key(node, scope));
        if matches!(key, Some(KeyRule::Made(_))) {
            scope.key = true;
        }
        let action = self.action(raw, scope);
        let expect = match raw.fields.get("expect") {
            Some(node) => conditions(node, Place::Answer, &mut self.problems),
            None => Vec::new(),
        };
        let mut extract = Vec::new();
        for (_, variable, node) in &raw.extracts {
            let selector = selectors::selector(node, Place::Answer, &mut self.problems);
            extract.extend(selector.map(|selector| Extract { variable: *variable, selector }));
        }
        let retry = raw.fields.get("retry").and_then(|node| self.retry(node));
        let mut action = action?;
        let batch = self.batch_of(raw, &mut action);
        let clock = self.clock_of_step(raw, &action);
        let name = raw.name.clone();
        let step = Step { name, after: None, action, expect, extract, key, retry, batch, clock };
        match &step.action {
            Action::Http(http) => self.check_head(raw, http, &step),
            Action::Publish(_) => self.check_publish(raw, step.key.as_ref()),
        }
        Some(step)
    }

    /// A HEAD request's answer has no body to look into.
    fn check_head(&mut self, raw: &RawStep<'_>, http: &HttpAction, step: &Step) {
        let of_body = |selector: &Selector| {
            matches!(selector, Selector::Body(_) | Selector::Text | Selector::Regex(_))
        };
        let key_of_body =
            matches!(&step.key, Some(KeyRule::Received { selector, .. }) if of_body(selector));
        let looks = step.expect.iter().any(|check| of_body(&check.selector))
            || step.extract.iter().any(|extract| of_body(&extract.selector))
            || step.clock.as_ref().is_some_and(|clock| of_body(&clock.ulid))
            || key_of_body;
        if http.method == "HEAD" && looks {
            let message = format!("step `{}` looks into the body of a HEAD answer", raw.name);
            let hint = Some("use GET: the answer to HEAD has no body".to_owned());
            self.problems.at(raw.node, message, hint);
        }
    }

    /// A step's key rule: a template makes it, a selector finds it in the answer.
    fn key(&mut self, node: &Node, scope: &Scope) -> Option<KeyRule> {
        if node.text().is_some_and(|text| text.contains("{{")) {
            let template = self.compiler.text(node, Escape::Raw, scope, &mut self.problems)?;
            return Some(KeyRule::Made(template));
        }
        let (selector, format) = self.keyed(node, Place::Answer)?;
        Some(KeyRule::Received { selector, format })
    }

    /// A selector, or `{ from: SELECTOR, as: "pay:{}" }`.
    pub(super) fn keyed(&mut self, node: &Node, place: Place) -> Option<(Selector, String)> {
        if node.scalar().is_some() {
            let selector = selectors::selector(node, place, &mut self.problems)?;
            return Some((selector, "{}".to_owned()));
        }
        let fields = Fields::of(node, &shapes::KEY_MAP, &mut self.problems)?;
        let format = match fields.get("as") {
            Some(node) => {
                let text = self.problems.text(node)?;
                if text.matches("{}").count() != 1 || text.contains("{{") {
                    let shown = self.problems.offending(node);
                    let message = format!("`{shown}` does not say where the value goes");
                    let hint = Some("write `{}` once, such as `pay:{}`".to_owned());
                    self.problems.at(node, message, hint);
                    return None;
                }
                text.to_owned()
            }
            None => "{}".to_owned(),
        };
        let from = fields.get("from")?;
        let selector = selectors::selector(from, place, &mut self.problems)?;
        Some((selector, format))
    }
}

/// Tells a scope which variables these steps will set.
pub(super) fn announce(steps: &[RawStep<'_>], scope: &mut Scope) {
    for (name, id, _) in steps.iter().flat_map(|step| &step.extracts) {
        scope.announce(name, *id);
    }
}
