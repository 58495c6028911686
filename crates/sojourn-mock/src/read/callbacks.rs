//! Callbacks: webhooks and messages that follow an answer.

use std::sync::Arc;

use sojourn_plan::reading::{Fields, Node, given_or};
use sojourn_plan::{HttpAction, Template};

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
        let action = match fields.given(&["http", "publish"]).as_slice() {
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
                let hint = "such as `http: { url: \"http://127.0.0.1:9000/hooks\", json: … }`, or \
                            `publish: { to: CHANNEL, json: … }`";
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
        let templates = headers.chain(&action.body).chain([&action.path]);
        self.check_templates(node, templates, pattern)?;
        Some(action)
    }

    /// A message, as a journey's step publishes one.
    fn publication(&mut self, node: &Node, pattern: &Pattern) -> Option<Publication> {
        let before = self.reader.problems.count_found();
        let message = self.reader.publish(node, &Self::scope())?;
        // A body that cannot be read leaves a message without one.
        if before != self.reader.problems.count_found() {
            return None;
        }
        let headers = message.headers.iter().map(|(_, value)| value);
        let templates = headers.chain(&message.key).chain([&message.topic, &message.body]);
        self.check_templates(node, templates, pattern)?;
        let channel = Arc::clone(self.channels.get(message.channel)?);
        Some(Publication { channel, message })
    }

    fn check_templates<'t>(
        &mut self,
        node: &Node,
        templates: impl Iterator<Item = &'t Template>,
        pattern: &Pattern,
    ) -> Option<()> {
        for template in templates {
            self.check_template(node, template, pattern)?;
        }
        Some(())
    }
}
