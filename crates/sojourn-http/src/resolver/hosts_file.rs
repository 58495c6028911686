//! The hosts file: names that are known without asking anybody (hosts(5)).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where it is.
pub(super) const HOSTS_FILE: &str = "/etc/hosts";

/// The addresses that a hosts file's text gives a name, in its order; those of `localhost` and the
/// names under it are the loopback's whatever the file says (RFC 6761 §6.3).
pub(super) fn addresses_in(text: &str, host: &str) -> Vec<IpAddr> {
    let mut found: Vec<IpAddr> = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(Ok(address)) = words.next().map(str::parse) else {
            continue;
        };
        if words.any(|name| name.trim_end_matches('.').eq_ignore_ascii_case(host)) {
            found.push(address);
        }
    }
    if host == "localhost" || host.ends_with(".localhost") {
        found.retain(IpAddr::is_loopback);
        if found.is_empty() {
            found = vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()];
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_their_aliases() {
        let text =
            "# comment\n10.0.0.1\tone uno. # dos\n\nnonsense one\n::2 one\n10.0.0.9 localhost";
        let check = |host: &str, expected: &[&str]| {
            let expected: Vec<IpAddr> = expected.iter().map(|a| a.parse().expect(a)).collect();
            assert_eq!(addresses_in(text, host), expected, "{host}");
        };
        check("one", &["10.0.0.1", "::2"]);
        check("uno", &["10.0.0.1"]);
        check("dos", &[]);
        check("on", &[]);
        check("10.0.0.1", &[]);
        check("localhost", &["::1", "127.0.0.1"]);
        check("a.localhost", &["::1", "127.0.0.1"]);
        assert_eq!(addresses_in("127.0.0.1 localhost", "localhost").len(), 1);
    }
}
