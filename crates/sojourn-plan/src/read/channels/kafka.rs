//! Kafka topics.

use crate::KafkaChannel;

use crate::read::Reader;
use crate::read::fields::Fields;
use crate::read::shape::Kind::{Either, List, Named, Text};
use crate::read::shape::{Field, Shape};

pub(crate) static KAFKA: Shape = Shape {
    name: "a kafka channel",
    doc: "Kafka topics.",
    fields: &[
        Field::new("brokers", Either(&[Text, List(&Text)]), "host:port, comma-separated.")
            .required(),
        Field::new("topics", Either(&[Text, List(&Text)]), "Topics.").required(),
        Field::new("properties", Named(&Text), "Further librdkafka properties."),
    ],
};

impl Reader<'_> {
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
}
