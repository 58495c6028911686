//! Outputs and the servers that receive them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod book;
mod collector;
mod every_kind;
mod faults;
mod files;
mod influxdb;
mod opentelemetry;
mod otlp;
mod prometheus;
mod receiver;
mod statsd;
mod tls;
mod wire;
