//! Against a real Mosquitto.

#![allow(clippy::unwrap_used, reason = "tests")]

mod client_id;
mod codec;
mod common;
mod conformance;
mod consume;
mod errors;
mod loss;
mod passive;
mod publish;
mod rig;
mod session;
mod tap;
