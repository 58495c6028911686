//! Against real servers of the test's own: tungstenite's, and plain TCP.

#![allow(clippy::unwrap_used, reason = "tests")]

mod conformance;
mod parser;
mod rig;
mod sse;
mod support;
mod tls;
mod websocket;
