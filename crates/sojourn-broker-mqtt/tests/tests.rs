//! Against a real Mosquitto.

#![allow(clippy::unwrap_used, reason = "tests")]

mod breaks;
mod client_id;
mod codec;
mod conformance;
mod consume;
mod errors;
mod passive;
mod publish;
mod rig;
mod session;
mod support;
mod tap;
