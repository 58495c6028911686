//! How messages are read.

use std::path::PathBuf;

use regex::Regex;

use crate::Server;

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
    /// Avro. Brought by the cargo feature `avro`.
    Avro(AvroSchema),
    /// Protobuf. Brought by the cargo feature `protobuf`.
    Protobuf(ProtobufSchema),
}

/// Where the schemas of Avro's messages are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AvroSchema {
    /// In a file (JSON, .avsc): messages are bare data of it.
    File(PathBuf),
    /// In a registry: messages begin with a zero byte and the id of their schema, four bytes.
    Registry(Box<SchemaRegistry>),
}

/// A registry of schemas that answers as Confluent's does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaRegistry {
    /// Where it is; user and password are sent as basic authorization.
    pub server: Server,
    /// Subjects whose schemas are read at the beginning; none: `TOPIC-value` of Kafka's topics.
    pub subjects: Vec<String>,
}

/// What Protobuf's messages are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtobufSchema {
    /// File of a descriptor set, as `protoc --include_imports --descriptor_set_out` writes it.
    pub descriptor: PathBuf,
    /// Full name of the message: `shop.Paid`.
    pub message: String,
    /// Whether messages begin with a schema registry's prefix.
    pub registry: bool,
}

impl PartialEq for Decoder {
    /// Expressions are equal when they are written alike.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(mine), Self::Text(theirs)) => mine.as_str() == theirs.as_str(),
            (Self::Avro(mine), Self::Avro(theirs)) => mine == theirs,
            (Self::Protobuf(mine), Self::Protobuf(theirs)) => mine == theirs,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}
