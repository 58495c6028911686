//! Channels.

use crate::{Channel, Connector, Decoder, KafkaChannel, WebhookChannel};

use super::Reader;
use super::fields::{Fields, given_or};
use super::node::{Content, Node};
use super::selectors::{self, Place};
use super::shapes;

const DECODERS: [(&str, Decoder); 4] = [
    ("auto", Decoder::Auto),
    ("json", Decoder::Json),
    ("cloudevents", Decoder::CloudEvents),
    ("masstransit", Decoder::MassTransit),
];

impl Reader<'_> {
    /// The channels, in declared order. Names are known even of channels that can't be read, so
    /// that stages on them are not reported too; a plan with such a channel is never returned.
    pub(super) fn channels(&mut self, node: &Node) -> Vec<Channel> {
        let mut channels = Vec::new();
        for (key, value) in self.problems.map(node).unwrap_or_default() {
            self.channel_names.push(key.name.clone());
            let named = self.problems.check_name(key.range.start, &key.name, "channel");
            let channel = self.channel(&key.name, value);
            channels.extend(named.and(channel));
        }
        channels
    }

    fn channel(&mut self, name: &str, node: &Node) -> Option<Channel> {
        let fields = Fields::of(node, &shapes::CHANNEL, &mut self.problems)?;
        let connector = match fields.given(&["kafka", "webhook"]).as_slice() {
            [(key, node)] if key.name == "kafka" => {
                let fields = Fields::of(node, &shapes::KAFKA, &mut self.problems);
                fields.and_then(|fields| self.kafka(&fields, "topics")).map(Connector::Kafka)
            }
            [(_, node)] => self.webhook(node).map(Connector::Webhook),
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
        let decoder = given_or(fields.get("decoder"), Decoder::Auto, |node| {
            let words = DECODERS.map(|(word, _)| word);
            let place = self.problems.choice(node, &words)?;
            Some(DECODERS[place].1)
        });
        let mut selector = |name| {
            given_or(fields.get(name), None, |node| {
                selectors::selector(node, Place::Event, &mut self.problems).map(Some)
            })
        };
        let (message_id, marker) = (selector("message_id"), selector("marker"));
        Some(Channel {
            name: name.to_owned(),
            connector: connector?,
            decoder: decoder?,
            message_id: message_id?,
            marker: marker?,
        })
    }

    /// Where a Kafka is (`brokers`, `properties`), and which topics, under the name `topics`.
    pub fn kafka(&mut self, fields: &Fields<'_>, topics: &str) -> Option<KafkaChannel> {
        let brokers_node = fields.get("brokers");
        let brokers = brokers_node.and_then(|node| self.texts(node));
        if let (Some(node), Some(brokers)) = (brokers_node, &brokers) {
            for broker in brokers.iter().flat_map(|text| text.split(',')) {
                self.check_address(node, broker.trim(), "a broker");
            }
        }
        let topics = fields.get(topics).and_then(|node| self.texts(node));
        let mut properties = Vec::new();
        if let Some(node) = fields.get("properties") {
            for (key, value) in self.problems.map(node)? {
                properties.push((key.name.clone(), self.problems.text(value)?.to_owned()));
            }
        }
        Some(KafkaChannel { brokers: brokers?.join(","), topics: topics?, properties })
    }

    fn webhook(&mut self, node: &Node) -> Option<WebhookChannel> {
        let fields = Fields::of(node, &shapes::WEBHOOK, &mut self.problems)?;
        let mut webhook = default_webhook();
        if let Some(node) = fields.get("listen") {
            webhook.listen = self.problems.text(node)?.to_owned();
            self.check_address(node, &webhook.listen, "an address");
        }
        if let Some(node) = fields.get("path") {
            webhook.path = self.problems.text(node)?.to_owned();
            let star = webhook.path.find('*').unwrap_or(webhook.path.len());
            if !webhook.path.starts_with('/') || star + 1 < webhook.path.len() {
                let shown = self.problems.offending(node);
                let message = format!("`{shown}` is not a path");
                let hint = Some("such as `/hooks/paid`, or a prefix: `/hooks/*`".to_owned());
                self.problems.at(node, message, hint);
            }
        }
        if let Some(node) = fields.get("respond") {
            let status = self.problems.count(node, 200, 599)?;
            webhook.respond = u16::try_from(status).unwrap_or(200);
        }
        Some(webhook)
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

fn default_webhook() -> WebhookChannel {
    WebhookChannel { listen: "127.0.0.1:0".to_owned(), path: "/*".to_owned(), respond: 200 }
}
