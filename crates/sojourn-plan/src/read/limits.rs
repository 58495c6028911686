//! Limits to verify.

use sojourn_metrics::Threshold;

use crate::{Expect, Journey, KeyRule, Limit, LimitKind, Plan, StageKind, StageSource};

use super::Reader;
use super::fields::{Fields, given_or, shown};
use super::node::{Key, Node};
use super::problems::suggestion;
use super::shape::Kind::{Count, Duration, List, Text};
use super::shape::{Field, Shape};
use super::units::show_ns;

/// Most limits of a plan.
const LIMITS_MAX: usize = 32;
/// Journeys that a limit may allow.
const MOST_MAX: u64 = 1_000_000;
const TOLERANCE_NS: u64 = 10_000_000;

pub(crate) static LIMIT: Shape = Shape {
    name: "a limit",
    doc: "What the system is said to keep: journeys at once between two stages, or a rate at one.",
    fields: &[
        Field::new("between", List(&Text), "Two stages: at most so many journeys between them."),
        Field::new("at", Text, "A stage: at most so many journeys reach it in a period."),
        Field::new("at_most", Count, "Journeys.").required(),
        Field::new("per", Duration, "The period, with `at`; 1s by default."),
        Field::new("burst", Count, "How many may reach it at once, with `at`; 1 by default."),
        Field::new(
            "tolerance",
            Duration,
            "How much too early a start, or too late an end, may be seen: the way from the system \
             to the tap takes a time that varies; 10ms by default.",
        ),
    ],
};

impl Reader<'_> {
    /// The limits. Each is a threshold too, unless the file has one of its own for it.
    pub(super) fn limits(&mut self, node: &Node, plan: &mut Plan) {
        let entries = self.problems.map(node).unwrap_or_default();
        if entries.len() > LIMITS_MAX {
            let message = format!("{} limits: a plan has at most {LIMITS_MAX}", entries.len());
            self.problems.at(node, message, None);
        }
        for (key, value) in entries {
            plan.limits.extend(self.limit(key, value, &plan.journeys));
        }
    }

    fn limit(&mut self, key: &Key, node: &Node, journeys: &[Journey]) -> Option<Limit> {
        self.problems.check_name(key.range.start, &key.name, "limit")?;
        let fields = Fields::of(node, &LIMIT, &mut self.problems)?;
        let most = fields.get("at_most");
        let most = most.and_then(|node| self.problems.count(node, 1, MOST_MAX))?;
        let (kind, declared) = match (fields.get("between"), fields.get("at")) {
            (Some(stages), None) => {
                for (given, _) in fields.given(&["per", "burst"]) {
                    let message = format!("`{}` goes with `at`", given.name);
                    self.problems.at_byte(given.range.start, message, None);
                }
                self.at_once(stages, &fields, most, journeys)
            }
            (None, Some(stage)) => self.rate_at(stage, &fields, most, journeys),
            (Some(_), Some(at)) => {
                let hint = Some("make it two limits".to_owned());
                self.problems.at(at, "both `between` and `at`", hint);
                None
            }
            (None, None) if fields.has_unknown => None,
            (None, None) => {
                let hint = "say where: `between: [started, finished]`, or `at: started`";
                self.problems.at(node, "a limit of nothing", Some(hint.to_owned()));
                None
            }
        }?;
        Some(Limit { name: key.name.clone(), kind, declared })
    }

    fn at_once(
        &mut self,
        node: &Node,
        fields: &Fields<'_>,
        most: u64,
        journeys: &[Journey],
    ) -> Option<(LimitKind, String)> {
        let [from, to] = self.problems.list(node)? else {
            let hint = Some("write `[started, finished]`".to_owned());
            self.problems.at(node, "a limit lies between two stages", hint);
            return None;
        };
        let (first, last) = (self.limited(from, journeys)?, self.limited(to, journeys)?);
        let pairs = first.iter().filter_map(|&(journey, from)| {
            let (_, to) = last.iter().find(|&&(other, _)| other == journey)?;
            (from != *to).then_some(((journey, from), *to))
        });
        let between: Vec<_> = pairs.collect();
        if between.is_empty() {
            let message = "no journey has both stages";
            self.problems.at(node, message, Some("name two stages of one journey".to_owned()));
            return None;
        }
        for &((journey, _), to) in &between {
            if journeys[journey].stages[to].kind != StageKind::Required {
                let name = &journeys[journey].stages[to].name;
                let message = format!("stage `{name}` need not be reached");
                let hint = "a journey leaves at a required stage";
                self.problems.at(last_of(node), message, Some(hint.to_owned()));
                return None;
            }
        }
        let words = [from, to].map(|node| node.text().unwrap_or_default().to_owned());
        let tolerance_ns = self.tolerance(fields)?;
        let declared = format!(
            "at most {most} between {} and {}, tolerance {}",
            words[0],
            words[1],
            show_ns(tolerance_ns)
        );
        Some((LimitKind::AtOnce { between, most, tolerance_ns }, declared))
    }

    fn rate_at(
        &mut self,
        node: &Node,
        fields: &Fields<'_>,
        most: u64,
        journeys: &[Journey],
    ) -> Option<(LimitKind, String)> {
        let at = self.limited(node, journeys)?;
        let per_ns = given_or(fields.get("per"), 1_000_000_000, |node| {
            self.problems.duration_above_zero(node)
        })?;
        let burst =
            given_or(fields.get("burst"), 1, |node| self.problems.count(node, 1, MOST_MAX))?;
        let tolerance_ns = self.tolerance(fields)?;
        let declared = format!(
            "at most {most} per {} at {}, burst {burst}, tolerance {}",
            show_ns(per_ns),
            node.text().unwrap_or_default(),
            show_ns(tolerance_ns)
        );
        Some((LimitKind::Rate { at, most, per_ns, burst, tolerance_ns }, declared))
    }

    fn tolerance(&mut self, fields: &Fields<'_>) -> Option<u64> {
        given_or(fields.get("tolerance"), TOLERANCE_NS, |node| self.problems.duration(node))
    }

    /// The stage of this name of every journey, or `J/S` of one. Its events must come when they
    /// were stamped: those that wait for their journey's key do not.
    fn limited(&mut self, node: &Node, journeys: &[Journey]) -> Option<Vec<(usize, usize)>> {
        let text = self.problems.text(node)?;
        let named = |(at, journey): (usize, &Journey)| {
            // What poisoned journeys do to the system, they do beside the others.
            let of = journey.poison.as_ref().map_or(journey, |poison| &journeys[poison.of]);
            let name = match text.strip_prefix(of.name.as_str()) {
                Some(rest) if rest.starts_with('/') => &rest[1..],
                _ => text,
            };
            Some((at, journey.stages.iter().position(|stage| stage.name == name)?))
        };
        let found: Vec<_> = journeys.iter().enumerate().filter_map(named).collect();
        if found.is_empty() {
            if !self.journeys_broken {
                let names = journeys.iter().flat_map(|journey| &journey.stages);
                let hint = suggestion(text, names.map(|stage| stage.name.as_str()));
                self.problems.at(node, format!("unknown stage `{}`", shown(text)), hint);
            }
            return None;
        }
        for &(journey, stage) in &found {
            let journey = &journeys[journey];
            let stages = &journey.stages;
            let made = |key: &Option<KeyRule>| matches!(key, Some(KeyRule::Made(_)));
            let why = if matches!(stages[stage].source, StageSource::Poll(_)) {
                "its stage is polled"
            } else if stages.iter().any(|stage| stage.rekey.is_some()) {
                "its events yield further keys"
            } else if matches!(stages[stage].expect, Expect::Told { .. }) {
                "how many events its stage has is known only when it is told"
            } else if !journey.steps.iter().any(|step| made(&step.key)) {
                "its key comes from the answer"
            } else {
                continue;
            };
            let message = format!("a limit at journey `{}`: {why}", journey.name);
            let hint = "instants would not be exact: make the key, `key: \"{{ uuid() }}\"`, and \
                        listen for events";
            self.problems.at(node, message, Some(hint.to_owned()));
            return None;
        }
        Some(found)
    }
}

/// The node of a pair's last stage.
fn last_of(pair: &Node) -> &Node {
    match &pair.content {
        super::node::Content::List(items) => items.last().unwrap_or(pair),
        _ => pair,
    }
}

/// Adds `limit.NAME.violations == 0` for every limit that no threshold names.
pub(super) fn add_thresholds(plan: &mut Plan) {
    for limit in &plan.limits {
        let is_of = |threshold: &Threshold| {
            threshold.subject.first().is_some_and(|part| part == "limit")
                && threshold.subject.get(1).is_some_and(|part| *part == limit.name)
        };
        if !plan.thresholds.iter().any(is_of) {
            let text = format!("limit.{}.violations == 0", limit.name);
            plan.thresholds.extend(Threshold::parse(&text).ok());
        }
    }
}
