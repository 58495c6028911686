//! The other end of a connection, and a socket that begins to connect to it.
#![allow(
    unsafe_code,
    reason = "IP_BIND_ADDRESS_NO_PORT has no wrapper in rustix or socket2; proof at the call"
)]

use std::ffi::OsStr;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, ipproto, sockopt};

use crate::FarEnd;

/// Where to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remote {
    Tcp(SocketAddr),
    Unix(SocketAddrUnix),
}

/// Our end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OurEnd {
    /// The address; `None`: the kernel's choice.
    pub(crate) local: Option<IpAddr>,
    /// After how long a silence the kernel asks after the other end, if it shall.
    pub(crate) keep_alive: Option<Duration>,
}

/// How long until it asks again.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

impl Remote {
    /// A Unix socket's; fails when the path is too long for one (107 bytes) or has a NUL.
    pub(crate) fn unix(path: &Path) -> Result<Self, Errno> {
        SocketAddrUnix::new(path).map(Self::Unix)
    }

    /// The same for other crates' eyes.
    pub(crate) fn far_end(&self) -> FarEnd {
        match self {
            Self::Tcp(address) => FarEnd::Tcp(*address),
            Self::Unix(address) => {
                let path = OsStr::from_bytes(address.path_bytes().unwrap_or_default());
                FarEnd::Unix(path.into())
            }
        }
    }

    /// A socket that doesn't block and has begun to connect, from a local address if one is given
    /// (of the same family; its port is chosen by the kernel for this remote end, so that each
    /// remote end has the whole range of ports). It becomes writable when connecting has ended.
    pub(super) fn connect(&self, our_end: OurEnd) -> Result<OwnedFd, Errno> {
        let (family, protocol) = match self {
            Self::Tcp(SocketAddr::V4(_)) => (AddressFamily::INET, Some(ipproto::TCP)),
            Self::Tcp(SocketAddr::V6(_)) => (AddressFamily::INET6, Some(ipproto::TCP)),
            Self::Unix(_) => (AddressFamily::UNIX, None),
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, protocol)?;
        let connected = match self {
            Self::Tcp(address) => {
                sockopt::set_tcp_nodelay(&socket, true)?;
                if let Some(after) = our_end.keep_alive {
                    sockopt::set_socket_keepalive(&socket, true)?;
                    sockopt::set_tcp_keepidle(&socket, after)?;
                    sockopt::set_tcp_keepintvl(&socket, KEEP_ALIVE_INTERVAL)?;
                }
                if let Some(local) = our_end.local {
                    bind(&socket, local)?;
                }
                rustix::net::connect(&socket, address)
            }
            Self::Unix(address) => rustix::net::connect(&socket, address),
        };
        match connected {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
            Err(errno) => Err(errno),
        }
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix(address) => {
                let path = String::from_utf8_lossy(address.path_bytes().unwrap_or_default());
                write!(formatter, "unix socket {path}")
            }
        }
    }
}

/// Binds to an address and leaves the port to connect, which knows the remote end: the same port
/// may serve many of them.
fn bind(socket: &OwnedFd, local: IpAddr) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open while `socket` lives; the kernel only reads
    // `size_of::<c_int>()` bytes from the pointer, which is that of a live value of this type.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if set != 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL));
    }
    rustix::net::bind(socket, &SocketAddr::new(local, 0))
}

/// Whether this machine lets a connection come from the address.
pub(crate) fn try_local(local: IpAddr) -> Result<(), Errno> {
    let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    bind(&socket, local)
}
