//! Tests of Protobuf: one binary, linked once.

#![allow(clippy::unwrap_used, reason = "tests")]

mod any_bytes;
mod vectors;
