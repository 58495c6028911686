//! Against real servers of the test's own: tungstenite's, and plain TCP.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
mod conformance;
mod parser;
mod rig;
mod sse;
mod tls;
mod websocket;
