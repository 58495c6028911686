//! Stages: events to see and states to ask for.

use std::collections::BTreeMap;

use crate::{Expect, Poll, Selector, Stage, StageKind, StageSource, Step};

use super::Reader;
use super::conditions::conditions;
use super::fields::{Fields, given_or};
use super::node::{Content, Node};
use super::order;
use super::selectors::{self, Place};
use super::shapes;
use super::templates::Scope;

/// Most stages of a journey: the ledger keeps one bit for each.
pub(super) const STAGES_MAX: usize = 32;

/// Fields that say something of events.
const EVENT_FIELDS: [&str; 9] =
    ["match", "key", "check", "expect", "member", "shared", "reason", "rekey", "clock"];

const POLL_EVERY_NS: u64 = 500_000_000;
const POLL_BUDGET_PER_S: f64 = 50.0;

/// A stage's mapping, before anything in it is compiled.
pub(super) struct RawStage<'n> {
    pub(super) node: &'n Node,
    pub(super) fields: Fields<'n>,
    pub(super) name: String,
}

/// What stands in a journey's list of stages.
#[derive(Default)]
pub(super) struct RawStages<'n> {
    pub(super) stages: Vec<RawStage<'n>>,
    /// Places by name.
    pub(super) names: BTreeMap<String, usize>,
    /// Lists of alternatives.
    pub(super) one_of: Vec<&'n Node>,
}

/// What stands around a stage that is read.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) stages: &'a [RawStage<'a>],
    /// Its own place among them.
    pub(super) place: usize,
    pub(super) names: &'a [&'a str],
    pub(super) steps: &'a [Step],
}

impl Reader<'_> {
    /// The stages' mappings, their places by name, and the lists of alternatives among them.
    pub(super) fn raw_stages<'n>(&mut self, node: Option<&'n Node>) -> RawStages<'n> {
        let mut raw = RawStages::default();
        let items = node.and_then(|node| self.problems.list(node));
        for (place, item) in items.unwrap_or_default().iter().enumerate() {
            if is_one_of(item) {
                let fields = Fields::of(item, &shapes::ONE_OF, &mut self.problems);
                raw.one_of.extend(fields.and_then(|fields| fields.get("one_of")));
                continue;
            }
            let Some(fields) = Fields::of(item, &shapes::STAGE, &mut self.problems) else {
                continue;
            };
            let name = match fields.get("name").and_then(|node| self.problems.text(node)) {
                Some(name) => name.to_owned(),
                None => format!("stage-{}", place + 1),
            };
            let at = fields.get("name").unwrap_or(item);
            if self.problems.check_name(at.range.start, &name, "stage").is_none() {
                continue;
            }
            if raw.names.insert(name.clone(), raw.stages.len()).is_some() {
                let message = format!("two stages are named `{name}`");
                let hint = Some("reports and thresholds tell stages apart by name".to_owned());
                self.problems.at(at, message, hint);
            }
            raw.stages.push(RawStage { node: item, fields, name });
        }
        raw
    }

    /// Compiles stages.
    pub(super) fn stages(
        &mut self,
        raw: &RawStages<'_>,
        steps: &[Step],
        scope: &Scope,
    ) -> Vec<Stage> {
        let RawStages { stages: raw, one_of, .. } = raw;
        let names: Vec<String> = raw.iter().map(|stage| stage.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut stages = Vec::new();
        for (place, stage) in raw.iter().enumerate() {
            let around = Around { stages: raw, place, names: &names, steps };
            stages.extend(self.stage(stage, around, scope));
        }
        // Predecessors and likeness mean something only when every stage could be read.
        if stages.len() == raw.len() {
            let nodes: Vec<&Node> = raw.iter().map(|stage| stage.node).collect();
            let explicit: Vec<bool> =
                raw.iter().map(|stage| stage.fields.get("after").is_some()).collect();
            self.alternatives(one_of, &names, &mut stages);
            order::set_predecessors(&mut stages, &explicit);
            order::check_cycles(&stages, &nodes, &mut self.problems);
            order::check_distinct(&stages, &nodes, &mut self.problems);
        }
        stages
    }

    fn stage(&mut self, raw: &RawStage<'_>, around: Around<'_>, scope: &Scope) -> Option<Stage> {
        let fields = &raw.fields;
        let source = self.stage_source(raw, scope);
        let kind = self.stage_kind(fields);
        let after = given_or(fields.get("after"), None, |node| {
            self.problems.lookup(node, "stage", around.names).map(Some)
        });
        let expect = self.expected(fields.get("expect"), around);
        let member = given_or(fields.get("member"), None, |node| {
            selectors::selector(node, Place::Event, &mut self.problems).map(Some)
        });
        let shared = given_or(fields.get("shared"), false, |node| self.problems.flag(node));
        let reason = given_or(fields.get("reason"), None, |node| self.reason(node, kind).map(Some));
        let rekey =
            given_or(fields.get("rekey"), None, |node| self.keyed(node, Place::Event).map(Some));
        let clock =
            given_or(fields.get("clock"), None, |node| self.clock(node, Place::Event).map(Some));
        if let (Some(true), Some(None)) = (expect.as_ref().map(Expect::is_several), &member) {
            let node = fields.get("expect").unwrap_or(raw.node);
            let several = match &expect {
                Some(Expect::Members(expect)) => expect.to_string(),
                _ => "several".to_owned(),
            };
            let message = format!("stage `{}` expects {several} events, all alike", raw.name);
            let hint = "say what tells them apart: `member: $.id`";
            self.problems.at(node, message, Some(hint.to_owned()));
        }
        Some(Stage {
            name: raw.name.clone(),
            source: source?,
            kind: kind?,
            after: after?,
            expect: expect?,
            member: member?,
            shared: shared?,
            reason: reason?,
            rekey: rekey?,
            clock: clock?,
        })
    }

    /// Where a failure's event says why.
    fn reason(&mut self, node: &Node, kind: Option<StageKind>) -> Option<Selector> {
        if !matches!(kind, Some(StageKind::Failure | StageKind::Never) | None) {
            let hint = "only reaching a failure needs a reason: add `failure: true`";
            self.problems.at(node, "`reason` of a stage that is no failure", Some(hint.into()));
            return None;
        }
        selectors::selector(node, Place::Event, &mut self.problems)
    }

    fn stage_kind(&mut self, fields: &Fields<'_>) -> Option<StageKind> {
        let mut kind = StageKind::Required;
        let mut set_by = "";
        for (key, node) in fields.given(&["optional", "never", "failure"]) {
            if !self.problems.flag(node)? {
                continue;
            }
            if !set_by.is_empty() {
                let message = format!("both `{set_by}` and `{}`", key.name);
                let hint = Some("a stage is one of them".to_owned());
                self.problems.at_byte(key.range.start, message, hint);
                return None;
            }
            set_by = &key.name;
            kind = match set_by {
                "optional" => StageKind::Optional,
                "never" => StageKind::Never,
                _ => StageKind::Failure,
            };
        }
        Some(kind)
    }

    fn stage_source(&mut self, raw: &RawStage<'_>, scope: &Scope) -> Option<StageSource> {
        let fields = &raw.fields;
        match (fields.get("on"), fields.get("poll")) {
            (Some(on), None) => self.event(raw, on),
            (None, Some(poll)) => {
                for (key, _) in fields.given(&EVENT_FIELDS) {
                    let message = format!("`{}` is of events; this stage polls", key.name);
                    let hint = Some("test the answer in `poll.until`".to_owned());
                    self.problems.at_byte(key.range.start, message, hint);
                }
                self.poll(poll, scope).map(StageSource::Poll)
            }
            (Some(on), Some(_)) => {
                let hint = Some("a stage is seen in one way".to_owned());
                self.problems.at(on, "both `on` and `poll`", hint);
                None
            }
            (None, None) if fields.has_unknown => None,
            (None, None) => {
                let message = format!("stage `{}` has neither `on` nor `poll`", raw.name);
                let hint = Some("say where it is seen: `on: CHANNEL`".to_owned());
                self.problems.at(raw.node, message, hint);
                None
            }
        }
    }

    fn event(&mut self, raw: &RawStage<'_>, on: &Node) -> Option<StageSource> {
        let fields = &raw.fields;
        let channels: Vec<&str> = self.channel_names.iter().map(String::as_str).collect();
        let channel = self.problems.lookup(on, "channel", &channels);
        let mut tests = |name| match fields.get(name) {
            Some(node) => conditions(node, Place::Event, &mut self.problems),
            None => Vec::new(),
        };
        let (matches, checks) = (tests("match"), tests("check"));
        let key = match fields.get("key") {
            Some(node) => self.keyed(node, Place::Event),
            None => {
                let message =
                    format!("stage `{}` does not say where its event has the key", raw.name);
                let hint = Some("such as `key: $.id`, `key: key` or `key: header.X`".to_owned());
                self.problems.at(raw.node, message, hint);
                None
            }
        };
        let (key, key_format) = key?;
        Some(StageSource::Event { channel: channel?, matches, checks, key, key_format })
    }

    fn poll(&mut self, node: &Node, scope: &Scope) -> Option<Poll> {
        let fields = Fields::of(node, &shapes::POLL, &mut self.problems)?;
        let action = match (fields.get("http"), fields.get("url")) {
            (Some(http), None) => self.http(http, scope),
            (None, Some(url)) => self.get(url, scope),
            (Some(_), Some(url)) => {
                self.problems.at(url, "both `http` and `url`", None);
                None
            }
            (None, None) => {
                let hint = Some("say what to ask: `url: /status/{{ key }}`".to_owned());
                self.problems.at(node, "a poll without a request", hint);
                None
            }
        };
        let until = match fields.get("until") {
            Some(node) => {
                if matches!(&node.content, Content::Map(entries) if entries.is_empty()) {
                    let hint = Some("such as `until: { body.state: done }`".to_owned());
                    self.problems.at(node, "a poll until nothing", hint);
                }
                conditions(node, Place::Answer, &mut self.problems)
            }
            None => Vec::new(),
        };
        let every_ns = given_or(fields.get("every"), POLL_EVERY_NS, |node| {
            self.problems.duration_above_zero(node)
        });
        let budget_per_s =
            given_or(fields.get("budget"), POLL_BUDGET_PER_S, |node| self.rate_above_zero(node));
        Some(Poll { action: action?, until, every_ns: every_ns?, budget_per_s: budget_per_s? })
    }

    /// A rate above zero.
    pub(super) fn rate_above_zero(&mut self, node: &Node) -> Option<f64> {
        let rate = self.problems.rate(node)?;
        if rate <= 0.0 {
            self.problems.at(node, "must be above zero", None);
            return None;
        }
        Some(rate)
    }
}

/// Whether an item of the list of stages is a list of alternatives.
fn is_one_of(item: &Node) -> bool {
    match &item.content {
        Content::Map(entries) => entries.iter().any(|(key, _)| key.name == "one_of"),
        _ => false,
    }
}
