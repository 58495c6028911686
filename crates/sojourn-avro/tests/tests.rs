//! Tests of Avro: one binary, linked once.

#![allow(clippy::unwrap_used, reason = "tests")]

mod any_bytes;
mod registry;
mod server;
mod vectors;
mod write;
