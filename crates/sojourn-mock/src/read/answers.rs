//! Answers: status, headers and body, with or without templates.

use std::path::Path;

use sojourn_plan::reading::{Fields, Node, given_or};
use sojourn_plan::{Part, Template};

use super::MockReader;
use crate::book::answer::{Answer, Kind, Rendered};
use crate::book::pattern::Pattern;
use crate::message::{Body, Message};

impl MockReader<'_> {
    pub(super) fn answer(&mut self, fields: &Fields<'_>, pattern: &Pattern) -> Option<Answer> {
        let status = given_or(fields.get("status"), 200, |node| {
            let status = self.reader.problems.count(node, 200, 999)?;
            u16::try_from(status).ok()
        });
        let mut headers = self.headers(fields, pattern);
        let body = self.body(fields, pattern);
        let (status, body) = (status?, body?);
        let headers = headers.as_mut()?;
        let is_typed = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(content_type) = body.content_type().filter(|_| !is_typed) {
            headers.insert(0, ("content-type".to_owned(), Template::literal(content_type)));
        }
        let fixed: Option<Vec<(&str, String)>> =
            headers.iter().map(|(name, value)| Some((name.as_str(), literal(value)?))).collect();
        let kind = match (fixed, body) {
            (Some(fixed), BodyText::Bytes(bytes, _)) => ready(status, &fixed, bytes),
            (Some(fixed), BodyText::Template(body, _)) if body.is_literal() => {
                ready(status, &fixed, literal(&body).unwrap_or_default().into_bytes())
            }
            (_, BodyText::Template(body, _)) => {
                let headers = std::mem::take(headers);
                Kind::Rendered(Box::new(Rendered { status, headers, body }))
            }
            (None, BodyText::Bytes(bytes, _)) => {
                // Bytes that are no text cannot be a template's; headers with templates need one.
                let body = Template::literal(&String::from_utf8_lossy(&bytes));
                let headers = std::mem::take(headers);
                Kind::Rendered(Box::new(Rendered { status, headers, body }))
            }
        };
        Some(Answer { kind, latency: None })
    }

    /// Headers, checked against the route.
    pub(super) fn headers(
        &mut self,
        fields: &Fields<'_>,
        pattern: &Pattern,
    ) -> Option<Vec<(String, Template)>> {
        let Some(node) = fields.get("headers") else {
            return Some(Vec::new());
        };
        let before = self.reader.problems.count_found();
        let headers = self.reader.headers(node, &Self::scope());
        for (_, value) in &headers {
            self.check_template(node, value, pattern)?;
        }
        (before == self.reader.problems.count_found()).then_some(headers)
    }

    fn body(&mut self, fields: &Fields<'_>, pattern: &Pattern) -> Option<BodyText> {
        if let Some(node) = fields.get("file") {
            if let Some((key, _)) = fields.given(&["json", "body"]).first() {
                self.both(key, "file");
                return None;
            }
            return self.file(node);
        }
        self.text(fields, pattern)
    }

    /// `json` or `body`, checked against the route.
    pub(super) fn text(&mut self, fields: &Fields<'_>, pattern: &Pattern) -> Option<BodyText> {
        let before = self.reader.problems.count_found();
        let (body, content_type) = self.reader.body(fields, &Self::scope());
        if before != self.reader.problems.count_found() {
            return None;
        }
        let node = fields.with_null("json").or_else(|| fields.get("body"));
        if let (Some(node), Some(body)) = (node, &body) {
            self.check_template(node, body, pattern)?;
        }
        let usual = node.map(|_| "text/plain; charset=utf-8");
        Some(BodyText::Template(body.unwrap_or_default(), content_type.or(usual)))
    }

    fn file(&mut self, node: &Node) -> Option<BodyText> {
        let path = Path::new(self.reader.problems.text(node)?);
        match self.reader.files.read_bytes(path) {
            Ok(bytes) => Some(BodyText::Bytes(bytes, content_type_of(path))),
            Err(error) => {
                self.reader.unreadable(node, &error);
                None
            }
        }
    }
}

/// A body as read, with the content type that goes with its form.
pub(super) enum BodyText {
    Bytes(Vec<u8>, &'static str),
    Template(Template, Option<&'static str>),
}

impl BodyText {
    fn content_type(&self) -> Option<&'static str> {
        match self {
            Self::Bytes(_, content_type) => Some(content_type),
            Self::Template(_, content_type) => *content_type,
        }
    }
}

fn ready(status: u16, headers: &[(&str, String)], body: Vec<u8>) -> Kind {
    let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
    Kind::Ready(Message::new(status, headers, Body::Bytes(body.into())))
}

/// The text of a template without holes.
fn literal(template: &Template) -> Option<String> {
    template.parts.iter().try_fold(String::new(), |text, part| match part {
        Part::Literal(literal) => Some(text + literal),
        Part::Hole { .. } => None,
    })
}

/// The content type that a file's ending stands for.
pub(crate) fn content_type_of(path: &Path) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "css" => "text/css",
        "csv" => "text/csv",
        "gif" => "image/gif",
        "htm" | "html" => "text/html; charset=utf-8",
        "jpeg" | "jpg" => "image/jpeg",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "md" | "text" | "txt" => "text/plain; charset=utf-8",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}
