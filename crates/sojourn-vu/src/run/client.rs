//! A thread's HTTP client, as the options ask.

use sojourn_http::{ClientConfig, Http2, TlsOptions};
use sojourn_k6::options::Options;

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
        ..ClientConfig::default()
    }
}
