//! How many members a stage expects: a number, or where it is said.

use crate::{Action, Expect, MEMBERS_MAX, Teller};

use super::Reader;
use super::fields::Fields;
use super::node::Node;
use super::selectors::{self, Place};
use super::shapes;
use super::stages::Around;

impl Reader<'_> {
    /// `expect` of a stage.
    pub(super) fn expected(&mut self, node: Option<&Node>, around: Around<'_>) -> Option<Expect> {
        let Some(node) = node else {
            return Some(Expect::Members(1));
        };
        if node.scalar().is_some() {
            let count = self.problems.count(node, 1, MEMBERS_MAX.into())?;
            return u32::try_from(count).ok().map(Expect::Members);
        }
        let fields = Fields::of(node, &shapes::TOLD, &mut self.problems)?;
        let by = match fields.get("of") {
            Some(of) => self.teller(of, around)?,
            None => Teller::Stage(around.place),
        };
        let place = match by {
            Teller::Stage(_) => Place::Event,
            Teller::Step(_) => Place::Answer,
        };
        let from = selectors::selector(fields.get("from")?, place, &mut self.problems)?;
        Some(Expect::Told { from, by })
    }

    /// The stage or step that says it. Where both have the name, the stage is meant.
    fn teller(&mut self, node: &Node, around: Around<'_>) -> Option<Teller> {
        let text = self.problems.text(node)?;
        if let Some(place) = around.names.iter().position(|name| *name == text) {
            if around.stages[place].fields.get("on").is_none() {
                let message = format!("stage `{text}` is polled: it has no event");
                let hint = Some("name a stage with an event, or a step".to_owned());
                self.problems.at(node, message, hint);
                return None;
            }
            return Some(Teller::Stage(place));
        }
        if let Some(place) = around.steps.iter().position(|step| step.name == text) {
            if matches!(around.steps[place].action, Action::Publish(_)) {
                let message = format!("step `{text}` publishes: it has no answer");
                let hint = Some("name a stage whose event says it".to_owned());
                self.problems.at(node, message, hint);
                return None;
            }
            return Some(Teller::Step(place));
        }
        let steps = around.steps.iter().map(|step| step.name.as_str());
        let names: Vec<&str> = around.names.iter().copied().chain(steps).collect();
        self.problems.lookup(node, "stage or step", &names)?;
        None
    }
}
