//! Where connections may go, and where they go instead: the options `hosts`, `blacklistIPs` and
//! `blockHostnames`, for requests and for sockets alike.

use std::net::{IpAddr, SocketAddr};

use sojourn_k6::options::{Network, Options};
use url::{Host, Url};

/// Why a URL may not be asked, as far as that is known before its name is looked up; `None` if it
/// may. What a name turns out to be is judged by [`refused`].
pub(super) fn blocked(options: &Options, url: &Url) -> Option<String> {
    let host = url.host()?;
    if let Host::Domain(name) = host
        && let Some(why) = blocked_name(options, name)
    {
        return Some(why);
    }
    let instead = of(options, url).map(|to| to.ip());
    let ip = instead.or(match host {
        Host::Ipv4(ip) => Some(IpAddr::V4(ip)),
        Host::Ipv6(ip) => Some(IpAddr::V6(ip)),
        Host::Domain(_) => None,
    });
    refused(&options.blacklist_ips.as_ref()?.0, ip?)
}

/// Why nothing may go to a host of this name; `None` if it may.
pub(crate) fn blocked_name(options: &Options, name: &str) -> Option<String> {
    let pattern = options.block_hostnames.as_ref()?.matching(name)?;
    Some(format!("hostname ({name}) is in a blocked pattern ({pattern})"))
}

/// Why nothing may go to an address; `None` if it may.
pub(crate) fn refused(networks: &[Network], ip: IpAddr) -> Option<String> {
    // An IPv4 address is one, however it is written.
    let ip = ip.to_canonical();
    let network = networks.iter().find(|network| network.contains(ip))?;
    let (base, bits) = (network.base, network.prefix_bits);
    Some(format!("IP ({ip}) is in a blacklisted range ({base}/{bits})"))
}

/// Where a URL is asked instead, if `hosts` says so.
pub(super) fn of(options: &Options, url: &Url) -> Option<SocketAddr> {
    address(options, url.host_str()?, url.port_or_known_default()?)
}

/// The address that `hosts` gives to a name: with this port, without one, by the longest pattern.
/// Where the address has no port, this one stays.
pub(crate) fn address(options: &Options, name: &str, port: u16) -> Option<SocketAddr> {
    let hosts = &options.hosts.as_ref()?.0;
    let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let ported = format!("{name}:{port}");
    // 3: with the port, 2: without, 1: a pattern.
    let fit = |known: &str| match known.to_ascii_lowercase() {
        known if known == ported => Some(3),
        known if known == name => Some(2),
        known => {
            let tail = known.strip_prefix('*')?;
            (name.ends_with(tail) || ported.ends_with(tail)).then_some(1)
        }
    };
    let found = hosts.iter().filter_map(|(known, address)| Some((fit(known)?, known, address)));
    let (_, _, address) = found.max_by_key(|(fit, known, _)| (*fit, known.len()))?;
    Some(SocketAddr::new(address.ip, if address.port == 0 { port } else { address.port }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: serde_json::Value) -> Options {
        Options::from_json(sojourn_k6::options::Tier::Script, &json).expect("options").0
    }

    #[test]
    fn hosts_hold_for_every_port_and_scheme_and_the_closest_entry_wins() {
        let options = options(serde_json::json!({ "hosts": {
            "shop.test": "10.0.0.5",
            "Shop.test:81": "10.0.0.6:82",
            "*.shop.test": "10.0.0.7",
            "*.eu.shop.test": "10.0.0.8:90",
            "*.shop.test:99": "10.0.0.9",
        } }));
        for (name, port, to) in [
            ("shop.test", 443, Some("10.0.0.5:443")),
            ("SHOP.test", 8443, Some("10.0.0.5:8443")),
            ("shop.test", 81, Some("10.0.0.6:82")),
            ("a.shop.test", 6379, Some("10.0.0.7:6379")),
            ("a.eu.shop.test", 443, Some("10.0.0.8:90")),
            ("a.shop.test", 99, Some("10.0.0.9:99")),
            ("other.test", 443, None),
        ] {
            let found = address(&options, name, port).map(|to| to.to_string());
            assert_eq!(found.as_deref(), to, "{name}:{port}");
        }
    }

    #[test]
    fn what_is_blocked_is_known_by_name_and_by_the_address_that_is_meant_in_the_end() {
        let options = options(serde_json::json!({
            "hosts": { "in.test": "10.1.2.3", "10.9.9.9": "192.0.2.1" },
            "blockHostnames": ["*.bad.test"],
            "blacklistIPs": ["10.0.0.0/8"],
        }));
        let check = |url: &str| blocked(&options, &url.parse().expect("URL"));
        let told = check("https://x.bad.test:8443/").expect("blocked");
        assert_eq!(told, "hostname (x.bad.test) is in a blocked pattern (*.bad.test)");
        let told = check("https://in.test/").expect("blocked");
        assert_eq!(told, "IP (10.1.2.3) is in a blacklisted range (10.0.0.0/8)");
        assert!(check("http://10.1.1.1/").is_some());
        assert!(check("http://[::ffff:10.1.1.1]/").is_some());
        assert_eq!(check("http://10.9.9.9/"), None, "it is asked elsewhere");
        assert_eq!(check("http://other.test/"), None);
    }
}
