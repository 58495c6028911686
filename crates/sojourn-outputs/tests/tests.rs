//! Outputs and the servers that receive them.

mod book;
mod faults;
mod files;
mod influxdb;
mod otlp;
mod prometheus;
mod receiver;
mod statsd;
