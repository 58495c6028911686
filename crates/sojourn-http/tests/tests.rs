//! The client against real sockets and hostile servers. One binary, so that it links once.

/// A server whose behaviour is a closure, and a client that runs until it has its completions.
mod peers;

/// How answers are framed, split, cut off and coded.
mod answers;
/// Connections: used again, gone stale, bounded, refused.
mod connections;
/// Names, TLS, limits of this machine.
mod dialling;
/// Whatever the server does, each request completes once.
mod every_send_completes;
/// Several requests in one message.
mod pipelining;
/// Timeouts, wake-ups, phases.
mod timing;
