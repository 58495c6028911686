//! Channels: one file per connector, its shape beside its reader.

mod amqp;
mod decoder;
mod kafka;
mod mqtt;
mod nats;
mod postgres;
mod redis;
mod server;
mod sqs;
mod stream;
mod webhook;

use crate::{Channel, Connector, Decoder};

use super::Reader;
use super::fields::{Fields, given_or};
use super::node::{Content, Node};
use super::selectors::{self, Place};
use super::shape::Kind::{Either, List, Map, Selector, Text};
use super::shape::{Field, Shape};

pub(crate) use kafka::KAFKA;
pub(crate) use server::{TLS, server_of};
use webhook::default_webhook;

/// A channel.
pub static CHANNEL: Shape = Shape {
    name: "a channel",
    doc: "What a tap listens to, and where journeys publish.",
    fields: &[
        Field::new(
            "kafka",
            Map(&KAFKA),
            "Kafka topics, read from their end without joining a group.",
        ),
        Field::new("webhook", Map(&webhook::WEBHOOK), "Requests that Sojourn itself receives."),
        Field::new("nats", Map(&nats::NATS), "NATS subjects, with or without JetStream."),
        Field::new("amqp", Map(&amqp::AMQP), "An exchange of RabbitMQ (AMQP 0.9.1)."),
        Field::new("redis", Map(&redis::REDIS), "Redis streams, pub/sub or keyspace."),
        Field::new("mqtt", Map(&mqtt::MQTT), "MQTT topics."),
        Field::new(
            "postgres",
            Map(&postgres::POSTGRES),
            "Notifications, a table or the changes of a Postgres database.",
        ),
        Field::new("sqs", Map(&sqs::SQS), "An SQS queue or an SNS topic."),
        Field::new("websocket", Map(&stream::WEBSOCKET), "Messages of a WebSocket."),
        Field::new("sse", Map(&stream::SSE), "Server-sent events."),
        Field::new(
            "decoder",
            decoder::DECODER,
            "How messages are read; by default whatever is recognised.",
        ),
        Field::new(
            "message_id",
            Selector,
            "Where a message declares its id; by default the decoder's own or header `message-id`.",
        ),
        Field::new(
            "marker",
            Selector,
            "Where a message carries the run id; by default header `sojourn-run`.",
        ),
        Field::new(
            "backlog",
            Either(&[Text, List(&Text)]),
            "Consumer groups, durable consumers or queues whose backlog is read each second.",
        ),
    ],
};

const CONNECTORS: [&str; 10] =
    ["kafka", "webhook", "nats", "amqp", "redis", "mqtt", "postgres", "sqs", "websocket", "sse"];

impl Reader<'_> {
    /// The channels, in declared order. Names are known even of channels that can't be read, so
    /// that stages on them are not reported too; a plan with such a channel is never returned.
    pub fn channels(&mut self, node: &Node) -> Vec<Channel> {
        let mut channels = Vec::new();
        for (key, value) in self.problems.map(node).unwrap_or_default() {
            self.channel_names.push(key.name.clone());
            let named = self.problems.check_name(key.range.start, &key.name, "channel");
            let channel = self.channel(&key.name, value);
            self.connectors.push(channel.as_ref().map(|channel| channel.connector.clone()));
            channels.extend(named.and(channel));
        }
        channels
    }

    fn channel(&mut self, name: &str, node: &Node) -> Option<Channel> {
        let fields = Fields::of(node, &CHANNEL, &mut self.problems)?;
        let connector = match fields.given(&CONNECTORS).as_slice() {
            [(key, node)] => self.connector(&key.name, node),
            [] => {
                // `webhook:` alone takes every default.
                match fields.with_null("webhook") {
                    Some(_) => Some(Connector::Webhook(default_webhook())),
                    None if fields.has_unknown => None,
                    None => {
                        let message = format!("channel `{name}` does not say where it is");
                        let hint = "such as `kafka: { brokers: \"127.0.0.1:9092\", topics: [t] }`";
                        self.problems.at(node, message, Some(hint.to_owned()));
                        None
                    }
                }
            }
            [(first, _), (second, _), ..] => {
                let message = format!("both `{}` and `{}`", first.name, second.name);
                let hint = Some("a channel has one connector: declare two channels".to_owned());
                self.problems.at_byte(second.range.start, message, hint);
                None
            }
        };
        let decoder = given_or(fields.get("decoder"), Decoder::Auto, |node| self.decoder(node));
        let mut selector = |name| {
            given_or(fields.get(name), None, |node| {
                selectors::selector(node, Place::Event, &mut self.problems).map(Some)
            })
        };
        let (message_id, marker) = (selector("message_id"), selector("marker"));
        let backlog = given_or(fields.get("backlog"), Vec::new(), |node| self.texts(node));
        Some(Channel {
            name: name.to_owned(),
            connector: connector?,
            decoder: decoder?,
            message_id: message_id?,
            marker: marker?,
            backlog: backlog?,
        })
    }

    fn connector(&mut self, word: &str, node: &Node) -> Option<Connector> {
        match word {
            "kafka" => {
                let fields = Fields::of(node, &KAFKA, &mut self.problems)?;
                self.kafka(&fields, "topics").map(Connector::Kafka)
            }
            "webhook" => self.webhook(node).map(Connector::Webhook),
            "nats" => self.nats(node).map(Connector::Nats),
            "amqp" => self.amqp(node).map(Connector::Amqp),
            "redis" => self.redis(node).map(Connector::Redis),
            "mqtt" => self.mqtt(node).map(Connector::Mqtt),
            "postgres" => self.postgres(node).map(Connector::Postgres),
            "sqs" => self.sqs(node).map(Connector::Sqs),
            "websocket" => self.websocket(node).map(Connector::WebSocket),
            _ => self.sse(node).map(Connector::Sse),
        }
    }

    /// The one of these names that is given; none or several is a problem.
    fn only<'n>(
        &mut self,
        node: &Node,
        fields: &Fields<'n>,
        names: &[&'static str],
    ) -> Option<(&'static str, &'n Node)> {
        let given = fields.given(names);
        let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match given.as_slice() {
            [(key, value)] => {
                let name = names.iter().find(|name| **name == key.name)?;
                Some((name, value))
            }
            [] if fields.has_unknown => None,
            [] => {
                let message = "it does not say what to listen to";
                self.problems.at(node, message, Some(format!("give one of {listed}")));
                None
            }
            [(first, _), (second, _), ..] => {
                let message = format!("both `{}` and `{}`", first.name, second.name);
                let hint = Some("declare two channels".to_owned());
                self.problems.at_byte(second.range.start, message, hint);
                None
            }
        }
    }

    /// A text that may be left out; the outer `None` is a problem, already reported.
    fn text_of(&mut self, fields: &Fields<'_>, name: &str) -> Option<Option<String>> {
        match fields.get(name) {
            Some(node) => self.problems.text(node).map(|text| Some(text.to_owned())),
            None => Some(None),
        }
    }

    /// One text or a list of them; none is a problem.
    pub fn texts(&mut self, node: &Node) -> Option<Vec<String>> {
        let items = match &node.content {
            Content::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut texts = Vec::new();
        for item in items {
            let text = self.problems.text(item)?.trim();
            if text.is_empty() {
                self.problems.at(item, "an empty text", None);
                return None;
            }
            texts.push(text.to_owned());
        }
        if texts.is_empty() {
            self.problems.at(node, "an empty list", None);
            return None;
        }
        Some(texts)
    }

    fn check_address(&mut self, node: &Node, text: &str, what: &str) {
        let port = text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
        if !matches!(port, Some((host, Ok(_))) if !host.is_empty() && !host.contains("://")) {
            let shown = self.problems.offending(node);
            let message = format!("`{shown}` is not {what}");
            let hint = Some("write host:port, such as `127.0.0.1:9092`".to_owned());
            self.problems.within(node, text, message, hint);
        }
    }
}
