//! Where answers and events show a foreign clock.

use crate::{Action, CLOCKS_MAX, ClockRule};

use super::Reader;
use super::fields::{Fields, given_or};
use super::node::Node;
use super::selectors::{self, Place};
use super::shape::Kind::{Selector, Text};
use super::shape::{Field, Shape};
use super::steps::RawStep;

/// What a clock is called that the file does not name.
const NAME: &str = "ulid";

pub(crate) static CLOCK: Shape = Shape {
    name: "a clock",
    doc: "A ULID of the system's own making, whose first 48 bits are its time.",
    fields: &[
        Field::new(
            "ulid",
            Selector,
            "Where the ULID is; in the answer to a batch a list, one for each event.",
        )
        .required(),
        Field::new(
            "name",
            Text,
            "Name of the clock, in reports; `ulid` by default. One name is one clock.",
        ),
    ],
};

/// A clock that the file has named so far.
pub(super) struct Known {
    pub(super) name: String,
    /// An answer shows it, so that its offset can be found.
    is_answered: bool,
    /// Where it is first asked for.
    at: usize,
}

impl Reader<'_> {
    /// `clock` of a step.
    pub(super) fn clock_of_step(
        &mut self,
        raw: &RawStep<'_>,
        action: &Action,
    ) -> Option<ClockRule> {
        let node = raw.fields.get("clock")?;
        if matches!(action, Action::Publish(_)) {
            let hint = Some("read a clock where the answer to a request shows it".to_owned());
            self.problems.at(node, "`clock` of a message: a broker's answer has no body", hint);
            return None;
        }
        let rule = self.clock(node, Place::Answer)?;
        self.clocks[rule.clock].is_answered = true;
        Some(rule)
    }

    /// `{ ulid: body.id, name: queue }`.
    pub(super) fn clock(&mut self, node: &Node, place: Place) -> Option<ClockRule> {
        let fields = Fields::of(node, &CLOCK, &mut self.problems)?;
        let ulid = fields.get("ulid");
        let ulid = ulid.and_then(|node| selectors::selector(node, place, &mut self.problems));
        let name = given_or(fields.get("name"), NAME.to_owned(), |node| {
            let name = self.problems.text(node)?;
            self.problems.check_name(node.range.start, name, "clock")?;
            Some(name.to_owned())
        })?;
        let known = self.clocks.iter().position(|known| known.name == name);
        let clock = known.unwrap_or_else(|| {
            let at = node.range.start;
            self.clocks.push(Known { name, is_answered: false, at });
            self.clocks.len() - 1
        });
        if clock >= CLOCKS_MAX && known.is_none() {
            let message = format!("more than {CLOCKS_MAX} clocks");
            let hint = Some("one name is one clock, wherever it is read".to_owned());
            self.problems.at(node, message, hint);
        }
        Some(ClockRule { clock, ulid: ulid? })
    }

    /// An event is seen some time after its ULID was made, and nobody knows how long: only an
    /// answer says how a clock stands to ours.
    pub(super) fn check_clocks(&mut self) {
        for known in &self.clocks {
            if !known.is_answered && !self.journeys_broken {
                let message = format!("no answer shows the clock `{}`", known.name);
                let hint = "its offset is found between a request and its answer: say `clock` at a \
                            root too, with the same `name`";
                self.problems.at_byte(known.at, message, Some(hint.to_owned()));
            }
        }
    }
}
