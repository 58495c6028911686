//! The way to an origin: where its connections go, through which proxy, and what that changes in
//! its requests.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::amendment::Amendment;
use crate::connect_to::replaced;
use crate::driver::Remote;
use crate::proxy::{Tunnel, TunnelPlan};
use crate::resolver::{NameId, Names};
use crate::{ClientConfig, HostPort, Origin, Proxy, ProxyKind, origin_host_header};

/// The way to an origin.
#[derive(Debug)]
pub(crate) struct Route {
    /// Where connections go, in turn; never empty.
    targets: Vec<Target>,
    next: usize,
    /// What is to be made there before the origin answers; or why it can't be.
    tunnel: Option<Result<Arc<TunnelPlan>, String>>,
    /// What requests need for it.
    pub(crate) amendment: Option<Amendment>,
    /// Follows host and port in messages.
    pub(crate) via: String,
}

/// Where a connection goes.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Tcp { name: NameId, port: u16 },
    Unix(Remote),
}

impl Route {
    /// `unix_socket` is the one that every connection goes to, if there is one; `to` is where the
    /// origin's go instead.
    pub(crate) fn new(
        config: &ClientConfig,
        unix_socket: Option<&Remote>,
        origin: &Origin,
        to: Option<SocketAddr>,
        names: &mut Names,
    ) -> Self {
        let close = !config.keep_alive;
        let mut amendment = Amendment { close, ..Amendment::default() };
        let mut tunnel = None;
        let mut via = String::new();
        let targets = if let Some(socket) = unix_socket {
            via = format!(" over {socket}");
            vec![Target::Unix(socket.clone())]
        } else {
            let address = HostPort { host: origin.host.clone(), port: origin.port };
            let dialled = match config.proxies.of(origin) {
                Some(proxy) => {
                    via = format!(" through proxy {}", proxy.address);
                    if proxy.kind == ProxyKind::Http && !origin.tls {
                        forward(proxy, origin, &mut amendment);
                    } else {
                        let plan = TunnelPlan::new(&config.proxies, proxy, &address);
                        tunnel = Some(plan.map(Arc::new).map_err(|error| error.to_string()));
                    }
                    proxy.address.clone()
                }
                None => match to {
                    Some(to) => HostPort { host: to.ip().to_string(), port: to.port() },
                    None => address,
                },
            };
            let to_target = |HostPort { host, port }: HostPort| Target::Tcp {
                name: names.id(&host.to_ascii_lowercase()),
                port,
            };
            replaced(&config.connect_to, dialled).into_iter().map(to_target).collect()
        };
        let amendment = (!amendment.is_empty()).then_some(amendment);
        Self { targets, next: 0, tunnel, amendment, via }
    }

    /// Whether connections go to a proxy.
    pub(crate) fn is_proxy(&self) -> bool {
        let is_forwarded = self.amendment.as_ref().is_some_and(|it| it.absolute.is_some());
        is_forwarded || self.tunnel.is_some()
    }

    /// Where the next connection goes.
    pub(crate) fn next_target(&mut self) -> Target {
        let target = self.targets[self.next].clone();
        self.next = (self.next + 1) % self.targets.len();
        target
    }

    /// A new connection's tunnel, if it needs one.
    pub(crate) fn tunnel(&self) -> Option<Result<Tunnel, String>> {
        let plan = self.tunnel.as_ref()?;
        Some(plan.as_ref().map(Tunnel::new).map_err(Clone::clone))
    }
}

/// Requests that the proxy itself sends on.
fn forward(proxy: &Proxy, origin: &Origin, amendment: &mut Amendment) {
    amendment.absolute = Some(format!("http://{}", origin_host_header(origin)));
    if let Some(authorization) = proxy.authorization() {
        amendment.lines = format!("Proxy-Authorization: {authorization}\r\n").into_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Waker;
    use crate::{ConnectTo, DnsOptions, Proxies};

    fn names() -> Names {
        Names::new(&DnsOptions::default(), Waker::new().expect("a descriptor"))
    }

    fn hosts(route: &mut Route, names: &Names, count: usize) -> Vec<String> {
        let mut host = || match route.next_target() {
            Target::Tcp { name, port } => format!("{}:{port}", names.host(name)),
            Target::Unix(remote) => remote.to_string(),
        };
        (0..count).map(|_| host()).collect()
    }

    #[test]
    fn replacements_rotate_from_the_first_on_and_hold_for_proxies_too() {
        let at = |text: &str| text.parse::<HostPort>().expect(text);
        let entry = |from: &str, to: &[&str]| ConnectTo {
            from: at(from),
            to: to.iter().map(|to| at(to)).collect(),
        };
        let proxy = Proxy::parse("proxy:3128").expect("valid");
        let mut config = ClientConfig {
            connect_to: vec![entry("a:80", &["b:1", "c:2"]), entry("proxy:3128", &["d:4"])],
            ..ClientConfig::default()
        };
        let mut names = names();
        let origin = Origin::parse("http://a").expect("URL");
        let mut route = Route::new(&config, None, &origin, None, &mut names);
        assert_eq!(hosts(&mut route, &names, 3), ["b:1", "c:2", "b:1"]);
        assert!(route.amendment.is_none() && route.tunnel().is_none());
        config.proxies = Proxies { http: Some(proxy), ..Proxies::default() };
        let mut route = Route::new(&config, None, &origin, None, &mut names);
        assert_eq!(hosts(&mut route, &names, 1), ["d:4"]);
        assert_eq!(route.via, " through proxy proxy:3128");
        // A Unix socket stands in for all of it.
        let socket = Remote::unix("/tmp/x".as_ref()).expect("short");
        let mut route = Route::new(&config, Some(&socket), &origin, None, &mut names);
        assert_eq!(hosts(&mut route, &names, 1), ["unix socket /tmp/x"]);
        assert!(route.amendment.is_none());
    }
}
