//! Callbacks: webhooks and messages that follow an answer.

use std::sync::Arc;

use sojourn_plan::reading::{Fields, Node, given_or};
use sojourn_plan::{Escape, HttpAction, Template};

use super::answers::BodyText;
use super::{MockReader, shapes};
use crate::book::pattern::Pattern;
use crate::callbacks::{Action, Callback, Publication};
use crate::latency::Latency;

impl MockReader<'_> {
    /// The places of a route's callbacks among the book's.
    pub(super) fn callbacks(&mut self, node: &Node, pattern: &Pattern) -> Option<Vec<usize>> {
        let items = self.reader.problems.list(node)?;
        // What is wrong with one does not hide what is wrong with the next.
        let read: Vec<_> = items.iter().map(|item| self.callback(item, pattern)).collect();
        let callbacks = read.into_iter().collect::<Option<Vec<_>>>()?;
        let first = self.callbacks.len();
        self.callbacks.extend(callbacks);
        Some((first..self.callbacks.len()).collect())
    }

    fn callback(&mut self, node: &Node, pattern: &Pattern) -> Option<Callback> {
        let fields = Fields::of(node, &shapes::CALLBACK, &mut self.reader.problems)?;
        let after = given_or(fields.get("after"), Latency::Fixed(0), |node| self.latency(node));
        let share = given_or(fields.get("share"), 1.0, |node| self.reader.problems.fraction(node));
        let action = match fields.given(&["http", "kafka"]).as_slice() {
            [(key, node)] if key.name == "http" => {
                self.webhook(node, pattern).map(|it| Action::Webhook(Box::new(it)))
            }
            [(_, node)] => self.publication(node, pattern).map(|it| Action::Publish(Box::new(it))),
            [(first, _), (second, _), ..] => {
                let first = first.name.clone();
                self.both(second, &first);
                None
            }
            [] if fields.has_unknown => None,
            [] => {
                let hint = "such as `http: { url: \"http://127.0.0.1:9000/hooks\", json: … }`";
                let message = "a callback that goes nowhere";
                self.reader.problems.at(node, message, Some(hint.to_owned()));
                None
            }
        };
        Some(Callback { after: after?, share: share?, action: action? })
    }

    fn webhook(&mut self, node: &Node, pattern: &Pattern) -> Option<HttpAction> {
        let fields = Fields::of(node, &sojourn_plan::reading::HTTP, &mut self.reader.problems)?;
        let url = fields.get("url")?;
        let text = self.reader.problems.text(url)?;
        if !text.contains("://") {
            let message =
                format!("`{}` is not an absolute URL", self.reader.problems.offending(url));
            let hint = "such as `http://127.0.0.1:9000/hooks`";
            self.reader.problems.at(url, message, Some(hint.to_owned()));
            return None;
        }
        let action = self.reader.http(node, &Self::scope())?;
        let headers = action.headers.iter().map(|(_, value)| value);
        let templates: Vec<&Template> = headers.chain(&action.body).chain([&action.path]).collect();
        for template in templates {
            self.check_template(node, template, pattern)?;
        }
        Some(action)
    }

    fn publication(&mut self, node: &Node, pattern: &Pattern) -> Option<Publication> {
        let fields = Fields::of(node, &shapes::MESSAGE, &mut self.reader.problems)?;
        let kafka = self.reader.kafka(&fields, "topic");
        let key = given_or(fields.get("key"), None, |node| {
            let (compiler, problems) = (&mut self.reader.compiler, &mut self.reader.problems);
            let key = compiler.text(node, Escape::Raw, &Self::scope(), problems)?;
            self.check_template(node, &key, pattern)?;
            Some(Some(key))
        });
        let headers = self.headers(&fields, pattern);
        let payload = self.text(&fields, pattern);
        let mut kafka = kafka?;
        let topic = kafka.topics.pop()?;
        let BodyText::Template(payload, _) = payload? else {
            return None;
        };
        Some(Publication { kafka: Arc::new(kafka), topic, key: key?, headers: headers?, payload })
    }
}
