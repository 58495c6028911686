//! Hosts that are reached without a proxy, as `NO_PROXY` lists them for curl, Go and others.

use std::net::IpAddr;

use crate::Origin;

/// Hosts that are reached without a proxy. `localhost` and loopback addresses always are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoProxy {
    all: bool,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    host: Host,
    /// Only this port.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    /// One address.
    Address(IpAddr),
    /// The name, unless only what is under it, and all names under it.
    Domain { name: String, only_under: bool },
    /// Addresses that share the first so many bits.
    Network(IpAddr, u32),
}

impl NoProxy {
    /// Reads a list, separated by commas: `*` for all, `10.0.0.1`, `10.0.0.0/8`, `a.example` (and
    /// the names under it), `.a.example` or `*.a.example` (only those), each with or without
    /// `:port` (not networks). What is none of these matches nothing.
    pub fn parse(list: &str) -> Self {
        let mut parsed = Self::default();
        for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            if text == "*" {
                parsed.all = true;
            }
            parsed.entries.extend(entry(&text.to_ascii_lowercase()));
        }
        parsed
    }

    /// Whether the origin is reached without a proxy.
    pub fn matches(&self, origin: &Origin) -> bool {
        let host = origin.host.to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok();
        let is_this_machine =
            host == "localhost" || address.is_some_and(|address| address.is_loopback());
        is_this_machine
            || self.all
            || self.entries.iter().any(|entry| {
                entry.port.is_none_or(|port| port == origin.port)
                    && entry.host.matches(&host, address)
            })
    }
}

impl Host {
    fn matches(&self, host: &str, address: Option<IpAddr>) -> bool {
        match self {
            Self::Address(listed) => address == Some(*listed),
            Self::Domain { name, only_under } => match host.strip_suffix(name.as_str()) {
                Some("") => !only_under,
                Some(before) => before.ends_with('.'),
                None => false,
            },
            Self::Network(network, bits) => {
                address.is_some_and(|address| is_in(address, *network, *bits))
            }
        }
    }
}

fn entry(text: &str) -> Option<Entry> {
    if let Some((network, bits)) = text.split_once('/') {
        let network: IpAddr = network.parse().ok()?;
        let bits_max = if network.is_ipv4() { 32 } else { 128 };
        let bits = bits.parse().ok().filter(|bits| *bits <= bits_max)?;
        return Some(Entry { host: Host::Network(network, bits), port: None });
    }
    if let Ok(address) = text.parse() {
        return Some(Entry { host: Host::Address(address), port: None });
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (text, None),
    };
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse() {
        return Some(Entry { host: Host::Address(address), port });
    }
    let under = host.strip_prefix("*.").or_else(|| host.strip_prefix('.'));
    let name = under.unwrap_or(host);
    // Not a name: it would match what nobody meant.
    let fits = !name.is_empty() && !name.contains(['*', ':', '[', ']', '/']);
    let domain = Host::Domain { name: name.to_owned(), only_under: under.is_some() };
    fits.then_some(Entry { host: domain, port })
}

fn is_in(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let differing = address.to_bits() ^ network.to_bits();
            differing.leading_zeros() >= bits
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let differing = address.to_bits() ^ network.to_bits();
            differing.leading_zeros() >= bits
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row: list, origins that need no proxy, origins that do.
    const ROWS: &[(&str, &[&str], &[&str])] = &[
        (
            "",
            &["http://localhost", "http://127.0.0.9:80", "https://[::1]", "http://LOCALHOST:1"],
            &["http://a.example", "http://10.0.0.1", "http://localhost.example"],
        ),
        ("*", &["http://a.example", "http://10.0.0.1"], &[]),
        (
            "a.example",
            &["http://a.example", "https://b.A.example:8443"],
            &["http://ba.example", "http://example", "http://a.example.org"],
        ),
        (".a.example", &["http://b.a.example"], &["http://a.example", "http://ba.example"]),
        ("*.a.example", &["http://c.b.a.example"], &["http://a.example"]),
        (
            " a.example:8080 , b.example ",
            &["http://a.example:8080", "https://b.example", "http://x.a.example:8080"],
            &["http://a.example", "http://c.example"],
        ),
        (
            "10.0.0.1,::2,[::3]:81,10.0.0.2:81",
            &["http://10.0.0.1:9", "http://[::2]", "http://[::3]:81", "http://10.0.0.2:81"],
            &["http://[::3]:82", "http://10.0.0.2", "http://10.0.0.10", "http://10.0.0.1.example"],
        ),
        (
            "10.1.0.0/16,fd00::/8,0.0.0.0/33",
            &["http://10.1.255.1", "https://[fd12::1]"],
            &["http://10.2.0.1", "http://[fe00::1]", "http://a.example"],
        ),
        ("0.0.0.0/0", &["http://8.8.8.8"], &["http://[fd00::1]", "http://a.example"]),
        (
            ",,:80,a*b,**,[,/,a.example:x,.",
            &["http://localhost"],
            &["http://a.example", "http://ab", "http://10.0.0.1"],
        ),
    ];

    #[test]
    fn lists() {
        for (list, without, with) in ROWS {
            let parsed = NoProxy::parse(list);
            for (urls, expected) in [(without, true), (with, false)] {
                for url in *urls {
                    let origin = Origin::parse(url).expect(url);
                    assert_eq!(parsed.matches(&origin), expected, "{list:?} and {url}");
                }
            }
        }
    }
}
