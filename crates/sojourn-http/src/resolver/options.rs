//! How names are looked up.

use std::net::{IpAddr, SocketAddr};

/// How names are looked up.
///
/// Each connection goes to a random one of a name's addresses, of IPv6 and of IPv4. Both families
/// are raced (RFC 8305): the one that won last time goes first, to begin with IPv6; the next
/// address follows after 250 ms, or at once when one fails. `select` and `families` say otherwise.
#[derive(Clone, Debug, Default)]
pub struct DnsOptions {
    /// How long addresses are good for.
    pub cache: DnsCache,
    /// DNS servers to ask in turn instead of the system's resolver, the next one when one fails.
    /// The hosts file and `localhost` still come first; names are taken as absolute (no search
    /// list).
    pub servers: Vec<SocketAddr>,
    /// Which of a family's addresses a connection tries first; the others follow.
    pub select: DnsSelect,
    /// Which families are tried, and which of them first.
    pub families: DnsFamilies,
}

/// Which of several addresses is tried first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DnsSelect {
    /// Any.
    #[default]
    Random,
    /// The first that the answer has.
    First,
    /// The next one for each connection.
    RoundRobin,
}

/// Which families of addresses are tried, and which first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DnsFamilies {
    /// Both by turns, at first IPv6, then whichever came up last.
    #[default]
    Raced,
    /// IPv4, then IPv6.
    V4First,
    /// IPv6, then IPv4.
    V6First,
    /// IPv4 alone.
    V4Only,
    /// IPv6 alone.
    V6Only,
    /// Both as one list.
    Any,
}

/// How long a name's addresses are good for. Failures are never kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DnsCache {
    /// For the client's life: looked up once.
    #[default]
    Forever,
    /// Looked up for each connection; connections that ask at the same time share a look-up.
    Off,
    /// Looked up again in the background so many nanoseconds after the last answer (1 ms at
    /// least); the old addresses serve until the new ones are there, and if that fails.
    Refresh(u64),
}

/// A DNS server that is not written as `ip` or `ip:port`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("DNS server {0:?} is not an IP address with or without a port, as 10.0.0.2:53 or [::1]:53")]
pub struct DnsServerError(String);

/// Reads a DNS server's address: `10.0.0.2`, `10.0.0.2:5353`, `::1`, `[::1]:5353`; port 53 where
/// none is given.
pub fn parse_dns_server(text: &str) -> Result<SocketAddr, DnsServerError> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = match bare.parse::<IpAddr>() {
        Ok(address) => Some(SocketAddr::new(address, 53)),
        Err(_) => text.parse::<SocketAddr>().ok(),
    };
    address.filter(|address| address.port() != 0).ok_or_else(|| DnsServerError(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_with_and_without_port() {
        let check = |text: &str, address: &str| {
            assert_eq!(parse_dns_server(text), Ok(address.parse().expect(address)), "{text}");
        };
        check("10.0.0.2", "10.0.0.2:53");
        check(" 10.0.0.2:5353 ", "10.0.0.2:5353");
        check("::1", "[::1]:53");
        check("[::1]", "[::1]:53");
        check("[::1]:5353", "[::1]:5353");
        for text in ["", "dns.example", "10.0.0.2:", "10.0.0.2:0", "10.0.0:53", "[::1]:65536"] {
            let error = parse_dns_server(text).expect_err(text);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
