//! Against real servers of the test's own: tungstenite's, and plain TCP.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
mod parser;
mod sse;
mod websocket;
