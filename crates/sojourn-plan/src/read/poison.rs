//! Poisoned roots: what they send instead, and the journey apart that they become.

use sojourn_metrics::names;

use crate::{Action, Journey, Plan, Poison, StageKind, Step, Template};

use super::Reader;
use super::fields::{Fields, shown};
use super::journeys::Weighted;
use super::node::{Content, Key, Node};
use super::problems::suggestion;
use super::shape::Kind::{Any, Either, Fraction, List, Map, Named, Text};
use super::shape::{Field, Shape};
use super::shapes::BODY_FILE;
use super::steps::RawStep;
use super::templates::Scope;

pub(crate) static POISON: Shape = Shape {
    name: "a poison",
    doc: "A share of the journeys whose root sends what some consumer must fail on.",
    fields: &[
        Field::new("share", Fraction, "Share of the journeys that are poisoned.").required(),
        Field::new(
            "set",
            Named(&Any),
            "Fields of the root's `json`, by their dotted path, and what they are instead.",
        ),
        Field::new("remove", List(&Text), "Fields of the root's `json` that are left out."),
        Field::new("json", Any, "A whole other body or payload, as JSON."),
        Field::new("body", Either(&[Text, Map(&BODY_FILE)]), "The same as text, or from a file."),
        Field::new("headers", Named(&Text), "Headers set beside, or instead of, the root's own."),
    ],
};

const PLACES: &str =
    "write the path to a field, such as `amount`, `card.number` or `items[0].price`";

/// What a journey's poisoned root sends.
pub(super) struct PoisonedRoot {
    share: f64,
    /// The step's place among the journey's steps.
    step: usize,
    action: Action,
}

/// The body of a poisoned root.
enum Body {
    /// As that of every root.
    Own,
    Other(Template),
    /// What is wrong with it has been reported.
    Unreadable,
}

impl From<Option<Template>> for Body {
    fn from(read: Option<Template>) -> Self {
        read.map_or(Self::Unreadable, Self::Other)
    }
}

impl Reader<'_> {
    /// A root step's poison; `place` is where the step will stand in its journey.
    pub(super) fn poison(
        &mut self,
        raw: &RawStep<'_>,
        step: Option<&Step>,
        place: usize,
        scope: &Scope,
    ) -> Option<PoisonedRoot> {
        let node = raw.fields.get("poison")?;
        let fields = Fields::of(node, &POISON, &mut self.problems)?;
        let share = fields.get("share").and_then(|node| self.share(node));
        // Its random values come from streams of their own: the others draw the same without it.
        self.compiler.switch_streams();
        let action = step.and_then(|step| self.poisoned(raw, node, &fields, &step.action, scope));
        self.compiler.switch_streams();
        Some(PoisonedRoot { share: share?, step: place, action: action? })
    }

    /// Refuses poison where no root is.
    pub(super) fn refuse_poison(&mut self, raw: &RawStep<'_>) {
        if let Some(node) = raw.fields.get("poison") {
            let hint = Some("a journey is poisoned by what starts it".to_owned());
            self.problems.at(node, "`poison` belongs to a root step", hint);
        }
    }

    /// The journey's poisoned twin: the same journey but for what its root sends.
    pub(super) fn twin(
        &mut self,
        raw: &[RawStep<'_>],
        journey: &Journey,
        root: Option<PoisonedRoot>,
    ) -> Option<(f64, Journey)> {
        let given = raw.iter().filter(|raw| raw.after().is_none());
        let mut given = given.filter_map(|raw| raw.fields.get("poison"));
        let first = given.next()?;
        if let Some(second) = given.next() {
            let hint = Some("a journey is poisoned at one of its root steps".to_owned());
            self.problems.at(second, "a second poison", hint);
        }
        if !journey.stages.iter().any(|stage| stage.kind == StageKind::Failure) {
            let message =
                format!("journey `{}` is poisoned, but has no failure stage", journey.name);
            let hint =
                "say where the system puts what it can't process: a stage with `failure: true`";
            self.problems.at(first, message, Some(hint.to_owned()));
        }
        let PoisonedRoot { share, step, action } = root?;
        if let (true, Action::Http(http)) = (journey.batch().is_some(), &action) {
            self.check_batch_shares(first, http);
        }
        let mut twin = journey.clone();
        twin.name = names::poisoned(&journey.name);
        twin.steps.get_mut(step)?.action = action;
        Some((share, twin))
    }

    fn share(&mut self, node: &Node) -> Option<f64> {
        let share = self.problems.fraction(node)?;
        if share <= 0.0 {
            let hint = Some("leave `poison` out instead".to_owned());
            self.problems.at(node, "a share must be above zero", hint);
            return None;
        }
        Some(share)
    }

    /// The action with the poison in it.
    fn poisoned(
        &mut self,
        raw: &RawStep<'_>,
        node: &Node,
        fields: &Fields<'_>,
        action: &Action,
        scope: &Scope,
    ) -> Option<Action> {
        let body = self.poisoned_body(raw, fields, action, scope);
        let headers = match fields.get("headers") {
            Some(node) => self.headers(node, scope),
            None => Vec::new(),
        };
        let body = match body {
            Body::Unreadable => return None,
            Body::Own if headers.is_empty() => {
                let hint = "say what is sent: `set`, `remove`, `json`, `body` or `headers`";
                if !fields.has_unknown {
                    self.problems.at(node, "a poison that changes nothing", Some(hint.to_owned()));
                }
                return None;
            }
            Body::Own => None,
            Body::Other(body) => Some(body),
        };
        let mut action = action.clone();
        match &mut action {
            Action::Http(http) => {
                http.body = body.or_else(|| http.body.take());
                replace(&mut http.headers, headers, str::eq_ignore_ascii_case);
            }
            Action::Publish(publish) => {
                publish.body = body.unwrap_or_else(|| std::mem::take(&mut publish.body));
                replace(&mut publish.headers, headers, |a, b| a == b);
            }
        }
        Some(action)
    }

    /// The body that is sent instead.
    fn poisoned_body(
        &mut self,
        raw: &RawStep<'_>,
        fields: &Fields<'_>,
        action: &Action,
        scope: &Scope,
    ) -> Body {
        let edits = fields.given(&["set", "remove"]);
        let whole: Vec<&Node> =
            [fields.with_null("json"), fields.get("body")].into_iter().flatten().collect();
        let Some(change) = edits.first().map(|(_, node)| *node).or_else(|| whole.first().copied())
        else {
            return Body::Own;
        };
        if matches!(action, Action::Http(http) if http.body.is_none()) {
            let hint = Some("poison a header, or another step".to_owned());
            self.problems.at(change, "this request has no body to poison", hint);
            return Body::Unreadable;
        }
        if let (Some((key, edit)), false) = (edits.first(), whole.is_empty()) {
            let message = format!("both `{}` and a whole other body", key.name);
            self.problems.at(edit, message, Some("leave one of them out".to_owned()));
            return Body::Unreadable;
        }
        if !whole.is_empty() {
            return self.body(fields, scope).0.into();
        }
        let http = raw.fields.get("http").or_else(|| raw.fields.get("publish"));
        let Some(json) = http.and_then(|node| member(node, "json")) else {
            let hint = Some("give the poisoned `body` whole".to_owned());
            self.problems.at(change, "the root has no `json` whose fields could change", hint);
            return Body::Unreadable;
        };
        let mut json = json.clone();
        let is_whole = self.edit(&mut json, fields);
        let body = self.compiler.json(&json, scope, &mut self.problems);
        body.filter(|_| is_whole).into()
    }

    /// Sets and removes fields of a JSON body; false when something was wrong.
    fn edit(&mut self, json: &mut Node, fields: &Fields<'_>) -> bool {
        let mut is_whole = true;
        if let Some(node) = fields.get("set") {
            for (key, value) in self.problems.map(node).unwrap_or_default() {
                if !set(json, &path(&key.name), key, value) {
                    let message = format!("the root's `json` has no place `{}`", shown(&key.name));
                    self.problems.at_byte(key.range.start, message, Some(PLACES.to_owned()));
                    is_whole = false;
                }
            }
        }
        if let Some(node) = fields.get("remove") {
            for item in self.problems.list(node).unwrap_or_default() {
                let Some(text) = self.problems.text(item) else {
                    is_whole = false;
                    continue;
                };
                if !remove(json, &path(text)) {
                    let message = format!("the root's `json` has no field `{}`", shown(text));
                    let hint = suggestion(text, names_of(json)).or_else(|| Some(PLACES.to_owned()));
                    self.problems.at(item, message, hint);
                    is_whole = false;
                }
            }
        }
        is_whole
    }
}

/// Puts the poisoned journeys behind all others, and gives each its share of every load that starts
/// the journey it is of: the same arrivals start the other journeys as without it.
pub(super) fn append(journeys: Vec<Weighted>, plan: &mut Plan) {
    let mut twins = Vec::new();
    for (of, weighted) in journeys.into_iter().enumerate() {
        plan.journeys.push(weighted.journey);
        twins.extend(weighted.poison.map(|(share, twin)| (Poison { of, share }, twin)));
    }
    for (poison, mut twin) in twins {
        let place = plan.journeys.len();
        twin.poison = Some(poison);
        plan.journeys.push(twin);
        for load in &mut plan.load {
            let Some(at) = load.journeys.iter().position(|(journey, _)| *journey == poison.of)
            else {
                continue;
            };
            let weight = load.journeys[at].1;
            load.journeys[at].1 = weight * (1.0 - poison.share);
            load.journeys.insert(at + 1, (place, weight * poison.share));
            load.journeys.retain(|(_, weight)| *weight > 0.0);
            let percent = (poison.share * 1e6).round() / 1e4;
            let name = &plan.journeys[poison.of].name;
            load.declared.push_str(&format!(", {percent} % of {name} poisoned"));
        }
    }
}

fn replace(
    headers: &mut Vec<(String, Template)>,
    by: Vec<(String, Template)>,
    same: impl Fn(&str, &str) -> bool,
) {
    headers.retain(|(name, _)| !by.iter().any(|(other, _)| same(name, other)));
    headers.extend(by);
}

/// The parts of `items[0].price`, or of `$.items[0].price`.
fn path(text: &str) -> Vec<String> {
    let text = text.trim();
    let text = text.strip_prefix("$.").unwrap_or(text).replace('[', ".").replace(']', "");
    text.split('.').map(str::to_owned).collect()
}

/// The value of this name in a mapping.
fn member<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    match &node.content {
        Content::Map(entries) => {
            entries.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
        }
        _ => None,
    }
}

/// The value at a path.
fn at<'n>(node: &'n mut Node, path: &[String]) -> Option<&'n mut Node> {
    let Some((first, rest)) = path.split_first() else {
        return Some(node);
    };
    let next = match &mut node.content {
        Content::Map(entries) => {
            entries.iter_mut().find(|(key, _)| key.name == *first).map(|(_, value)| value)
        }
        Content::List(items) => first.parse::<usize>().ok().and_then(|at| items.get_mut(at)),
        _ => None,
    };
    at(next?, rest)
}

/// Sets a field, which need not have been there; false when there is no mapping or list to hold it.
fn set(node: &mut Node, path: &[String], key: &Key, value: &Node) -> bool {
    if let Some(there) = at(node, path) {
        *there = value.clone();
        return true;
    }
    let Some((last, before)) = path.split_last() else {
        return false;
    };
    match at(node, before).map(|parent| &mut parent.content) {
        Some(Content::Map(entries)) if !last.is_empty() => {
            let key = Key { name: last.clone(), range: key.range.clone() };
            entries.push((key, value.clone()));
            true
        }
        _ => false,
    }
}

/// Removes a field; false when it is not there.
fn remove(node: &mut Node, path: &[String]) -> bool {
    let Some((last, before)) = path.split_last() else {
        return false;
    };
    match at(node, before).map(|parent| &mut parent.content) {
        Some(Content::Map(entries)) => {
            let had = entries.len();
            entries.retain(|(key, _)| key.name != *last);
            entries.len() < had
        }
        Some(Content::List(items)) => match last.parse::<usize>() {
            Ok(at) if at < items.len() => {
                items.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

fn names_of(node: &Node) -> Vec<&str> {
    match &node.content {
        Content::Map(entries) => entries.iter().map(|(key, _)| key.name.as_str()).collect(),
        _ => Vec::new(),
    }
}
