//! Real servers for the tests of the broker connectors and of outputs: started on free ports of
//! 127.0.0.1, each in a temporary folder of its own, spoken to, killed, restarted on the same
//! ports, cut off.
//!
//! ```no_run
//! use sojourn_services::{Nats, Service};
//!
//! let mut nats = Nats::start()?;
//! println!("{}", nats.url());
//! nats.kill(); // as by a power cut
//! nats.restart()?; // the same ports, the same files
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! - [`Service`]: what all of them can do; [`Kind`]: which there are, and whether one answers.
//! - [`Nats`], [`Redis`], [`Mosquitto`], [`Postgres`], [`Prometheus`], [`InfluxDb`],
//!   [`OpenTelemetry`], [`Dnsmasq`], [`Statsd`] and [`Fauxqs`] start in well under two seconds: one
//!   for each test.
//!   [`Kafka`], [`RabbitMq`], [`ElasticMq`] and [`Moto`] take seconds: one for a test binary, by
//!   [`Kafka::shared`] and its like.
//! - [`CutProxy`]: stands between a client and a server and cuts, refuses, stalls or slows down.
//!
//! Invariants: a server is ready when it has answered in its own protocol, never after a fixed
//! time; nothing that was started outlives the process that started it, even if that is killed
//! (a guardian waits for its end), unless it is detached; every wait has a deadline, and its error
//! shows the end of the server's log.
//!
//! It installs nothing: `cargo xtask services install` does. For tests and xtask only.

mod cache;
mod certificates;
mod cut_proxy;
mod dnsmasq;
mod elasticmq;
mod exchange;
mod fauxqs;
mod guardian;
mod influxdb;
mod instance;
mod jars;
mod kafka;
mod kind;
mod modules;
mod mosquitto;
mod moto;
mod nats;
mod opentelemetry;
mod place;
mod postgres;
mod process;
mod programs;
mod prometheus;
mod rabbitmq;
mod redis;
mod service;
mod shared;
mod statsd;
mod wheels;

pub use certificates::{Certificates, ClientFiles};
pub use cut_proxy::{CutProxy, Figures};
pub use dnsmasq::{DnsZone, Dnsmasq};
pub use elasticmq::ElasticMq;
pub use fauxqs::Fauxqs;
pub use influxdb::InfluxDb;
pub use instance::Instance;
pub use jars::JarSet;
pub use kafka::Kafka;
pub use kind::Kind;
pub use modules::{ModuleSet, TYPESCRIPT};
pub use mosquitto::Mosquitto;
pub use moto::Moto;
pub use nats::{Nats, NatsOptions};
pub use opentelemetry::OpenTelemetry;
pub use place::{closed_port, free_port};
pub use postgres::Postgres;
pub use process::{Process, descendants};
pub use programs::{PACKAGES, Package, find_program};
pub use prometheus::Prometheus;
pub use rabbitmq::RabbitMq;
pub use redis::{Redis, RedisOptions};
pub use service::{Access, Detached, Service};
pub use statsd::Statsd;
pub use wheels::{GRPC, PLAYWRIGHT, WheelSet};

/// The user that every server with passwords knows.
pub const USER: &str = "sojourn";

/// The password of [`USER`]. No secret: the servers listen on this machine only.
pub const PASSWORD: &str = "only-for-tests";
