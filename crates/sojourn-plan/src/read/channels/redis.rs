//! Redis streams, channels and keys.

use crate::{RedisChannel, RedisSource};

use super::server::{Schemes, TLS};
use crate::read::Reader;
use crate::read::fields::Fields;
use crate::read::node::Node;
use crate::read::shape::Kind::{Either, List, Map, Text};
use crate::read::shape::{Field, Shape};

const SCHEMES: Schemes = &[("redis", false, 6379), ("rediss", true, 6379)];

pub(crate) static REDIS: Shape = Shape {
    name: "a redis channel",
    doc: "Streams, pub/sub or keyspace notifications of a Redis server.",
    fields: &[
        Field::new("url", Text, "`redis://` or `rediss://`; the path is the database's number.")
            .required(),
        Field::new("streams", Either(&[Text, List(&Text)]), "Streams, read without a group."),
        Field::new("channels", Either(&[Text, List(&Text)]), "Pub/sub; with `*` a pattern."),
        Field::new("keyspace", Either(&[Text, List(&Text)]), "Patterns of keys to be told of."),
        Field::new("field", Text, "Field of a stream's entry that is the payload."),
        Field::new("tls", Map(&TLS), "How TLS is trusted."),
    ],
};

impl Reader<'_> {
    pub(super) fn redis(&mut self, node: &Node) -> Option<RedisChannel> {
        let fields = Fields::of(node, &REDIS, &mut self.problems)?;
        let server = self.server(&fields, SCHEMES);
        if let (Some(server), Some(url)) = (&server, fields.get("url"))
            && !server.path.is_empty()
            && server.path.parse::<u32>().is_err()
        {
            let hint = Some("the path is a database's number, such as `/0`".to_owned());
            self.problems.at(url, format!("no database `{}`", server.path), hint);
            return None;
        }
        let (word, names) = self.only(node, &fields, &["streams", "channels", "keyspace"])?;
        let names = self.texts(names)?;
        let source = match word {
            "streams" => RedisSource::Streams(names),
            "channels" => RedisSource::Channels(names),
            _ => RedisSource::Keyspace(names),
        };
        let field = self.text_of(&fields, "field")?;
        if let (Some(node), false) = (fields.get("field"), word == "streams") {
            let hint = Some("only a stream's entries have fields".to_owned());
            self.problems.at(node, format!("`field` for `{word}`"), hint);
            return None;
        }
        Some(RedisChannel { server: server?, source, field })
    }
}
