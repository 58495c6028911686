//! The client against real sockets and hostile servers. One binary, so that it links once.

/// A server of HTTP/2, frame by frame.
mod frames;
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
/// Greeting an origin: a connection and TLS, and no request.
mod greeting;
/// HTTP/2: many requests on a connection, and servers that do it wrongly.
mod http2;
/// HTTP/2 against servers that others wrote.
mod http2_peers;
/// HTTP/2: windows and what waits to be sent.
mod http2_uploads;
/// HTTP/2 against servers that break its rules.
mod http2_violations;
/// Who was at the other end.
mod met;
/// Names: where they are looked up, for how long, and which address is taken.
mod names;
/// Names, from a DNS server that others wrote.
mod names_from_dnsmasq;
/// Several requests in one message.
mod pipelining;
/// Proxies: absolute form, tunnels, refusals.
mod proxies;
/// Timeouts, wake-ups, phases.
mod timing;
/// epoll and the ring: which one it is, and what both must do.
mod transports;
/// Other ways to an origin: replacements, local addresses, a Unix socket, no keep-alive.
mod ways;
