//! The fake peers over real sockets, checked against their own books.

#![expect(clippy::unwrap_used, reason = "clippy.toml allows it in tests, but not in their helpers")]

mod client;

// What a frozen server does, and does not.
mod freezing;

// The queue in simulated time against theory.
mod oracle;

// Every insult arrives as it was meant.
mod misbehaving;

// The programs that tests run.
mod program;

// The queue's answers against its truth.
mod queue;

// TLS before a server that speaks none.
mod tls_front;
