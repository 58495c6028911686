//! A channel's decoder: a word, or a mapping that holds its settings.

use std::path::PathBuf;

use crate::read::Reader;
use crate::read::fields::{Fields, given_or};
use crate::read::node::{Content, Node};
use crate::read::selectors;
use crate::read::shape::Kind::{self, Choice, Either, Flag, List, Map, Text};
use crate::read::shape::{Field, Shape};
use crate::{AvroSchema, Decoder, ProtobufSchema, SchemaRegistry};

use super::server::{Schemes, TLS};

static SETTINGS: Shape = Shape {
    name: "a decoder",
    doc: "A decoder with settings.",
    fields: &[
        Field::new(
            "regex",
            Text,
            "An expression whose named groups, `(?<id>...)`, become the fields of a text.",
        ),
        Field::new("avro", Map(&AVRO), "Avro, by a schema registry or a schema's file."),
        Field::new("protobuf", Map(&PROTOBUF), "Protobuf, by a descriptor set."),
    ],
};

static AVRO: Shape = Shape {
    name: "avro",
    doc: "Where the schemas of Avro's messages are: a registry or a file.",
    fields: &[
        Field::new(
            "registry",
            Text,
            "URL of a schema registry, whose ids messages begin with; user and password in it are \
             sent as basic authorization.",
        ),
        Field::new(
            "subjects",
            Either(&[Text, List(&Text)]),
            "Subjects whose schemas are read at the beginning; by default `TOPIC-value` of Kafka's \
             topics.",
        ),
        Field::new("tls", Map(&TLS), "How the registry's TLS is trusted."),
        Field::new(
            "schema",
            Text,
            "File of a schema (.avsc), for messages without a registry's prefix.",
        ),
    ],
};

static PROTOBUF: Shape = Shape {
    name: "protobuf",
    doc: "What Protobuf's messages are.",
    fields: &[
        Field::new(
            "descriptor",
            Text,
            "File of a descriptor set: `protoc --include_imports --descriptor_set_out=FILE`.",
        )
        .required(),
        Field::new("message", Text, "Full name of the message: `shop.Paid`.").required(),
        Field::new("registry", Flag, "Messages begin with a schema registry's prefix."),
    ],
};

const REGISTRY: Schemes = &[("http", false, 80), ("https", true, 443)];
const WORDS: [&str; 7] =
    ["auto", "json", "cloudevents", "masstransit", "nservicebus", "debezium", "messagepack"];

pub(super) const DECODER: Kind = Either(&[Choice(&WORDS), Map(&SETTINGS)]);

impl Reader<'_> {
    pub(super) fn decoder(&mut self, node: &Node) -> Option<Decoder> {
        if !matches!(node.content, Content::Map(_)) {
            if let Some(example) = node.text().and_then(example_of) {
                let message = format!("`{}` needs settings", node.text().unwrap_or_default());
                self.problems.at(node, message, Some(format!("write `decoder: {example}`")));
                return None;
            }
            let place = self.problems.choice(node, &WORDS)?;
            return Some(match WORDS[place] {
                "json" => Decoder::Json,
                "cloudevents" => Decoder::CloudEvents,
                "masstransit" => Decoder::MassTransit,
                "nservicebus" => Decoder::NServiceBus,
                "debezium" => Decoder::Debezium,
                "messagepack" => Decoder::MessagePack,
                _ => Decoder::Auto,
            });
        }
        let fields = Fields::of(node, &SETTINGS, &mut self.problems)?;
        match fields.given(&["regex", "avro", "protobuf"]).as_slice() {
            [(key, node)] => match key.name.as_str() {
                "regex" => self.regex(node).map(Decoder::Text),
                "avro" => self.avro(node).map(Decoder::Avro),
                _ => self.protobuf(node).map(Decoder::Protobuf),
            },
            [] if fields.has_unknown => None,
            [] => {
                let hint = Some("give `regex`, `avro` or `protobuf`".to_owned());
                self.problems.at(node, "a decoder that says nothing", hint);
                None
            }
            [(first, _), (second, _), ..] => {
                let message = format!("both `{}` and `{}`", first.name, second.name);
                let hint = Some("a channel has one decoder".to_owned());
                self.problems.at_byte(second.range.start, message, hint);
                None
            }
        }
    }

    fn regex(&mut self, node: &Node) -> Option<regex::Regex> {
        let text = self.problems.text(node)?;
        match selectors::regex(text) {
            Ok(regex) if regex.capture_names().flatten().next().is_some() => Some(regex),
            Ok(_) => {
                let hint = "its named groups become fields of the body: `id=(?<id>[0-9]+)`";
                self.problems.at(node, "the expression has no named group", Some(hint.to_owned()));
                None
            }
            Err(wrong) => {
                let shown = self.problems.offending(node);
                self.problems.at(node, format!("`{shown}` {}", wrong.message), wrong.hint);
                None
            }
        }
    }

    fn avro(&mut self, node: &Node) -> Option<AvroSchema> {
        let fields = Fields::of(node, &AVRO, &mut self.problems)?;
        match (fields.get("registry"), fields.get("schema")) {
            (Some(_), None) => {}
            (None, Some(file)) => {
                if let Some((key, _)) = fields.given(&["subjects", "tls"]).first() {
                    let message = format!("`{}` without `registry`", key.name);
                    let hint = Some("a file needs neither subjects nor TLS".to_owned());
                    self.problems.at_byte(key.range.start, message, hint);
                    return None;
                }
                return self.file(file).map(AvroSchema::File);
            }
            (None, None) if fields.has_unknown => return None,
            (given, _) => {
                let message = match given {
                    Some(_) => "both `registry` and `schema`",
                    None => "`avro` without a schema",
                };
                let hint = "give `registry` (a URL) or `schema` (a file)";
                self.problems.at(node, message, Some(hint.to_owned()));
                return None;
            }
        }
        let server = self.server_at("registry", &fields, REGISTRY);
        let subjects = given_or(fields.get("subjects"), Vec::new(), |node| self.texts(node));
        let server = server?;
        if server.trust.name.is_some() {
            let hint = Some("the certificate must carry the URL's host".to_owned());
            self.problems.at(fields.get("tls")?, "`name` is not for a registry", hint);
            return None;
        }
        Some(AvroSchema::Registry(Box::new(SchemaRegistry { server, subjects: subjects? })))
    }

    fn protobuf(&mut self, node: &Node) -> Option<ProtobufSchema> {
        let fields = Fields::of(node, &PROTOBUF, &mut self.problems)?;
        let descriptor = fields.get("descriptor").map(|node| self.file(node));
        let message = fields.get("message").map(|node| self.problems.text(node).map(str::to_owned));
        let registry = given_or(fields.get("registry"), false, |node| self.problems.flag(node));
        let message = message??.trim().trim_start_matches('.').to_owned();
        Some(ProtobufSchema { descriptor: descriptor??, message, registry: registry? })
    }

    fn file(&mut self, node: &Node) -> Option<PathBuf> {
        let text = self.problems.text(node)?;
        if text.is_empty() {
            self.problems.at(node, "an empty text", Some("name a file".to_owned()));
            return None;
        }
        Some(PathBuf::from(text))
    }
}

/// What a decoder that is more than a word looks like.
fn example_of(word: &str) -> Option<&'static str> {
    match word {
        "avro" => Some("{ avro: { registry: \"http://127.0.0.1:8081\" } }"),
        "protobuf" => Some("{ protobuf: { descriptor: events.binpb, message: shop.Paid } }"),
        _ => None,
    }
}
