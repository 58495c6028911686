//! The servers, spoken to in their own protocols by raw bytes, killed, restarted; and the proxy.

#![expect(clippy::unwrap_used, reason = "clippy.toml allows it in tests, but not in their helpers")]

// What no server's files may outlive.
mod guardian;

// Cut, refused, stalled, slowed down.
mod proxy;

// One test for each server.
mod servers;
