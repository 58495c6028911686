//! HTTP requests.

use std::path::Path;

use crate::{Escape, HttpAction, Part, Template};

use super::Reader;
use super::fields::{Fields, given_or, shown};
use super::node::{Content, Node};
use super::origin::Origin;
use super::problems::suggestion;
use super::selectors::is_header_byte;
use super::shapes;
use super::templates::Scope;

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const TIMEOUT_NS: u64 = 10_000_000_000;
const BODY_MAX: usize = 10_000_000;
const REDIRECTS_MAX: u64 = 100;

/// Headers that are made from the request itself.
const MADE_HEADERS: [&str; 4] = ["host", "content-length", "transfer-encoding", "connection"];

impl Reader<'_> {
    /// A request: `GET /path`, or a mapping.
    pub fn http(&mut self, node: &Node, scope: &Scope) -> Option<HttpAction> {
        if let Some(text) = node.text() {
            let (method, url) = match text.trim().split_once(' ') {
                Some((method, url)) if is_method(method) => (method, url.trim()),
                _ => ("GET", text.trim()),
            };
            self.check_method(node, method)?;
            let (origin, path) = self.url(node, url, scope)?;
            return Some(action(method, origin, path));
        }
        let fields = Fields::of(node, &shapes::HTTP, &mut self.problems)?;
        let url = fields.get("url").and_then(|node| {
            let text = self.problems.text(node)?;
            self.url(node, text.trim(), scope)
        });
        let headers =
            fields.get("headers").map(|node| self.headers(node, scope)).unwrap_or_default();
        let (body, content_type) = self.body(&fields, scope);
        let usual = if body.is_some() { "POST" } else { "GET" };
        let method = given_or(fields.get("method"), usual.to_owned(), |node| {
            let method = self.problems.text(node)?.to_ascii_uppercase();
            self.check_method(node, &method).map(|()| method)
        });
        let timeout_ns = given_or(fields.get("timeout"), TIMEOUT_NS, |node| {
            self.problems.duration_above_zero(node)
        });
        let redirects_max = given_or(fields.get("redirects"), 0, |node| {
            let most = self.problems.count(node, 0, REDIRECTS_MAX)?;
            u32::try_from(most).ok()
        });
        let body_max = given_or(fields.get("body_max"), BODY_MAX, |node| self.problems.bytes(node));
        let (origin, path) = url?;
        let mut action = action(&method?, origin, path);
        action.headers = headers;
        action.timeout_ns = timeout_ns?;
        action.redirects_max = redirects_max?;
        action.body_max = body_max?;
        if let Some(content_type) = content_type {
            let is_given =
                |(name, _): &(String, Template)| name.eq_ignore_ascii_case("content-type");
            if !action.headers.iter().any(is_given) {
                let value = Template::literal(content_type);
                action.headers.push(("Content-Type".to_owned(), value));
            }
        }
        action.body = body;
        Some(action)
    }

    /// A GET of a URL.
    pub(super) fn get(&mut self, node: &Node, scope: &Scope) -> Option<HttpAction> {
        let text = self.problems.text(node)?;
        let (origin, path) = self.url(node, text.trim(), scope)?;
        Some(action("GET", origin, path))
    }

    fn url(&mut self, node: &Node, text: &str, scope: &Scope) -> Option<(Origin, Template)> {
        let (origin, rest) = if is_absolute(text) {
            match Origin::split(text) {
                Ok((origin, rest)) => (origin, rest),
                Err((message, hint)) => {
                    self.problems.at(node, message, hint);
                    return None;
                }
            }
        } else {
            match &self.target {
                Some(Some(target)) => (target.clone(), text),
                // A target was given, but it is wrong: that is reported where it stands.
                Some(None) => return None,
                None => {
                    let shown = self.problems.offending(node);
                    self.problems.at(
                        node,
                        format!("`{shown}` is relative, and there is no target"),
                        Some("add `target: http://127.0.0.1:8080` at the top".to_owned()),
                    );
                    return None;
                }
            }
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let slash = if rest.starts_with('/') || (rest.starts_with('?') && !origin.base.is_empty()) {
            ""
        } else {
            "/"
        };
        let path = format!("{}{slash}{rest}", origin.base);
        let path = self.compiler.compile(node, &path, Escape::Url, scope, &mut self.problems)?;
        Some((origin, path))
    }

    /// Headers, their values as templates.
    pub fn headers(&mut self, node: &Node, scope: &Scope) -> Vec<(String, Template)> {
        let mut headers = Vec::new();
        for (key, value) in self.problems.map(node).unwrap_or_default() {
            let name = &key.name;
            let problem = if name.is_empty() || !name.bytes().all(is_header_byte) {
                Some((format!("`{}` is not a header's name", shown(name)), None))
            } else if MADE_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                let hint = "leave it out: it is made from the request".to_owned();
                Some((format!("header `{name}` can't be set"), Some(hint)))
            } else {
                None
            };
            if let Some((message, hint)) = problem {
                self.problems.at_byte(key.range.start, message, hint);
                continue;
            }
            if value.text().is_some_and(|text| text.contains(is_forbidden)) {
                let message = format!("header `{name}` holds a line break or control character");
                self.problems.at(value, message, None);
                continue;
            }
            let template = self.compiler.text(value, Escape::Header, scope, &mut self.problems);
            headers.extend(template.map(|template| (name.clone(), template)));
        }
        headers
    }

    /// The body and the content type that goes with its form.
    pub fn body(
        &mut self,
        fields: &Fields<'_>,
        scope: &Scope,
    ) -> (Option<Template>, Option<&'static str>) {
        let mut given = fields.given(&["body", "form"]);
        // `json: null` is a body too.
        if let Some(node) = fields.with_null("json") {
            if let Some((key, _)) = given.first() {
                let message = format!("both `json` and `{}`", key.name);
                let hint = Some("a request has one body".to_owned());
                self.problems.at(node, message, hint);
                return (None, None);
            }
            let json = self.compiler.json(node, scope, &mut self.problems);
            return (json, Some("application/json"));
        }
        let Some((key, node)) = given.pop() else {
            return (None, None);
        };
        if let Some((other, _)) = given.pop() {
            let message = format!("both `{}` and `{}`", other.name, key.name);
            let hint = Some("a request has one body".to_owned());
            self.problems.at(node, message, hint);
            return (None, None);
        }
        match key.name.as_str() {
            "form" => (self.form(node, scope), Some("application/x-www-form-urlencoded")),
            _ => (self.text_body(node, scope), None),
        }
    }

    fn text_body(&mut self, node: &Node, scope: &Scope) -> Option<Template> {
        if let Content::Scalar(_) = node.content {
            return self.compiler.text(node, Escape::Raw, scope, &mut self.problems);
        }
        let fields = Fields::of(node, &shapes::BODY_FILE, &mut self.problems)?;
        let file = fields.get("file")?;
        let path = self.problems.text(file)?;
        match self.files.read(Path::new(path)) {
            Ok(text) => self.compiler.compile(file, &text, Escape::Raw, scope, &mut self.problems),
            Err(error) => {
                self.unreadable(file, &error);
                None
            }
        }
    }

    fn form(&mut self, node: &Node, scope: &Scope) -> Option<Template> {
        let mut parts: Vec<Part> = Vec::new();
        for (at, (key, value)) in self.problems.map(node)?.iter().enumerate() {
            let between = if at > 0 { "&" } else { "" };
            parts.push(Part::Literal(format!("{between}{}=", encoded(&key.name))));
            let template = self.compiler.text(value, Escape::Raw, scope, &mut self.problems)?;
            parts.extend(template.parts.into_iter().map(|part| match part {
                Part::Literal(text) => Part::Literal(encoded(&text)),
                Part::Hole { hole, .. } => Part::Hole { hole, escape: Escape::Url },
            }));
        }
        Some(Template { parts })
    }

    fn check_method(&mut self, node: &Node, method: &str) -> Option<()> {
        if METHODS.contains(&method) {
            return Some(());
        }
        let message = format!("`{}` is not a method", shown(method));
        self.problems.at(node, message, suggestion(method, METHODS));
        None
    }

    /// Reports a file that can't be read, at the value that names it.
    pub fn unreadable(&mut self, node: &Node, error: &std::io::Error) {
        let shown = self.problems.offending(node);
        self.problems.at(
            node,
            format!("`{shown}` can't be read: {error}"),
            Some("paths are relative to this file's folder".to_owned()),
        );
    }
}

fn action(method: &str, origin: Origin, path: Template) -> HttpAction {
    HttpAction {
        method: method.to_owned(),
        tls: origin.tls,
        host: origin.host,
        port: origin.port,
        path,
        headers: Vec::new(),
        body: None,
        timeout_ns: TIMEOUT_NS,
        redirects_max: 0,
        body_max: BODY_MAX,
    }
}

/// Whether the first word of `GET /path` is meant as a method.
fn is_method(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_absolute(text: &str) -> bool {
    let hole = text.find("{{").unwrap_or(text.len());
    let path = text.find(['/', '?']).unwrap_or(text.len());
    text.find("://").is_some_and(|at| at < path && at < hole)
}

/// Text as form data (a space as `%20`, which every server reads).
fn encoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    crate::render::write_url(text, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn is_forbidden(c: char) -> bool {
    c.is_control() && c != '\t'
}
