//! A channel's decoder: a word, or a mapping that holds its settings.

use crate::Decoder;
use crate::read::Reader;
use crate::read::fields::Fields;
use crate::read::node::{Content, Node};
use crate::read::selectors;
use crate::read::shape::Kind::{self, Choice, Either, Map, Text};
use crate::read::shape::{Field, Shape};

static SETTINGS: Shape = Shape {
    name: "a decoder",
    doc: "A decoder with settings.",
    fields: &[Field::new(
        "regex",
        Text,
        "An expression whose named groups, `(?<id>...)`, become the fields of a text.",
    )
    .required()],
};

const WORDS: [&str; 7] =
    ["auto", "json", "cloudevents", "masstransit", "nservicebus", "debezium", "messagepack"];

pub(super) const DECODER: Kind = Either(&[Choice(&WORDS), Map(&SETTINGS)]);

impl Reader<'_> {
    pub(super) fn decoder(&mut self, node: &Node) -> Option<Decoder> {
        if !matches!(node.content, Content::Map(_)) {
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
        let node = fields.get("regex")?;
        let text = self.problems.text(node)?;
        match selectors::regex(text) {
            Ok(regex) if regex.capture_names().flatten().next().is_some() => {
                Some(Decoder::Text(regex))
            }
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
}
