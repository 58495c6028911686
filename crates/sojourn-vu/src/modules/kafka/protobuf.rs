//! Protobuf by the text of a `.proto` file: JSON as Protobuf maps it, and the prefix of registries.

use std::collections::BTreeMap;

use prost_reflect::MessageDescriptor;
use sojourn_protobuf::prefix;

use super::super::grpc::{compile_texts, message};
use super::registry::Schema;
use super::shared::Kafka;

/// What the schema's own text is called; imports have slashes and dots.
const MAIN: &str = "the schema";

/// A message's type, of a schema.
pub(super) struct Type {
    message: MessageDescriptor,
    id: u32,
}

impl Type {
    /// The message that the schema names, or its first. Texts are compiled once.
    pub(super) fn of(schema: &Schema, kafka: &Kafka) -> Result<Self, String> {
        let texts = texts(&schema.schema, &schema.dependencies);
        let key = format!("{texts:?}").into_bytes();
        let pool = kafka.protos.get(key, || compile_texts(texts, MAIN))?;
        let name = schema.message_name.as_deref().filter(|name| !name.is_empty());
        let message = match name {
            Some(name) => {
                let found = pool.get_message_by_name(name.trim_start_matches('.'));
                found.ok_or_else(|| format!("the schema has no message \"{name}\""))?
            }
            None => {
                let file = pool.get_file_by_name(MAIN);
                let first = file.and_then(|file| file.messages().next());
                first.ok_or("the schema has no message")?
            }
        };
        Ok(Self { message, id: schema.id })
    }

    /// The encoded message that a JSON text stands for, behind its prefix.
    pub(super) fn write(&self, json: &str) -> Result<Vec<u8>, String> {
        Ok(self.prefixed(&message::encode(&self.message, json)?))
    }

    /// A message that is encoded already, behind its prefix.
    pub(super) fn prefixed(&self, data: &[u8]) -> Vec<u8> {
        prefix::join(self.id, &self.message, data)
    }

    /// The JSON text of a message: of the type that its prefix names, if it has one.
    pub(super) fn read(&self, payload: &[u8]) -> Result<String, String> {
        let (message, data) = match payload.first() {
            // No message begins like that.
            Some(0) => {
                let (path, data) = prefix::split(payload)?;
                (prefix::message_at(&self.message.parent_file(), &path)?, data)
            }
            _ => (self.message.clone(), payload),
        };
        Ok(message::decode(&message, data)?.to_string())
    }
}

/// The encoded message without its prefix, if it has one.
pub(super) fn bare(payload: &[u8]) -> Result<&[u8], String> {
    match payload.first() {
        Some(0) => Ok(prefix::split(payload)?.1),
        _ => Ok(payload),
    }
}

fn texts(main: &str, dependencies: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let others = dependencies.iter().map(|(name, text)| (name.clone(), text.clone()));
    std::iter::once((MAIN.to_owned(), main.to_owned())).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(text: &str, message_name: Option<&str>) -> Schema {
        let said = json!({ "id": 7, "schema": text, "messageName": message_name });
        serde_json::from_value(said).unwrap()
    }

    const TEXT: &str = "syntax = \"proto3\"; package shop; import \"more/money.proto\";
        message First { int64 big = 1; }
        message Order { string order_id = 1; Money price = 2; message Line { bytes raw = 1; } }";
    const MONEY: &str = "syntax = \"proto3\"; package shop; message Money { int32 cents = 1; }";

    #[test]
    fn messages_are_written_and_read_with_what_they_import() {
        let kafka = Kafka::default();
        let mut order = schema(TEXT, Some("shop.Order"));
        let told = Type::of(&order, &kafka).err().unwrap();
        assert!(told.contains("more/money.proto"), "{told}");
        order.dependencies.insert("more/money.proto".to_owned(), MONEY.to_owned());
        let order = Type::of(&order, &kafka).unwrap();
        let written = order.write(r#"{"orderId":"a","price":{"cents":5}}"#).unwrap();
        // The second message: one index, 1, zigzag. By hand: field 1 `a`, field 2 {field 1: 5}.
        assert_eq!(written, b"\0\0\0\0\x07\x02\x02\x0a\x01a\x12\x02\x08\x05");
        let expected = r#"{"orderId":"a","price":{"cents":5}}"#;
        assert_eq!(order.read(&written).unwrap(), expected);
        assert_eq!(order.read(bare(&written).unwrap()).unwrap(), expected);
        assert!(order.write(r#"{"order":1}"#).unwrap_err().contains("unknown field"));
        // Of what the prefix says, whatever is asked for.
        let first = b"\0\0\0\0\x07\0\x08\x2a";
        assert_eq!(order.read(first).unwrap(), r#"{"big":"42"}"#);
        assert!(order.read(b"\0\0\0\0\x07\x02\x08").unwrap_err().contains("message [4]"));
    }

    #[test]
    fn what_is_no_schema_is_told() {
        let kafka = Kafka::default();
        for (text, name, part) in [
            ("message {", None, "the schema"),
            ("syntax = \"proto3\";", None, "no message"),
            (MONEY, Some("shop.Mony"), "no message \"shop.Mony\""),
        ] {
            let told = Type::of(&schema(text, name), &kafka).err().unwrap();
            assert!(told.contains(part), "{told}");
        }
    }
}
