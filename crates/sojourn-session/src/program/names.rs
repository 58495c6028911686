//! What steps are called in reports.

use super::{Instruction, Piece, Program};

/// A step that is reported.
#[derive(Debug)]
pub(crate) struct NamedStep {
    pub(crate) what: Named,
    /// Index into [`Program::sessions`].
    pub(crate) session: usize,
    pub(crate) name: String,
}

/// Which step: its number among those of its sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Request(u32),
    Publish(u32),
    Expect(u32),
}

impl Program {
    /// All steps that are reported, as they are declared.
    pub(crate) fn named_steps(&self) -> impl Iterator<Item = NamedStep> {
        (0_u32..).zip(&self.code).filter_map(|(at, instruction)| {
            let (what, name) = match *instruction {
                Instruction::Request(number) => (Named::Request(number), self.request_name(number)),
                Instruction::Publish(number) => {
                    let message = &self.messages[number as usize];
                    let usual = || format!("publish {}", message.channel);
                    (Named::Publish(number), self.tag_or(message.tag, usual))
                }
                Instruction::Expect(number) => {
                    let expected = &self.expectations[number as usize];
                    let usual = || format!("expect {}", expected.stage);
                    (Named::Expect(number), self.tag_or(expected.tag, usual))
                }
                _ => return None,
            };
            let behind = self.sessions.partition_point(|session| session.start <= at);
            Some(NamedStep { what, session: behind.saturating_sub(1), name })
        })
    }

    fn tag_or(&self, tag: Option<u32>, usual: impl FnOnce() -> String) -> String {
        tag.map_or_else(usual, |tag| self.tags[tag as usize].clone())
    }

    /// Its tag, else its verb and its URL with `{…}` for what is known only while a client runs.
    fn request_name(&self, number: u32) -> String {
        let request = &self.requests[number as usize];
        if let Some(tag) = request.tag {
            return self.tags[tag as usize].clone();
        }
        let mut name = format!("{} ", request.verb);
        for piece in &self.templates[request.url as usize].parts {
            match piece {
                Piece::Literal(text) => name.push_str(text),
                _ => name.push_str("{…}"),
            }
        }
        name
    }

    /// Whether clients publish messages or wait for events.
    pub fn has_events(&self) -> bool {
        !self.messages.is_empty() || !self.expectations.is_empty()
    }
}
