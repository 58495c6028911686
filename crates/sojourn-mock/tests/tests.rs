//! Mocks over real sockets.

#![allow(clippy::unwrap_used, reason = "clippy.toml allows it in tests, but not in their helpers")]

mod client;

// What a mock file says is what clients meet.
mod behaviour;

// Webhooks that follow an answer.
mod callbacks;

// Certificates for whoever asks.
mod enrolment;

// Clients that break the rules, leave, or only sit there.
mod hostile;

// TLS and HTTP/2.
mod others;

// HTTP/1.1 however it is cut.
mod requests;

// Files that change, and stopping.
mod life;

// The test target's endpoints.
mod target;

// The queue, its truth, and theory.
mod truth;
