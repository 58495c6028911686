//! Messages and expectations. Expectations of one key that follow one another are a row: what they
//! wait for is one journey of events.

use super::{Compiler, index_of};
use crate::definition::{Action, Expect, Place, PlaceholderKind, Publish};
use crate::program::{Expectation, Instruction, Message, Row};
use crate::text::Text;

/// Most stages of a journey: the ledger keeps one bit for each.
const STAGES_MAX: usize = 32;

impl Compiler<'_> {
    pub(super) fn publish(&mut self, publish: &Publish, place: &Place) {
        let message = Message {
            channel: publish.channel.clone(),
            payload: self.template(&publish.payload),
            key: publish.key.as_ref().map(|key| self.template(key)),
            headers: self.headers(&publish.headers),
            tag: self.tag(publish.tag.as_ref()),
        };
        self.program.messages.push(message);
        let number = self.program.messages.len() as u32 - 1;
        self.emit(Instruction::Publish(number), place);
    }

    pub(super) fn expect(&mut self, expect: &Expect, place: &Place) {
        let number = self.program.expectations.len() as u32;
        if !self.joins_row(expect) {
            let session = self.program.sessions.len();
            self.program.rows.push(Row { session, expectations: Vec::new() });
        }
        if let Some(row) = self.program.rows.last_mut() {
            row.expectations.push(number);
        }
        let expectation = Expectation {
            stage: expect.stage.clone(),
            key: self.template(&expect.key),
            within_ns: expect.within_ns,
            count: expect.count,
            is_required: expect.is_required,
            tag: expect.tag.as_ref().map(|tag| index_of(&mut self.program.tags, tag)),
            needs_body: expect.extractions.iter().any(|one| one.from.needs_body()),
            extracts: !expect.extractions.is_empty(),
        };
        self.program.expectations.push(expectation);
        self.emit(Instruction::Expect(number), place);
        self.extractions(&expect.extractions, place);
        let changes_key =
            expect.extractions.iter().any(|one| self.names(&expect.key, &one.variable));
        let is_new_each_time = expect.key.placeholders().any(|placeholder| {
            let known = self.definition.placeholders.get(placeholder as usize);
            known.is_some_and(|it| matches!(it.kind, PlaceholderKind::Generated(_)))
        });
        self.row_key = (!changes_key && !is_new_each_time).then(|| expect.key.clone());
    }

    /// Whether an expectation that follows this step may be of the same journey: nothing was asked
    /// for in between, no time has passed, and the key is what it was.
    pub(super) fn goes_on_in_row(&self, action: &Action) -> bool {
        match action {
            Action::Expect(_) | Action::Check(_) | Action::Log(_) => true,
            Action::Set { name, .. } => {
                !self.row_key.as_ref().is_some_and(|key| self.names(key, name))
            }
            _ => false,
        }
    }

    fn joins_row(&self, expect: &Expect) -> bool {
        let Some(row) = self.program.rows.last() else { return false };
        let known =
            |&number: &u32| self.program.expectations[number as usize].stage == expect.stage;
        self.row_key.as_ref() == Some(&expect.key)
            && row.expectations.len() < STAGES_MAX
            && !row.expectations.iter().any(known)
    }

    /// Whether a text holds a variable's value.
    fn names(&self, text: &Text, variable: &str) -> bool {
        text.placeholders().any(|placeholder| {
            let known = self.definition.placeholders.get(placeholder as usize);
            known.is_some_and(
                |it| matches!(&it.kind, PlaceholderKind::Variable(name) if name == variable),
            )
        })
    }
}
