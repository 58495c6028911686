//! AMQP 0.9.1 on the wire, without sockets: frames, methods, properties, tables.
//!
//! Written after the specification (amqp0-9-1.pdf of amqp.org) with RabbitMQ's errata on the types
//! of table fields. Everything that comes in is foreign: what does not fit is [`Malformed`].

pub(crate) mod content;
pub(crate) mod frame;
pub(crate) mod headers;
pub(crate) mod method;
pub(crate) mod properties;
pub(crate) mod reader;
pub(crate) mod writer;

/// Bytes that are not AMQP 0.9.1: what was wrong with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);
