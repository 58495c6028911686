//! MQTT topics.

use crate::{MqttChannel, MqttVersion};

use super::server::{Schemes, TLS};
use crate::read::Reader;
use crate::read::fields::{Fields, given_or};
use crate::read::node::Node;
use crate::read::shape::Kind::{Choice, Count, Either, List, Map, Text};
use crate::read::shape::{Field, Shape};

const SCHEMES: Schemes = &[("mqtt", false, 1883), ("mqtts", true, 8883)];
const VERSIONS: [&str; 2] = ["5", "3.1.1"];

pub(crate) static MQTT: Shape = Shape {
    name: "an mqtt channel",
    doc: "Topics of an MQTT broker, under a client id of our own.",
    fields: &[
        Field::new("url", Text, "`mqtt://` or `mqtts://`, with user and password if need be.")
            .required(),
        Field::new("topics", Either(&[Text, List(&Text)]), "Topic filters.").required(),
        Field::new("qos", Count, "Quality of service, 0 to 2; 1 by default."),
        Field::new("version", Choice(&VERSIONS), "Protocol; 5 by default."),
        Field::new("client_id", Text, "Client id; one of the run's own by default."),
        Field::new("tls", Map(&TLS), "How TLS is trusted."),
    ],
};

impl Reader<'_> {
    pub(super) fn mqtt(&mut self, node: &Node) -> Option<MqttChannel> {
        let fields = Fields::of(node, &MQTT, &mut self.problems)?;
        let server = self.server(&fields, SCHEMES);
        let filters = fields.get("topics").and_then(|node| self.texts(node));
        let qos = given_or(fields.get("qos"), 1, |node| self.problems.count(node, 0, 2));
        let version = given_or(fields.get("version"), MqttVersion::V5, |node| {
            let place = self.problems.choice(node, &VERSIONS)?;
            Some(if place == 0 { MqttVersion::V5 } else { MqttVersion::V3 })
        });
        let client_id = self.text_of(&fields, "client_id")?;
        Some(MqttChannel {
            server: server?,
            filters: filters?,
            qos: u8::try_from(qos?).unwrap_or(2),
            version: version?,
            client_id,
        })
    }
}
