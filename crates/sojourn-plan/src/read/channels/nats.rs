//! NATS subjects.

use std::path::PathBuf;

use crate::NatsChannel;

use super::server::{Schemes, TLS};
use crate::read::Reader;
use crate::read::fields::{Fields, given_or};
use crate::read::node::{Content, Node};
use crate::read::shape::Kind::{Either, Flag, List, Map, Text};
use crate::read::shape::{Field, Shape};

const SCHEMES: Schemes = &[("nats", false, 4222), ("tls", true, 4222)];

pub(crate) static NATS: Shape = Shape {
    name: "a nats channel",
    doc: "NATS subjects: a core subscription, or with `stream` an ordered consumer of JetStream.",
    fields: &[
        Field::new("url", Text, "`nats://` or `tls://`, with user and password if need be.")
            .required(),
        Field::new("subjects", Either(&[Text, List(&Text)]), "Subjects, with wildcards.")
            .required(),
        Field::new("stream", Text, "JetStream's stream that keeps these subjects."),
        Field::new("credentials", Text, "File of credentials (JWT and seed, or a seed alone)."),
        Field::new("domain", Text, "JetStream's domain, if not the server's own."),
        Field::new("inbox", Text, "What subjects for answers begin with; `_INBOX` by default."),
        Field::new("tls", Map(&TLS), "How TLS is trusted."),
        Field::new("tls_first", Flag, "TLS before the server's greeting."),
    ],
};

impl Reader<'_> {
    pub(super) fn nats(&mut self, node: &Node) -> Option<NatsChannel> {
        let fields = Fields::of(node, &NATS, &mut self.problems)?;
        let server = self.server(&fields, SCHEMES);
        let subjects = fields.get("subjects").and_then(|node| self.subjects(node));
        let stream = self.name_of(&fields, "stream", &['.', '*', '>']);
        let domain = self.name_of(&fields, "domain", &['.', '*', '>']);
        let inbox = self.name_of(&fields, "inbox", &['*', '>']);
        let credentials = self.text_of(&fields, "credentials")?.map(PathBuf::from);
        let tls_first = given_or(fields.get("tls_first"), false, |node| self.problems.flag(node))?;
        let server = server?;
        if tls_first && !server.tls {
            let hint = Some("begin the URL with `tls://`".to_owned());
            self.problems.at(fields.get("tls_first")?, "`tls_first` without TLS", hint);
            return None;
        }
        Some(NatsChannel {
            server,
            subjects: subjects?,
            stream: stream?,
            credentials,
            domain: domain?,
            inbox: inbox?,
            tls_first,
        })
    }

    /// Subjects that a server takes.
    fn subjects(&mut self, node: &Node) -> Option<Vec<String>> {
        let subjects = self.texts(node)?;
        for (place, subject) in subjects.iter().enumerate() {
            let mut tokens = subject.split('.').peekable();
            let mut problem = subject.contains(char::is_whitespace).then_some("a blank");
            while let Some(token) = tokens.next() {
                if token.is_empty() {
                    problem = Some("an empty token");
                } else if token == ">" && tokens.peek().is_some() {
                    problem = Some("a `>` that is not its end");
                }
            }
            if let Some(problem) = problem {
                let message = format!("the subject `{subject}` has {problem}");
                let hint = "such as `orders.created`, `orders.*` or `orders.>`".to_owned();
                let own = match &node.content {
                    Content::List(items) => items.get(place),
                    _ => None,
                };
                self.problems.at(own.unwrap_or(node), message, Some(hint));
                return None;
            }
        }
        Some(subjects)
    }

    /// A name that may be left out; the outer `None` is a problem, already reported.
    fn name_of(
        &mut self,
        fields: &Fields<'_>,
        field: &str,
        forbidden: &[char],
    ) -> Option<Option<String>> {
        let name = self.text_of(fields, field)?;
        if let (Some(text), Some(node)) = (&name, fields.get(field))
            && (text.is_empty() || text.contains(char::is_whitespace) || text.contains(forbidden))
        {
            let message = format!("`{text}` cannot be the name of `{field}`");
            let letters: Vec<_> = forbidden.iter().map(|letter| format!("`{letter}`")).collect();
            let hint = format!("it must have no blanks and none of {}", letters.join(" "));
            self.problems.at(node, message, Some(hint));
            return None;
        }
        Some(name)
    }
}
