//! A thread's HTTP client, as the options ask.

use sojourn_http::{ClientConfig, ConnectTo, HostPort, Http2, TlsOptions};
use sojourn_k6::options::{Address, Options};

/// The configuration of every thread's client.
pub(super) fn config(options: &Options) -> ClientConfig {
    ClientConfig {
        connections_max: 0,
        http2: Http2::Alpn,
        keep_alive: !options.no_connection_reuse.unwrap_or(false),
        connect_timeout_ns: 30 * sojourn_clock::SECOND_NS,
        tls: TlsOptions {
            insecure: options.insecure_skip_tls_verify.unwrap_or(false),
            ..TlsOptions::default()
        },
        connect_to: options.hosts.iter().flat_map(|hosts| &hosts.0).map(instead).collect(),
        ..ClientConfig::default()
    }
}

/// One of `hosts`, for requests with TLS.
fn instead((name, address): (&String, &Address)) -> ConnectTo {
    let (host, port) = name.rsplit_once(':').unwrap_or((name, ""));
    let port = port.parse().unwrap_or(443);
    let to_port = if address.port == 0 { port } else { address.port };
    ConnectTo {
        from: HostPort { host: host.to_owned(), port },
        to: vec![HostPort { host: address.ip.to_string(), port: to_port }],
    }
}
