//! Load entries: how much, when, of which journeys.

use sojourn_pace::Arrivals;

use crate::{Journey, Load, Model};

use super::Reader;
use super::fields::{Fields, given_or};
use super::journeys::Weighted;
use super::load_shapes;
use super::node::{Content, Node};
use super::units::show_ns;

/// The forms of an open load, of which an entry has one.
const OPEN: [&str; 6] = ["rate", "stages", "spike", "sine", "random", "file"];
/// What only an open load has, besides.
const OPEN_ONLY: [&str; 4] = ["arrivals", "from", "unit", "count"];
/// What only a closed load has, besides `users`.
const CLOSED_ONLY: [&str; 3] = ["think", "until", "iterations"];

/// Stands for a length that is already reported: nothing is read into a plan by then.
const UNREAD_STEADY_NS: u64 = 365 * 86_400_000_000_000;

/// Lengths of an entry's phases as given, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases {
    /// Warm-up; 0 when not given.
    pub(super) warmup_ns: u64,
    /// Steady, when given.
    pub(super) steady_ns: Option<u64>,
}

impl Phases {
    /// Warm-up and steady together, when both are known.
    pub(super) fn total_ns(&self) -> Option<u64> {
        self.steady_ns.map(|steady| self.warmup_ns.saturating_add(steady))
    }
}

/// A model with the length it runs for, warm-up included, and its description.
pub(super) struct Shaped {
    pub(super) model: Model,
    pub(super) total_ns: u64,
    pub(super) declared: String,
}

impl Reader<'_> {
    /// The load entries: one mapping, or a list of them.
    pub(super) fn loads(&mut self, node: &Node, journeys: &[Weighted]) -> Vec<Load> {
        let items = match &node.content {
            Content::Map(_) => std::slice::from_ref(node),
            _ => match self.problems.list(node) {
                Some(items) => items,
                None => return Vec::new(),
            },
        };
        if items.is_empty() {
            self.problems.at(node, "a plan without load", None);
        }
        let mut loads = Vec::new();
        for item in items {
            loads.extend(self.load(item, journeys));
        }
        loads
    }

    fn load(&mut self, node: &Node, journeys: &[Weighted]) -> Option<Load> {
        let fields = Fields::of(node, &load_shapes::LOAD, &mut self.problems)?;
        let chosen = self.chosen(&fields, journeys);
        let phases = Phases {
            warmup_ns: fields
                .get("warmup")
                .map_or(0, |node| self.problems.duration(node).unwrap_or_default()),
            // A length that can't be read is long enough for whatever else there is to check.
            steady_ns: fields
                .get("steady")
                .map(|node| self.problems.duration(node).unwrap_or(UNREAD_STEADY_NS)),
        };
        let shaped = match fields.get("users") {
            Some(users) => {
                self.misplaced(&fields, &[&OPEN[..], &OPEN_ONLY[..]].concat(), "an open load");
                self.closed(node, users, &fields, phases)
            }
            None => {
                self.misplaced(&fields, &CLOSED_ONLY, "users");
                self.open(node, &fields, phases)
            }
        }?;
        let chosen = chosen?;
        self.check_batch_users(node, &shaped.model, &chosen, journeys);
        let steady_ns = self.steady(node, &fields, phases, shaped.total_ns)?;
        let observed = chosen.iter().map(|&(place, _)| {
            let journey = &journeys[place].journey;
            journey.within_ns.saturating_add(journey.linger_ns)
        });
        let usual_ns = observed.max().unwrap_or_default();
        let drain_ns = given_or(fields.get("drain"), usual_ns, |node| {
            let drain_ns = self.problems.duration(node)?;
            self.warn_short_drain(drain_ns, &chosen, journeys);
            Some(drain_ns)
        })?;
        Some(Load {
            declared: declared(phases.warmup_ns, &shaped, &chosen, journeys),
            journeys: chosen,
            model: shaped.model,
            warmup_ns: phases.warmup_ns,
            steady_ns,
            drain_ns,
        })
    }

    /// Which journeys an entry starts, with their weights.
    fn chosen(&mut self, fields: &Fields<'_>, journeys: &[Weighted]) -> Option<Vec<(usize, f64)>> {
        let names: Vec<&str> =
            journeys.iter().map(|journey| journey.journey.name.as_str()).collect();
        match (fields.get("journey"), fields.get("journeys")) {
            (Some(node), None) => {
                let known = self.lookup_journey(node, &names)?;
                Some(vec![(known?, 1.0)])
            }
            (None, Some(node)) => {
                let mut chosen = Vec::new();
                let entries = self.problems.map(node)?;
                if entries.is_empty() {
                    self.problems.at(node, "a load of no journey", None);
                }
                for (key, value) in entries {
                    let weight = self.weight(value);
                    let place = names.iter().position(|name| *name == key.name);
                    if place.is_none() && !self.journeys_broken {
                        let message = format!("unknown journey `{}`", key.name);
                        let hint = super::problems::suggestion(&key.name, names.iter().copied());
                        self.problems.at_byte(key.range.start, message, hint);
                    }
                    chosen.extend(place.zip(weight));
                }
                (!chosen.is_empty()).then_some(chosen)
            }
            (Some(_), Some(node)) => {
                self.problems.at(node, "both `journey` and `journeys`", None);
                None
            }
            (None, None) => Some(
                journeys
                    .iter()
                    .enumerate()
                    .map(|(place, journey)| (place, journey.weight))
                    .collect(),
            ),
        }
    }

    /// A journey's place. A name is only unknown when every journey could be read.
    fn lookup_journey(&mut self, node: &Node, names: &[&str]) -> Option<Option<usize>> {
        let text = self.problems.text(node)?;
        match names.iter().position(|name| *name == text) {
            Some(place) => Some(Some(place)),
            None if self.journeys_broken => Some(None),
            None => Some(self.problems.lookup(node, "journey", names)),
        }
    }

    fn misplaced(&mut self, fields: &Fields<'_>, names: &[&str], of: &str) {
        for (key, _) in fields.given(names) {
            let other = if of == "users" { "arrivals" } else { "users" };
            let message = format!("`{}` is of {of}; this entry has {other}", key.name);
            self.problems.at_byte(key.range.start, message, None);
        }
    }

    fn open(&mut self, node: &Node, fields: &Fields<'_>, phases: Phases) -> Option<Shaped> {
        let arrivals = match fields.get("arrivals") {
            Some(node) => self.problems.choice(node, &["constant", "poisson", "replay"])?,
            None if fields.get("file").is_some() => 2,
            None => 0,
        };
        let forms = fields.given(&OPEN);
        let [(form, value)] = forms.as_slice() else {
            let (at, message) = match forms.get(1) {
                Some((second, _)) => {
                    let message = format!("both `{}` and `{}`", forms[0].0.name, second.name);
                    (second.range.start, message)
                }
                None => (node.range.start, "a load of nothing".to_owned()),
            };
            let hint = "say how much: `rate: 50/s`, `stages: […]` or `users: 50`".to_owned();
            if !(forms.is_empty() && fields.has_unknown) {
                self.problems.at_byte(at, message, Some(hint));
            }
            return None;
        };
        if (form.name == "file") != (arrivals == 2) {
            let message = match arrivals {
                2 => "`arrivals: replay` needs `file`",
                _ => "`file` needs `arrivals: replay`",
            };
            self.problems.at_byte(form.range.start, message, None);
            return None;
        }
        for (name, of) in [("unit", "file"), ("from", "stages")] {
            if let (Some(node), true) = (fields.get(name), form.name != of) {
                let message = format!("`{name}` goes with `{of}`");
                self.problems.at(node, message, None);
            }
        }
        let limit = match fields.get("count") {
            Some(node) => Some(self.problems.count(node, 1, u64::MAX)?),
            None => None,
        };
        if form.name == "file" {
            return self.replay(value, fields, phases, limit);
        }
        let shape = self.profile(&form.name, value, fields, phases, limit, arrivals == 1)?;
        let placement = ["constant", "poisson"][arrivals];
        let declared = match limit {
            Some(limit) => format!("{placement}, {}, at most {limit}", shape.declared),
            None => format!("{placement}, {}", shape.declared),
        };
        Some(Shaped {
            total_ns: shape.total_ns,
            declared,
            model: Model::Open {
                profile: shape.profile,
                arrivals: match arrivals {
                    1 => Arrivals::Poisson,
                    _ => Arrivals::Constant,
                },
                limit,
            },
        })
    }

    /// The steady phase: what the model's length leaves after the warm-up.
    fn steady(
        &mut self,
        node: &Node,
        fields: &Fields<'_>,
        phases: Phases,
        total_ns: u64,
    ) -> Option<u64> {
        let steady_ns = total_ns.saturating_sub(phases.warmup_ns);
        if let (Some(given), Some(at)) = (phases.steady_ns, fields.get("steady"))
            && given != steady_ns
        {
            let warmup = match phases.warmup_ns {
                0 => String::new(),
                ns => format!(", of which {} are warm-up", show_ns(ns)),
            };
            let message = format!("the stages last {}{warmup}", show_ns(total_ns));
            let hint = Some(format!("leave `steady` out, or say {}", show_ns(steady_ns)));
            self.problems.at(at, message, hint);
            return None;
        }
        if steady_ns == 0 {
            let at = fields.get("steady").unwrap_or(node);
            let hint = "say how long to measure: `steady: 30s`, beyond the warm-up";
            self.problems.at(at, "a run of zero length", Some(hint.to_owned()));
            return None;
        }
        Some(steady_ns)
    }

    fn warn_short_drain(&mut self, drain_ns: u64, chosen: &[(usize, f64)], journeys: &[Weighted]) {
        let longest = chosen
            .iter()
            .map(|&(place, _)| &journeys[place].journey)
            .filter(|journey| !journey.stages.is_empty())
            .max_by_key(|journey| journey.within_ns);
        if let Some(journey) = longest
            && drain_ns < journey.within_ns
        {
            self.warnings.push(format!(
                "drain {} is shorter than journey `{}` may take ({}): journeys still in flight at \
                 its end can't be called lost",
                show_ns(drain_ns),
                journey.name,
                show_ns(journey.within_ns),
            ));
        }
    }
}

/// A journey's name; with a batch, what an arrival is.
fn named(journey: &Journey) -> String {
    match journey.batch() {
        Some(batch) => format!("{} (arrivals of {} journeys)", journey.name, batch.size),
        None => journey.name.clone(),
    }
}

/// An entry in one line.
fn declared(
    warmup_ns: u64,
    shaped: &Shaped,
    chosen: &[(usize, f64)],
    journeys: &[Weighted],
) -> String {
    let names: Vec<String> = chosen
        .iter()
        .map(|&(place, weight)| match chosen.len() {
            1 => named(&journeys[place].journey),
            _ => format!("{} {weight}", named(&journeys[place].journey)),
        })
        .collect();
    let mut text = format!("{}: {}", names.join(", "), shaped.declared);
    if warmup_ns > 0 {
        text.push_str(&format!(", warm-up {}", show_ns(warmup_ns)));
    }
    text
}
