//! Avro: schemas, payloads to JSON, and the schema registry.
//!
//! A [`Schema`] reads bare Avro data, and writes it. An [`Avro`] is what a channel reads its
//! messages with: one
//! schema from a file, or those of a registry, which messages name by an id in front of their data.
//!
//! This is a reader of our own because a library's would have to survive any bytes: `apache-avro`
//! 0.22 follows a recursive schema as deep as a message says, until the stack is gone, and builds
//! values of its own that would only be turned into JSON. Its encoder wrote the vectors of the
//! tests. Data that scripts publish are written from JSON likewise, and read again in the tests.

mod decimal;
mod opened;
mod read;
mod references;
mod registry;
mod schema;
mod write;

pub use opened::Avro;
pub use registry::{Miss, OpenError, Registry};
pub use schema::Schema;
