//! Against a real PostgreSQL, spoken to by `psql` for what must be known beforehand.
#![allow(clippy::unwrap_used, reason = "tests may fail")]

mod backlog;
mod breaks;
mod conformance;
mod errors;
mod notify;
mod publish;
mod replication;
mod rig;
mod support;
mod table;
