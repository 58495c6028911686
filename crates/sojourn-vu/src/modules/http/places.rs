//! Where requests may go, and where they go instead: the options `hosts`, `blacklistIPs` and
//! `blockHostnames`.

use std::net::IpAddr;

use sojourn_http::Origin;
use sojourn_k6::options::{Address, Options};
use url::{Host, Url};

/// Why a URL may not be asked; `None` if it may.
pub(super) fn blocked(options: &Options, url: &Url) -> Option<String> {
    if let Some(Host::Domain(name)) = url.host() {
        let pattern = options.block_hostnames.as_ref()?.matching(name)?;
        return Some(format!("hostname ({name}) is in a blocked pattern ({pattern})"));
    }
    let ip = match url.host()? {
        Host::Ipv4(ip) => IpAddr::V4(ip),
        Host::Ipv6(ip) => IpAddr::V6(ip),
        Host::Domain(_) => return None,
    };
    let network = options.blacklist_ips.as_ref()?.0.iter().find(|network| network.contains(ip))?;
    let (base, bits) = (network.base, network.prefix_bits);
    Some(format!("IP ({ip}) is in a blacklisted range ({base}/{bits})"))
}

/// Where a URL without TLS is asked instead, if `hosts` says so. (With TLS the name counts for the
/// certificate: the client is told, see `run::client`.)
pub(super) fn of(options: &Options, url: &Url) -> Option<Origin> {
    if url.scheme() != "http" {
        return None;
    }
    let port = url.port_or_known_default()?;
    let address = address(options, url.host_str()?, port)?;
    let port = if address.port == 0 { port } else { address.port };
    Origin::parse(&format!("http://{}", std::net::SocketAddr::new(address.ip, port))).ok()
}

/// The address that `hosts` gives to a name: with this port, without one, by the longest pattern.
fn address(options: &Options, name: &str, port: u16) -> Option<Address> {
    let hosts = &options.hosts.as_ref()?.0;
    if let Some(address) = hosts.get(&format!("{name}:{port}")).or_else(|| hosts.get(name)) {
        return Some(*address);
    }
    let ported = format!("{name}:{port}");
    let fits = |pattern: &str| {
        let tail = pattern.strip_prefix('*');
        tail.is_some_and(|tail| name.ends_with(tail) || ported.ends_with(tail))
    };
    let found = hosts.iter().filter(|(pattern, _)| fits(pattern));
    found.max_by_key(|(pattern, _)| pattern.len()).map(|(_, address)| *address)
}
