//! What shows only when all steps are known: variables that nobody sets, rows and files of others.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_metrics::names;

use crate::definition::{
    Action, Column, Definition, Extraction, Place, PlaceholderKind, Request, Session, SourceKind,
    visit,
};
use crate::text::Text;

use super::Reader;

impl Reader<'_> {
    /// Checks the whole; `session_places` are those of the sessions.
    pub(super) fn check(&mut self, definition: &Definition, session_places: &[Place]) {
        for (at, (session, place)) in definition.sessions.iter().zip(session_places).enumerate() {
            self.check_session(definition, at, session, place);
        }
        for placeholder in &definition.placeholders {
            let PlaceholderKind::Cell { pick, column: Column::Name(name) } = &placeholder.kind
            else {
                continue;
            };
            let source = definition.picks.get(*pick as usize).map(|pick| pick.source as usize);
            let source = source.and_then(|source| definition.sources.get(source));
            if let Some(SourceKind::Structured { has_header: false, fields, .. }) =
                source.map(|source| &source.kind)
                && !fields.contains(name)
            {
                let hint = "name them by `fields`, or take a column by its number, from 0";
                let message = format!("there is no column `{name}`: the columns have no such name");
                self.error(&placeholder.place, message, Some(hint));
            }
        }
    }

    fn check_session(
        &mut self,
        definition: &Definition,
        number: usize,
        session: &Session,
        place: &Place,
    ) {
        let mut set = BTreeSet::new();
        let mut read = BTreeMap::new();
        let mut strange = Vec::new();
        visit(&session.steps, &mut |step| {
            set.extend(set_by(&step.action));
            for_each_text(&step.action, &mut |text| {
                for placeholder in text.placeholders() {
                    match definition.placeholders.get(placeholder as usize).map(|it| &it.kind) {
                        Some(PlaceholderKind::Variable(name)) => {
                            read.entry(name.clone()).or_insert_with(|| step.place.clone());
                        }
                        Some(PlaceholderKind::Cell { pick, .. }) => {
                            let pick = definition.picks.get(*pick as usize);
                            if pick.is_none_or(|pick| pick.session as usize != number) {
                                strange.push(step.place.clone());
                            }
                        }
                        _ => {}
                    }
                }
            });
        });
        for place in strange {
            let hint = "each session picks its own: nothing is shared between sessions";
            self.error(&place, "the row was picked in another session", Some(hint));
        }
        for (name, place) in read {
            if !set.contains(&name) {
                let message = format!("the variable `{name}` is never set in this session");
                let hint = sojourn_plan::reading::suggestion(&name, set.iter().map(String::as_str));
                self.warn(&place, message, hint);
            }
        }
        if names::poison_of(&session.name).is_some() {
            let message = format!("a session can't be named `{}`", session.name);
            let hint = "figures of journeys whose names end like this are kept apart";
            self.error(place, message, Some(hint));
        }
        if session.steps.is_empty() {
            self.error(place, format!("session `{}` has no step", session.name), None);
        }
    }
}

/// Variables that a step sets.
fn set_by(action: &Action) -> Vec<String> {
    let extracted = |all: &[Extraction]| all.iter().map(|one| one.variable.clone()).collect();
    match action {
        Action::Request(request) => extracted(&request.extractions),
        Action::Expect(expect) => extracted(&expect.extractions),
        Action::Set { name, .. } => vec![name.clone()],
        Action::ForEach(items, _) => vec![items.variable.clone()],
        _ => Vec::new(),
    }
}

/// The texts of a step itself, those of steps within it apart.
fn for_each_text(action: &Action, look: &mut dyn FnMut(&Text)) {
    use crate::definition::{Condition, List, Payload, Wait};
    let of_condition = |condition: &Condition, look: &mut dyn FnMut(&Text)| {
        look(&condition.left);
        look(&condition.right);
    };
    match action {
        Action::Request(request) => {
            let Request { url, headers, authentication, payload, .. } = &**request;
            look(url);
            headers.iter().for_each(|(_, value)| look(value));
            if let Some((name, password)) = authentication {
                look(name);
                look(password);
            }
            if let Payload::Text { text, .. } = payload {
                look(text);
            }
        }
        Action::Wait(Wait::Uniform(low, high)) => {
            look(low);
            look(high);
        }
        Action::Wait(Wait::Fixed(text) | Wait::Exponential(text))
        | Action::Times(text, _)
        | Action::Set { value: text, .. }
        | Action::Log(text) => look(text),
        Action::If(condition, ..) | Action::While(condition, _) => of_condition(condition, look),
        Action::Check(check) => of_condition(&check.condition, look),
        Action::ForEach(items, _) => match &items.list {
            List::Texts(texts) => texts.iter().for_each(look),
            List::Json(text) => look(text),
        },
        Action::Publish(publish) => {
            look(&publish.payload);
            publish.key.iter().for_each(&mut *look);
            publish.headers.iter().for_each(|(_, value)| look(value));
        }
        Action::Expect(expect) => look(&expect.key),
        Action::ForEver(_) | Action::Abort | Action::Pick(_) => {}
    }
}
