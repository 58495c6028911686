//! How messages are read.

use regex::Regex;

/// How messages are read.
#[derive(Clone, Debug, Default)]
pub enum Decoder {
    /// CloudEvents, MassTransit, NServiceBus and Debezium where recognised, else JSON, else bytes.
    #[default]
    Auto,
    /// Plain JSON.
    Json,
    /// CloudEvents, structured or binary.
    CloudEvents,
    /// MassTransit's envelope.
    MassTransit,
    /// NServiceBus: its headers, and a body of JSON.
    NServiceBus,
    /// Changes of rows as Debezium writes them, in JSON with or without a schema.
    Debezium,
    /// MessagePack.
    MessagePack,
    /// Text: the expression's named groups become the body's fields.
    Text(Regex),
}

impl PartialEq for Decoder {
    /// Expressions are equal when they are written alike.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(mine), Self::Text(theirs)) => mine.as_str() == theirs.as_str(),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}
