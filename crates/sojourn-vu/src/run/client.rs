//! A thread's HTTP client, as the options ask.

use std::sync::Arc;

use sojourn_http::{
    AddressRule, ClientConfig, DnsCache, DnsFamilies, DnsOptions, DnsSelect, HostCertificate,
    HostPort, Http2, Proxies, TlsOptions, TlsVersion,
};
use sojourn_k6::duration::Nanos;
use sojourn_k6::options::{Dns, Options, TlsAuth};

use crate::modules::http::places;
use crate::private_key;

/// How long addresses are good for where the options do not say: 5 min.
const TTL_NS: u64 = 300 * sojourn_clock::SECOND_NS;

/// The configuration of every thread's client.
pub(super) fn config(options: &Options, tls: &TlsOptions, proxies: &Proxies) -> ClientConfig {
    ClientConfig {
        connections_max: 0,
        http2: Http2::Alpn,
        keep_alive: !options.no_connection_reuse.unwrap_or(false),
        connect_timeout_ns: 30 * sojourn_clock::SECOND_NS,
        tls: tls.clone(),
        proxies: placed(proxies, options),
        dns: dns(&options.dns.clone().unwrap_or_default()),
        // Where `hosts` sends requests is each origin's own: see `modules::http::places`.
        refuse: options.blacklist_ips.as_ref().map(|networks| {
            let networks = networks.0.clone();
            AddressRule(Arc::new(move |ip| places::refused(&networks, ip)))
        }),
        ..ClientConfig::default()
    }
}

/// The proxies at the addresses that `hosts` gives to their names: it speaks of whatever is
/// connected to.
fn placed(proxies: &Proxies, options: &Options) -> Proxies {
    let mut proxies = proxies.clone();
    for proxy in [&mut proxies.http, &mut proxies.https].into_iter().flatten() {
        let HostPort { host, port } = &proxy.address;
        if let Some(to) = places::address(options, host, *port) {
            proxy.address = HostPort { host: to.ip().to_string(), port: to.port() };
        }
    }
    proxies
}

/// TLS of all connections. The error says which option can't be followed.
pub(super) fn tls(options: &Options) -> Result<TlsOptions, String> {
    let versions = options.tls_version.clone().unwrap_or_default();
    let suites = options.tls_cipher_suites.iter().flat_map(|suites| &suites.0);
    let auth = options.tls_auth.iter().flatten().enumerate();
    let host_certificates = auth.map(|(place, auth)| {
        certificate(auth).map_err(|problem| format!("tlsAuth[{place}]: {problem}"))
    });
    let tls = TlsOptions {
        insecure: options.insecure_skip_tls_verify.unwrap_or(false),
        version_min: (versions.min == "tls1.3").then_some(TlsVersion::Tls13),
        version_max: newest(&versions.max)?,
        cipher_suites: suites.map(|name| suite(name)).collect(),
        host_certificates: host_certificates.collect::<Result<_, _>>()?,
        key_log: true,
        ..TlsOptions::default()
    };
    // Tried here, so that what is of no use is an error at the beginning; without the system's
    // certificates, which take a while to read and are not asked for.
    let tried = TlsOptions { insecure: true, key_log: false, ..tls.clone() };
    sojourn_http::tls_settings(&tried, &[]).map_err(|error| error.to_string())?;
    Ok(tls)
}

fn newest(version: &str) -> Result<Option<TlsVersion>, String> {
    match version {
        "tls1.0" | "tls1.1" => {
            Err(format!("tlsVersion: {version} is spoken no more: tls1.2 and tls1.3 are"))
        }
        "tls1.2" => Ok(Some(TlsVersion::Tls12)),
        _ => Ok(None),
    }
}

/// A suite's name in IANA's list: two have a shorter one in Go.
fn suite(name: &str) -> String {
    match name.strip_suffix("_WITH_CHACHA20_POLY1305") {
        Some(start) => format!("{start}_WITH_CHACHA20_POLY1305_SHA256"),
        None => name.to_owned(),
    }
}

fn certificate(auth: &TlsAuth) -> Result<HostCertificate, String> {
    Ok(HostCertificate {
        certificate: auth.cert.clone(),
        key: private_key::decrypted(&auth.key, auth.password.as_deref())?,
        domains: auth.domains.clone().unwrap_or_default(),
    })
}

fn dns(asked: &Dns) -> DnsOptions {
    let cache = match asked.ttl.as_deref() {
        None | Some("") => DnsCache::Refresh(TTL_NS),
        Some("inf") => DnsCache::Forever,
        // What is no duration was refused with the options.
        Some(text) => match Nanos::parse(text).map(|ttl| ttl.ns()) {
            Ok(0) | Err(_) => DnsCache::Off,
            Ok(ttl_ns) => DnsCache::Refresh(ttl_ns),
        },
    };
    let select = match asked.select.as_deref() {
        Some("first") => DnsSelect::First,
        Some("roundRobin") => DnsSelect::RoundRobin,
        _ => DnsSelect::Random,
    };
    let families = match asked.policy.as_deref() {
        Some("preferIPv6") => DnsFamilies::V6First,
        Some("onlyIPv4") => DnsFamilies::V4Only,
        Some("onlyIPv6") => DnsFamilies::V6Only,
        Some("any") => DnsFamilies::Any,
        _ => DnsFamilies::V4First,
    };
    DnsOptions { cache, select, families, ..DnsOptions::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: serde_json::Value) -> Options {
        Options::from_json(sojourn_k6::options::Tier::Script, &json).expect("options").0
    }

    #[test]
    fn options_on_tls_and_names_reach_the_client() {
        let asked = options(serde_json::json!({
            "tlsVersion": { "min": "tls1.0", "max": "tls1.2" },
            "tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"],
            "dns": { "ttl": "0", "select": "first", "policy": "onlyIPv6" },
        }));
        let tls = tls(&asked).expect("fine");
        assert_eq!((tls.version_min, tls.version_max), (None, Some(TlsVersion::Tls12)));
        assert_eq!(tls.cipher_suites, ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"]);
        let dns = config(&asked, &tls, &Proxies::default()).dns;
        assert_eq!((dns.cache, dns.select), (DnsCache::Off, DnsSelect::First));
        assert_eq!(dns.families, DnsFamilies::V6Only);
        let usual = TlsOptions::default();
        let usual = config(&Options::default(), &usual, &Proxies::default()).dns;
        assert_eq!(
            (usual.cache, usual.families),
            (DnsCache::Refresh(TTL_NS), DnsFamilies::V4First)
        );
    }

    #[test]
    fn a_proxy_is_where_hosts_says() {
        let asked = options(serde_json::json!({ "hosts": { "proxy.test": "10.0.0.9" } }));
        let variable = |name: &str| match name {
            "HTTP_PROXY" => Some("http://proxy.test:3128".to_owned()),
            "HTTPS_PROXY" => Some("http://other.test:3128".to_owned()),
            _ => None,
        };
        let proxies = Proxies::from_environment(variable).expect("proxies");
        let config = config(&asked, &TlsOptions::default(), &proxies).proxies;
        let address = |proxy: Option<sojourn_http::Proxy>| proxy.map(|it| it.address.to_string());
        assert_eq!(address(config.http).as_deref(), Some("10.0.0.9:3128"));
        assert_eq!(address(config.https).as_deref(), Some("other.test:3128"));
    }

    #[test]
    fn what_can_not_be_followed_is_an_error_that_names_it() {
        for (asked, part) in [
            (serde_json::json!({ "tlsVersion": "tls1.1" }), "tlsVersion: tls1.1"),
            (
                serde_json::json!({
                    "tlsVersion": "tls1.2",
                    "tlsCipherSuites": ["TLS_RSA_WITH_RC4_128_SHA"],
                }),
                "leave none",
            ),
            (
                serde_json::json!({ "tlsAuth": [{ "cert": "-----BEGIN no", "key": "none" }] }),
                "client certificate 1",
            ),
        ] {
            let problem = tls(&options(asked)).expect_err(part);
            assert!(problem.contains(part), "{problem}");
        }
    }
}
