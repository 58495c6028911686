//! Steps that publish a message.

use crate::{Action, Escape, KeyRule, PublishAction, Template};

use super::Reader;
use super::fields::{Fields, given_or};
use super::node::Node;
use super::shape::Kind::{Any, Duration, Either, Map, Named, Text};
use super::shape::{Field, Shape};
use super::shapes::BODY_FILE;
use super::steps::RawStep;
use super::templates::Scope;

const TIMEOUT_NS: u64 = 10_000_000_000;

/// A message to publish.
pub static PUBLISH: Shape = Shape {
    name: "a message to publish",
    doc: "A message to a channel's broker; the step is done when the broker has acknowledged it.",
    fields: &[
        Field::new("to", Text, "Channel whose broker takes it.").required(),
        Field::new("topic", Text, "Topic, subject, routing key, stream or queue; the channel's."),
        Field::new("key", Text, "The message's key, where its broker has one."),
        Field::new("headers", Named(&Text), "Headers."),
        Field::new("json", Any, "Payload as JSON."),
        Field::new("body", Either(&[Text, Map(&BODY_FILE)]), "Payload as text, or from a file."),
        Field::new("timeout", Duration, "How long the acknowledgement is waited for; 10s."),
    ],
};

impl Reader<'_> {
    /// What a step does: one of `http` and `publish`.
    pub(super) fn action(&mut self, raw: &RawStep<'_>, scope: &Scope) -> Option<Action> {
        match (raw.fields.get("http"), raw.fields.get("publish")) {
            (Some(http), None) => self.http(http, scope).map(Action::Http),
            (None, Some(publish)) => self.publish(publish, scope).map(Action::Publish),
            (Some(_), Some(publish)) => {
                let hint = Some("make it two steps".to_owned());
                self.problems.at(publish, "both `http` and `publish`", hint);
                None
            }
            (None, None) if raw.fields.has_unknown => None,
            (None, None) => {
                let hint = "say what it does: `http: POST /path`, or `publish: { to: CHANNEL }`";
                let message = format!("step `{}` does nothing", raw.name);
                self.problems.at(raw.node, message, Some(hint.to_owned()));
                None
            }
        }
    }

    /// A message to one of [`Self::channels`], which must have been read.
    pub fn publish(&mut self, node: &Node, scope: &Scope) -> Option<PublishAction> {
        let fields = Fields::of(node, &PUBLISH, &mut self.problems)?;
        let to = fields.get("to")?;
        let channel = self.channel_of(to).filter(|channel| self.takes_messages(to, *channel));
        let topic = match fields.get("topic") {
            Some(node) => self.compiler.text(node, Escape::Raw, scope, &mut self.problems),
            None => channel.and_then(|channel| self.usual_topic(node, channel)),
        };
        let key = given_or(fields.get("key"), None, |node| {
            self.compiler.text(node, Escape::Raw, scope, &mut self.problems).map(Some)
        });
        let mut headers = Vec::new();
        if let Some(node) = fields.get("headers") {
            for (key, value) in self.problems.map(node)? {
                let text = self.compiler.text(value, Escape::Raw, scope, &mut self.problems)?;
                headers.push((key.name.clone(), text));
            }
        }
        let (body, _) = self.body(&fields, scope);
        let timeout_ns = given_or(fields.get("timeout"), TIMEOUT_NS, |node| {
            self.problems.duration_above_zero(node)
        });
        Some(PublishAction {
            channel: channel?,
            topic: topic?,
            key: key?,
            headers,
            body: body.unwrap_or_default(),
            timeout_ns: timeout_ns?,
        })
    }

    fn channel_of(&mut self, node: &Node) -> Option<usize> {
        let names = std::mem::take(&mut self.channel_names);
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let place = self.problems.lookup(node, "channel", &known);
        self.channel_names = names;
        place
    }

    /// The topic that the channel names first.
    fn usual_topic(&mut self, node: &Node, channel: usize) -> Option<Template> {
        // A channel that can't be read is already reported.
        let connector = self.connectors.get(channel)?.as_ref()?;
        if let Some(topic) = connector.usual_topic() {
            return Some(Template::literal(topic));
        }
        let hint = Some("the channel names no single one to publish to".to_owned());
        self.problems.at(node, "a message to publish without `topic`", hint);
        None
    }

    /// Whether messages can be published to a channel; reports one that is only listened to.
    fn takes_messages(&mut self, node: &Node, channel: usize) -> bool {
        // A channel that can't be read is already reported.
        let Some(connector) = self.connectors.get(channel).and_then(Option::as_ref) else {
            return true;
        };
        if !connector.publishes() {
            let message = format!("a {} channel can only be listened to", connector.word());
            self.problems.at(node, message, None);
        }
        connector.publishes()
    }

    /// A broker answers nothing that could be looked at.
    pub(super) fn check_publish(&mut self, raw: &RawStep<'_>, key: Option<&KeyRule>) {
        for name in ["expect", "extract", "retry"] {
            if let Some(node) = raw.fields.get(name) {
                let message = format!("`{name}` for a message that is published");
                let hint = "a broker answers nothing but that it has the message";
                self.problems.at(node, message, Some(hint.to_owned()));
            }
        }
        if let (Some(KeyRule::Received { .. }), Some(node)) = (key, raw.fields.get("key")) {
            let message = "the key of a published root must be made";
            let hint = "write a template, such as `key: \"{{ uuid() }}\"`";
            self.problems.at(node, message, Some(hint.to_owned()));
        }
    }
}
