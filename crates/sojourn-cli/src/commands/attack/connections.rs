//! How an attack's connections are made, from its flags and the environment's proxies.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use sojourn_http::{
    ClientCertificate, ClientConfig, ConnectTo, DnsCache, DnsOptions, HostPort, Http2, Proxies,
    TlsOptions, parse_dns_server, tls_settings,
};

use super::inputs::header;
use crate::{
    errors::UsageError, go_flags::boolean, go_words::duration, runner::IoFlag, shelf::Shelf,
};

/// After how long a silence the kernel asks after a server, as Vegeta's does.
const TCP_KEEP_ALIVE_NS: u64 = 30 * sojourn_clock::SECOND_NS;

/// The flags about connections.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags")]
pub(super) struct Connections {
    /// Most connections per host, of all generator threads together; 0: no limit
    #[arg(long, default_value_t = 0, value_name = "N")]
    max_connections: usize,
    /// Most idle connections kept per host, by all generator threads together
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    connections: usize,
    /// Use connections again
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = boolean, value_name = "BOOL")]
    keepalive: bool,
    /// Speak HTTP/2 where a server offers it over TLS
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = boolean, value_name = "BOOL")]
    http2: bool,
    /// Speak HTTP/2 without TLS and without asking
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = boolean, value_name = "BOOL")]
    h2c: bool,
    /// Most requests at once on an HTTP/2 connection
    #[arg(long, default_value_t = 100, value_name = "N")]
    streams: u32,
    /// Dial elsewhere: HOST:PORT:TO_HOST:TO_PORT, repeatable, in turn
    #[arg(long, value_name = "H:P:H:P")]
    connect_to: Vec<String>,
    /// How long names stay resolved; 0: for ever, -1: not at all
    #[arg(long, default_value = "0s", value_name = "D", allow_hyphen_values = true)]
    dns_ttl: String,
    /// DNS servers, comma-separated: ip[:port]
    #[arg(long, default_value = "", hide_default_value = true, value_name = "LIST")]
    resolvers: String,
    /// Local addresses to send from, comma-separated, in turn
    #[arg(long, default_value = "0.0.0.0", value_name = "IP")]
    laddr: String,
    /// Send everything to this socket
    #[arg(long, value_name = "FILE")]
    unix_socket: Option<PathBuf>,
    /// Header for proxies' CONNECT, repeatable
    #[arg(long, value_name = "K: V")]
    proxy_header: Vec<String>,
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// Its private key (PEM) [default: the certificate's file]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Files of certificates trusted instead of the system's, comma-separated
    #[arg(long, default_value = "", hide_default_value = true, value_name = "LIST")]
    root_certs: String,
    /// Skip checks of servers' certificates
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = boolean, value_name = "BOOL")]
    insecure: bool,
    /// What generators wait and move bytes with
    #[arg(long, value_enum, default_value_t = IoFlag::Auto, value_name = "WAY")]
    io: IoFlag,
    /// Resume TLS sessions
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false",
          default_missing_value = "true", value_parser = boolean, value_name = "BOOL")]
    session_tickets: bool,
}

impl Connections {
    /// Whether requests are sent from addresses of this machine alone.
    pub(super) fn has_local_addresses(&self) -> bool {
        words(&self.laddr).any(|address| address != "0.0.0.0")
    }

    /// Whether everything goes to a socket of this machine.
    pub(super) fn has_socket(&self) -> bool {
        self.unix_socket.is_some()
    }

    /// The flags that name files, and their files.
    pub(super) fn files(&self) -> [(&'static str, Vec<&Path>); 3] {
        [
            ("cert", self.cert.as_deref().into_iter().collect()),
            ("key", self.key.as_deref().into_iter().collect()),
            ("root-certs", words(&self.root_certs).map(Path::new).collect()),
        ]
    }

    /// Headers for proxies.
    pub(super) fn proxy_headers(&self) -> impl Iterator<Item = &String> {
        self.proxy_header.iter()
    }

    /// The client's configuration, with files and proxies from this shelf.
    pub(super) fn config(&self, shelf: &Shelf) -> Result<ClientConfig, UsageError> {
        Ok(ClientConfig {
            connections_max: self.max_connections,
            idle_max: self.connections,
            keep_alive: self.keepalive,
            tls: self.tls(shelf)?,
            tcp_keep_alive_ns: TCP_KEEP_ALIVE_NS,
            dns: DnsOptions {
                cache: self.dns_cache()?,
                servers: self.dns_servers()?,
                ..DnsOptions::default()
            },
            connect_to: self.connect_to()?,
            local_addresses: self.local_addresses()?,
            unix_socket: self.unix_socket.clone(),
            proxies: self.proxies(shelf)?,
            io: self.io.into(),
            http2: match (self.h2c, self.http2) {
                (true, _) => Http2::PriorKnowledge,
                (false, true) => Http2::Alpn,
                (false, false) => Http2::Off,
            },
            http2_streams_max: self.streams,
            ..ClientConfig::default()
        })
    }

    fn tls(&self, shelf: &Shelf) -> Result<TlsOptions, UsageError> {
        if self.key.is_some() && self.cert.is_none() {
            return Err(UsageError::new(
                "-key needs -cert: a key alone proves nothing",
                "name the certificate's file with -cert; if it holds the key too, leave -key out",
            ));
        }
        let key = self.key.as_ref().or(self.cert.as_ref());
        let roots: Vec<&Path> = words(&self.root_certs).map(Path::new).collect();
        for path in [&self.cert, &self.key].into_iter().flatten().map(PathBuf::as_path) {
            readable(path, shelf)?;
        }
        for path in &roots {
            readable(path, shelf)?;
        }
        let files = self.cert.as_ref().zip(key);
        let client_certificate = files.map(|(certificate, key)| {
            let (certificate, key) = (shelf.path_of(certificate)?, shelf.path_of(key)?);
            Ok::<_, UsageError>(ClientCertificate { certificate, key })
        });
        let root_certs = roots.iter().map(|path| shelf.path_of(path));
        let options = TlsOptions {
            ca_file: None,
            root_certs: root_certs.collect::<Result<_, _>>()?,
            client_certificate: client_certificate.transpose()?,
            roots_only: false,
            resumption: self.session_tickets,
            insecure: self.insecure,
            ..TlsOptions::default()
        };
        if !(options.root_certs.is_empty() && options.client_certificate.is_none()) {
            tls_settings(&options, &[])
                .map_err(|error| UsageError::runtime(format!("bad certificate: {error}")))?;
        }
        Ok(options)
    }

    fn dns_cache(&self) -> Result<DnsCache, UsageError> {
        if self.dns_ttl == "-1" {
            return Ok(DnsCache::Off);
        }
        match duration(&self.dns_ttl) {
            Ok(0) => Ok(DnsCache::Forever),
            Ok(ttl_ns) => Ok(DnsCache::Refresh(ttl_ns)),
            Err(why) => Err(UsageError::new(
                format!("-dns-ttl: {why}"),
                "0 keeps names for ever, -1 looks them up for each connection",
            )),
        }
    }

    fn dns_servers(&self) -> Result<Vec<std::net::SocketAddr>, UsageError> {
        words(&self.resolvers)
            .map(|server| {
                parse_dns_server(server).map_err(|error| {
                    UsageError::new(error.to_string(), "such as -resolvers 10.0.0.2,10.0.0.3:5353")
                })
            })
            .collect()
    }

    fn connect_to(&self) -> Result<Vec<ConnectTo>, UsageError> {
        let mut all: Vec<ConnectTo> = Vec::new();
        for text in &self.connect_to {
            let (from, to) = four_parts(text).ok_or_else(|| {
                UsageError::new(
                    format!("-connect-to `{text}` is not HOST:PORT:TO_HOST:TO_PORT"),
                    "such as -connect-to api.example:443:127.0.0.1:8443",
                )
            })?;
            match all.iter_mut().find(|known| known.from == from) {
                Some(known) => known.to.push(to),
                None => all.push(ConnectTo { from, to: vec![to] }),
            }
        }
        Ok(all)
    }

    fn local_addresses(&self) -> Result<Vec<IpAddr>, UsageError> {
        words(&self.laddr)
            .filter(|address| *address != "0.0.0.0")
            .map(|address| {
                address.parse().map_err(|_| {
                    UsageError::new(
                        format!("-laddr `{address}` is not an IP address"),
                        "such as -laddr 127.0.0.2",
                    )
                })
            })
            .collect()
    }

    fn proxies(&self, shelf: &Shelf) -> Result<Proxies, UsageError> {
        let mut proxies =
            Proxies::from_environment(|name| shelf.variable(name)).map_err(|error| {
                UsageError::new(error.to_string(), "mend the variable, or unset it")
            })?;
        for text in &self.proxy_header {
            proxies.connect_headers.push(header(text)?);
        }
        Ok(proxies)
    }
}

/// Whether a file of certificates can be read at all: else said in Vegeta's words.
fn readable(path: &Path, shelf: &Shelf) -> Result<(), UsageError> {
    let content = shelf.read(path);
    content.map(drop).map_err(|error| UsageError::file("open", path.as_os_str(), &error))
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// `host:port:host:port`; an IPv6 address in brackets.
fn four_parts(text: &str) -> Option<(HostPort, HostPort)> {
    let splits = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let mut pairs = splits.filter_map(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    let only = pairs.next()?;
    pairs.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connect_to_has_four_parts() {
        let (from, to) = four_parts("a.example:443:127.0.0.1:8443").unwrap();
        assert_eq!(
            (from.to_string(), to.to_string()),
            ("a.example:443".into(), "127.0.0.1:8443".into())
        );
        let (from, to) = four_parts("[::1]:80:[::2]:81").unwrap();
        assert_eq!((from.to_string(), to.to_string()), ("[::1]:80".into(), "[::2]:81".into()));
        for bad in ["", "a:1", "a:1:b", "a:1:b:2:c", "a:x:b:2"] {
            assert_eq!(four_parts(bad), None, "{bad}");
        }
    }
}
