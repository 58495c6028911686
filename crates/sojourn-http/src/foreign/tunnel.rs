//! Proxies' answers.

use std::sync::Arc;

use crate::proxy::{Tunnel, TunnelPlan};
use crate::{HostPort, Proxies, Proxy};

/// How the making of a tunnel went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunnelEnd {
    /// Whether it is open; errs in words.
    pub outcome: Result<bool, String>,
    /// All that we sent.
    pub sent: Vec<u8>,
    /// Bytes that came after it was open.
    pub bytes_left: usize,
}

/// Makes a tunnel to `target` through `proxy`, which sends these portions.
///
/// # Panics
///
/// When `target` is too long for the proxy: it is the caller's own.
pub fn open_tunnel<'a>(
    proxy: &Proxy,
    target: &HostPort,
    portions: impl IntoIterator<Item = &'a [u8]>,
) -> TunnelEnd {
    let plan = TunnelPlan::new(&Proxies::default(), proxy, target);
    let mut tunnel = Tunnel::new(&Arc::new(plan.expect("the caller's target fits")));
    let mut end = TunnelEnd { outcome: Ok(false), sent: Vec::new(), bytes_left: 0 };
    for portion in portions {
        if end.outcome != Ok(false) {
            end.bytes_left += portion.len();
            continue;
        }
        let unsent = tunnel.unsent().len();
        end.sent.extend_from_slice(tunnel.unsent());
        tunnel.sent(unsent);
        end.outcome = tunnel.feed(portion);
    }
    end.sent.extend_from_slice(tunnel.unsent());
    end
}
