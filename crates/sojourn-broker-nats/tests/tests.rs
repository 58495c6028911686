//! The connector against a real server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// What the tests are told in.
mod support;
/// A client that shares nothing with ours: the system under test, and the truth.
mod system;

/// How much waits.
mod backlog;
/// The promises that every connector keeps.
mod conformance;
/// Members of groups.
mod consume;
/// Two servers' worth of what those promises are tried on.
mod rig;

/// Servers that die, connections that are cut or stall.
mod breaks;
/// What is told of what is wrong.
mod errors;
/// Publishing.
mod publish;
/// Reading again.
mod replay;
/// Passwords, tokens, keys, credentials, TLS.
mod security;
/// Taps of streams.
mod streams;
/// Taps of core NATS.
mod subjects;
