//! Steps other than requests.

use crate::compare::Comparison;
use crate::definition::{
    Action, Check, Condition, Expect, Extraction, Items, List, Place, Publish, Step, Wait,
};
use crate::evaluate::raw::{
    RawAction, RawCondition, RawExpect, RawExtraction, RawPublish, RawStep,
};
use crate::extract::Extractor;
use crate::text::Text;

use super::Reader;

impl Reader<'_> {
    pub(super) fn steps(&mut self, raw: Vec<RawStep>) -> Vec<Step> {
        raw.into_iter()
            .map(|raw| {
                let place = self.places.get(raw.at);
                Step { action: self.action(raw.action, &place), place }
            })
            .collect()
    }

    fn action(&mut self, raw: RawAction, place: &Place) -> Action {
        match raw {
            RawAction::Request(raw) => Action::Request(Box::new(self.request(*raw, place))),
            RawAction::Wait { seconds } => Action::Wait(Wait::Fixed(self.text(&seconds, place))),
            RawAction::WaitUniform { low, high } => {
                let (low, high) = (self.text(&low, place), self.text(&high, place));
                Action::Wait(Wait::Uniform(low, high))
            }
            RawAction::WaitExp { mean } => Action::Wait(Wait::Exponential(self.text(&mean, place))),
            RawAction::Times { count, steps } => {
                Action::Times(self.text(&count, place), self.steps(steps))
            }
            RawAction::If { condition, steps, otherwise } => {
                let condition = self.condition(&condition, place);
                let steps = self.steps(steps);
                Action::If(condition, steps, self.steps(otherwise.unwrap_or_default()))
            }
            RawAction::While { condition, steps } => {
                Action::While(self.condition(&condition, place), self.steps(steps))
            }
            RawAction::ForEver { steps } => self.for_ever(steps, place),
            RawAction::ForEach { item, list, items, steps } => {
                let list = match list {
                    Some(text) => List::Json(self.text(&text, place)),
                    None => List::Texts(self.texts(&items, place)),
                };
                Action::ForEach(Items { variable: item, list }, self.steps(steps))
            }
            RawAction::Check { name, condition } => self.verdict(name, &condition, false, place),
            RawAction::Assert { name, condition } => self.verdict(name, &condition, true, place),
            RawAction::Set { name, value } => Action::Set { name, value: self.text(&value, place) },
            RawAction::Pick { pick } => Action::Pick(pick),
            RawAction::Log { message } => Action::Log(self.text(&message, place)),
            RawAction::Publish(raw) => Action::Publish(Box::new(self.publish(*raw, place))),
            RawAction::Expect(raw) => Action::Expect(Box::new(self.expect(*raw, place))),
            RawAction::Abort {} => Action::Abort,
        }
    }

    fn for_ever(&mut self, steps: Vec<RawStep>, place: &Place) -> Action {
        let steps = self.steps(steps);
        if !steps.iter().any(|step| takes_time(&step.action)) {
            let message = "forEver() has neither a request nor a wait: it keeps the processor busy";
            self.warn(place, message, None);
        }
        Action::ForEver(steps)
    }

    fn texts(&mut self, all: &[String], place: &Place) -> Vec<Text> {
        all.iter().map(|text| self.text(text, place)).collect()
    }

    pub(super) fn pairs(
        &mut self,
        raw: Vec<(String, String)>,
        place: &Place,
    ) -> Vec<(String, Text)> {
        raw.into_iter().map(|(name, value)| (name, self.text(&value, place))).collect()
    }

    fn condition(&mut self, raw: &RawCondition, place: &Place) -> Condition {
        let compare: Comparison = raw.compare;
        let (left, right) = (self.text(&raw.left, place), self.text(&raw.right, place));
        Condition { left, compare, right }
    }

    fn verdict(
        &mut self,
        name: String,
        condition: &RawCondition,
        is_assertion: bool,
        place: &Place,
    ) -> Action {
        Action::Check(Check { name, condition: self.condition(condition, place), is_assertion })
    }

    fn publish(&mut self, raw: RawPublish, place: &Place) -> Publish {
        Publish {
            channel: raw.channel,
            payload: self.text(&raw.payload, place),
            key: raw.key.map(|key| self.text(&key, place)),
            headers: self.pairs(raw.headers, place),
            tag: raw.tag,
        }
    }

    fn expect(&mut self, raw: RawExpect, place: &Place) -> Expect {
        Expect {
            stage: raw.stage,
            key: self.text(&raw.key, place),
            // A conversion of floats saturates.
            within_ns: (raw.within * 1e9) as u64,
            count: raw.count,
            is_required: raw.is_required,
            extractions: self.extractions(raw.extraction, place),
            tag: raw.tag,
        }
    }

    pub(super) fn extractions(
        &mut self,
        raw: Vec<RawExtraction>,
        place: &Place,
    ) -> Vec<Extraction> {
        let mut extractions = Vec::new();
        for RawExtraction { kind, name, expression } in raw {
            match Extractor::parse(&kind, &expression) {
                Ok(from) => extractions.push(Extraction { variable: name, from }),
                Err(problem) => {
                    let message = format!("the {kind} `{expression}` for `{name}`: {problem}");
                    self.error(place, message, None);
                }
            }
        }
        extractions
    }
}

/// Whether a step may take any time.
fn takes_time(action: &Action) -> bool {
    match action {
        Action::Request(_) | Action::Wait(_) | Action::Expect(_) | Action::Publish(_) => true,
        Action::Abort => true,
        Action::Times(_, steps)
        | Action::ForEver(steps)
        | Action::While(_, steps)
        | Action::ForEach(_, steps) => steps.iter().any(|step| takes_time(&step.action)),
        Action::If(_, steps, otherwise) => {
            steps.iter().chain(otherwise).any(|step| takes_time(&step.action))
        }
        _ => false,
    }
}
