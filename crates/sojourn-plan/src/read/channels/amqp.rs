//! An exchange of an AMQP 0.9.1 broker.

use crate::AmqpChannel;

use super::server::{Schemes, TLS};
use crate::read::Reader;
use crate::read::fields::{Fields, given_or};
use crate::read::node::Node;
use crate::read::shape::Kind::{Either, Flag, List, Map, Text};
use crate::read::shape::{Field, Shape};

const SCHEMES: Schemes = &[("amqp", false, 5672), ("amqps", true, 5671)];
const MANAGEMENT: Schemes = &[("http", false, 15672), ("https", true, 15671)];

pub(crate) static AMQP: Shape = Shape {
    name: "an amqp channel",
    doc: "An exchange, listened to by an own queue that ends with the connection.",
    fields: &[
        Field::new("url", Text, "`amqp://` or `amqps://`; the path is the virtual host.")
            .required(),
        Field::new("exchange", Text, "Exchange; it must exist.").required(),
        Field::new("routing", Either(&[Text, List(&Text)]), "Keys bound; `#`, all, by default."),
        Field::new("management", Text, "The management API: http://user:password@host:15672."),
        Field::new("mandatory", Flag, "Refuse what no queue takes; true by default."),
        Field::new("tls", Map(&TLS), "How TLS is trusted."),
    ],
};

impl Reader<'_> {
    pub(super) fn amqp(&mut self, node: &Node) -> Option<AmqpChannel> {
        let fields = Fields::of(node, &AMQP, &mut self.problems)?;
        let server = self.server(&fields, SCHEMES);
        if let Some(url) = fields.get("url")
            && self.problems.text(url)?.contains('?')
        {
            let hint = "TLS is said by `amqps://` and `tls`; heartbeats are the tap's own affair";
            self.problems.at(url, "a URL's query is not read", Some(hint.to_owned()));
            return None;
        }
        let exchange = self.text_of(&fields, "exchange")?;
        let routing =
            given_or(fields.get("routing"), vec!["#".to_owned()], |node| self.texts(node));
        let management = given_or(fields.get("management"), None, |node| {
            self.server_url(node, MANAGEMENT).map(Some)
        });
        let mandatory = given_or(fields.get("mandatory"), true, |node| self.problems.flag(node));
        Some(AmqpChannel {
            server: server?,
            exchange: exchange?,
            routing: routing?,
            management: management?,
            mandatory: mandatory?,
        })
    }
}
