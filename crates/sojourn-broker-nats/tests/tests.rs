//! The connector against a real server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

/// A client that shares nothing with ours: the system under test, and the truth.
mod system;
/// What the tests are told in.
mod util;

/// How much waits.
mod backlogs;
/// The promises that every connector keeps.
mod conformance;
/// Members of groups.
mod consumers;
/// Two servers' worth of what those promises are tried on.
mod rig;

/// Taps of core NATS.
mod core_taps;
/// What is told of what is wrong.
mod errors;
/// Passwords, tokens, keys, credentials, TLS.
mod logins;
/// Servers that die, connections that are cut or stall.
mod outages;
/// Publishing.
mod publishing;
/// Reading again.
mod replays;
/// Taps of streams.
mod stream_taps;
