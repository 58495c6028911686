//! The client against real sockets and hostile servers. One binary, so that it links once.

/// A server whose behaviour is a closure, and a client that runs until it has its completions.
mod peers;

/// A DNS server whose behaviour is a closure.
mod dns_server;

/// How answers are framed, split, cut off and coded.
mod answers;
/// Who to be and whom to trust.
mod client_certificates;
/// Connections: used again, gone stale, bounded, refused.
mod connections;
/// Names, TLS, limits of this machine.
mod dialling;
/// Whatever the server does, each request completes once.
mod every_send_completes;
/// Names: where they are looked up, for how long, and which address is taken.
mod names;
/// Several requests in one message.
mod pipelining;
/// Proxies: absolute form, tunnels, refusals.
mod proxies;
/// Timeouts, wake-ups, phases.
mod timing;
/// Other ways to an origin: replacements, local addresses, a Unix socket, no keep-alive.
mod ways;
