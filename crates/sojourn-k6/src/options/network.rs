//! Options on names and addresses: hosts, DNS, what is refused.

use std::{collections::BTreeMap, net::IpAddr};

use serde_json::{Value, json};

use crate::{
    duration::Nanos,
    options::{
        error::Wrong,
        table::{Kind, object, read, shown},
        values::name_and_value,
    },
};

/// How host names are resolved, as written: k6's words, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dns {
    /// How long an answer is kept: a duration, milliseconds, `inf`, or `0`. Default `5m`.
    pub ttl: Option<String>,
    /// Which address of several: `random` (default), `first` or `roundRobin`.
    pub select: Option<String>,
    /// Which family: `preferIPv4` (default), `preferIPv6`, `onlyIPv4`, `onlyIPv6` or `any`.
    pub policy: Option<String>,
}

const SELECTS: &[&str] = &["first", "random", "roundRobin"];
const POLICIES: &[&str] = &["preferIPv4", "preferIPv6", "onlyIPv4", "onlyIPv6", "any"];

impl Dns {
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Wrong> {
        let within = |wrong: Wrong| wrong.within(key);
        match key.to_ascii_lowercase().as_str() {
            "ttl" => self.ttl = ttl(value).map_err(within)?,
            "select" => self.select = one_of(value, SELECTS).map_err(within)?,
            "policy" => self.policy = one_of(value, POLICIES).map_err(within)?,
            _ => {}
        }
        Ok(())
    }
}

/// A duration, or `inf`.
fn ttl(value: &Value) -> Result<Option<String>, Wrong> {
    let Some(text) = read::<String>(value)? else { return Ok(None) };
    let is_known = matches!(text.as_str(), "inf" | "0" | "") || Nanos::parse(&text).is_ok();
    let wrong = || Wrong::new(format!("`{text}` is none of inf, 0 and a duration such as 5m"));
    is_known.then(|| text.clone()).ok_or_else(wrong).map(Some)
}

/// One of some words, without regard to case.
fn one_of(value: &Value, words: &[&str]) -> Result<Option<String>, Wrong> {
    let Some(text) = read::<String>(value)? else { return Ok(None) };
    let known = words.iter().find(|word| word.eq_ignore_ascii_case(&text));
    let none = || Wrong::new(format!("`{text}` is none of {}", words.join(", ")));
    known.map(|word| Some((*word).to_owned())).ok_or_else(none)
}

impl Kind for Dns {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let mut dns = Self::default();
        for (key, value) in object(value, "an object {ttl, select, policy}")? {
            dns.set(key, value)?;
        }
        Ok(dns)
    }

    /// `ttl=5m,select=random,policy=any`.
    fn from_text(text: &str) -> Result<Self, Wrong> {
        let mut dns = Self::default();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = name_and_value(pair)?;
            if !["ttl", "select", "policy"].contains(&key.as_str()) {
                return Err(Wrong::new(format!("`{key}` is none of ttl, select and policy")));
            }
            dns.set(&key, &Value::String(value))?;
        }
        Ok(dns)
    }

    fn to_json(&self) -> Value {
        json!({
            "ttl": shown(self.ttl.as_ref()),
            "select": shown(self.select.as_ref()),
            "policy": shown(self.policy.as_ref()),
        })
    }
}

/// Addresses by host name: `name`, `name:port`, or `*.name`, to `ip` or `ip:port`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(pub BTreeMap<String, Address>);

/// An address that a host name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// The port; zero where that of the request stays.
    pub port: u16,
}

impl Address {
    fn parse(text: &str) -> Option<Self> {
        let plain = text.parse().ok().map(|ip| Self { ip, port: 0 });
        plain.or_else(|| {
            let socket: std::net::SocketAddr = text.parse().ok()?;
            Some(Self { ip: socket.ip(), port: socket.port() })
        })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            0 => write!(formatter, "{}", self.ip),
            port => write!(formatter, "{}", std::net::SocketAddr::new(self.ip, port)),
        }
    }
}

impl Kind for Hosts {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let mut hosts = BTreeMap::new();
        let given = object(value, "an object of addresses by host name")?;
        // Null, which undefined becomes, is no address and no mistake, as in k6.
        for (name, address) in given.iter().filter(|(_, address)| !address.is_null()) {
            let text = String::from_json(address).map_err(|wrong| wrong.within(name))?;
            let address = Address::parse(&text).ok_or_else(|| {
                Wrong::new(format!("`{text}` is no address such as 127.0.0.1 or [::1]:8080"))
                    .within(name)
            })?;
            hosts.insert(name.clone(), address);
        }
        Ok(Self(hosts))
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|(name, address)| (name.clone(), address.to_string())).collect()
    }
}

/// A network that requests may not reach: `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Its first address.
    pub base: IpAddr,
    /// How many leading bits count.
    pub prefix_bits: u8,
}

impl Network {
    /// Reads `address/bits`.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let base: IpAddr = address.parse().ok()?;
        let bits_max = if base.is_ipv4() { 32 } else { 128 };
        let prefix_bits: u8 = bits.parse().ok()?;
        (prefix_bits <= bits_max).then(|| Self { base: masked(base, prefix_bits), prefix_bits })
    }

    /// Whether an address lies in it.
    pub fn contains(&self, ip: IpAddr) -> bool {
        ip.is_ipv4() == self.base.is_ipv4() && masked(ip, self.prefix_bits) == self.base
    }
}

fn masked(ip: IpAddr, bits: u8) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((u32::from(ip) & mask).into())
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((u128::from(ip) & mask).into())
        }
    }
}

/// Networks that requests may not reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(pub Vec<Network>);

impl Networks {
    fn from_texts(texts: &[String]) -> Result<Self, Wrong> {
        let networks = texts.iter().enumerate();
        let read = |(at, text): (usize, &String)| {
            let wrong = || Wrong::new(format!("`{text}` is no network such as 10.0.0.0/8"));
            Network::parse(text).ok_or_else(|| wrong().within(at))
        };
        networks.map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl Kind for Networks {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        Self::from_texts(&Vec::<String>::from_json(value)?)
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Self::from_texts(&Vec::<String>::from_text(text)?)
    }

    fn to_json(&self) -> Value {
        let networks = self.0.iter();
        networks.map(|network| format!("{}/{}", network.base, network.prefix_bits)).collect()
    }
}

/// Host names that requests may not reach: exact, or `*.example.com`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostPatterns(pub Vec<String>);

impl HostPatterns {
    fn checked(patterns: Vec<String>) -> Result<Self, Wrong> {
        for (at, pattern) in patterns.iter().enumerate() {
            let star_is_first = pattern.rfind('*').is_none_or(|place| place == 0);
            if !star_is_first || pattern.is_empty() || pattern.contains(char::is_whitespace) {
                let problem = format!("`{pattern}` is no host name, and no `*.` before one");
                return Err(Wrong::new(problem).within(at));
            }
        }
        Ok(Self(patterns))
    }

    /// The first pattern that a host name fits, without regard to case.
    pub fn matching(&self, host: &str) -> Option<&str> {
        let host = host.to_ascii_lowercase();
        let fits = |pattern: &&String| match pattern.to_ascii_lowercase().strip_prefix('*') {
            Some(tail) => host.ends_with(tail),
            None => host == pattern.to_ascii_lowercase(),
        };
        self.0.iter().find(fits).map(String::as_str)
    }
}

impl Kind for HostPatterns {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        Self::checked(Vec::from_json(value)?)
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Self::checked(Vec::from_text(text)?)
    }

    fn to_json(&self) -> Value {
        self.0.to_json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_what_their_bits_say() {
        let holds = |network: &str, ip: &str| {
            Network::parse(network).is_some_and(|n| ip.parse().is_ok_and(|ip| n.contains(ip)))
        };
        assert!(holds("10.0.0.0/8", "10.200.3.4"));
        assert!(!holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("0.0.0.0/0", "11.0.0.1"));
        assert!(!holds("0.0.0.0/0", "::1"));
        assert!(holds("fd00::/8", "fdff::1"));
        assert!(holds("1.2.3.4/32", "1.2.3.4") && !holds("1.2.3.4/32", "1.2.3.5"));
        assert_eq!(Network::parse("1.2.3.4/33"), None);
        assert_eq!(Network::parse("1.2.3.4"), None);
    }

    #[test]
    fn patterns_fit_tails_and_whole_names() {
        let patterns = HostPatterns(vec!["*.example.com".into(), "Test.io".into()]);
        assert_eq!(patterns.matching("a.EXAMPLE.com"), Some("*.example.com"));
        assert_eq!(patterns.matching("example.com"), None);
        assert_eq!(patterns.matching("test.io"), Some("Test.io"));
        assert_eq!(patterns.matching("a.test.io"), None);
    }
}
