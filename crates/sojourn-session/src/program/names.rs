//! What requests are called in reports.

use super::{Instruction, Piece, Program};

impl Program {
    /// Each request's session and name, by the request's number: its tag, else its verb and its URL
    /// with `{…}` for what is known only while a client runs.
    pub fn request_names(&self) -> Vec<(usize, String)> {
        let mut names = vec![(0, String::new()); self.requests.len()];
        for (at, instruction) in (0_u32..).zip(&self.code) {
            let Instruction::Request(number) = *instruction else { continue };
            let behind = self.sessions.partition_point(|session| session.start <= at);
            names[number as usize] = (behind.saturating_sub(1), self.request_name(number));
        }
        names
    }

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
