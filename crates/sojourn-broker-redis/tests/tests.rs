//! Against real Redis servers, with redis-rs in the part of the system.
#![allow(clippy::unwrap_used, reason = "clippy.toml allows it in tests, but not in their helpers")]

mod backlog;
mod breaks;
mod conformance;
mod consume;
mod keyspace;
mod passive;
mod publish;
mod replay;
mod rig;
mod security;
mod streams;
mod subscriptions;
mod support;
