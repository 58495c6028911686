//! Proxies: which one a request goes through, and how a tunnel through it is made.
//!
//! Plain HTTP is sent to an HTTP proxy as it stands, in absolute form. Everything else goes through
//! a tunnel: HTTP's CONNECT or SOCKS5.

mod connect;
mod exceptions;
mod options;
mod socks5;
mod tunnel;

pub use exceptions::NoProxy;
pub use options::{Proxies, Proxy, ProxyError, ProxyKind};
pub use tunnel::Tunnel;
pub(crate) use tunnel::TunnelPlan;
