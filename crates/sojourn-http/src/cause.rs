//! Why a request failed, before it is put into words.

use rustix::io::Errno;

use crate::codec::h2::{ErrorCode, Http2Error, UnfitRequest};
use crate::codec::{BodyError, CodecError};
use crate::dialling::Attempt;
use crate::in_flight::InFlight;
use crate::resolver::NoAddress;
use crate::{Circumstances, Failure, FailureKind, NoSuchHost, TlsFault};

/// Why a request failed or a connection broke.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// The body could not be kept.
    Body(BodyError),
    /// The other end closed.
    Closed,
    /// The answer could not be read.
    Codec(CodecError),
    /// Could not connect; where to and from, in words.
    Connect { errno: Errno, attempt: Box<Attempt> },
    /// No connection within so many nanoseconds; how far it came, in words.
    ConnectTimeout { timeout_ns: u64, progress: String },
    /// The name could not be resolved.
    Dns { host: String, error: NoAddress },
    /// What only HTTP/2 has.
    Http2(Http2Cause),
    /// No local address of the family of any of the target's.
    NoLocalAddress,
    /// No such origin is registered.
    NoOrigin,
    /// The kernel's error on an open connection.
    Os(Errno),
    /// A proxy did not let the connection through.
    Proxy(String),
    /// No address may be dialled: why.
    Refused(String),
    /// Not complete within so many nanoseconds.
    Timeout(u64),
    /// TLS failed.
    Tls { why: String, fault: Option<TlsFault> },
    /// Too many requests wait for a connection already.
    WaitingFull,
}

/// What only HTTP/2 has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Http2Cause {
    /// What came is against the protocol.
    Broken(Http2Error),
    /// The server goes away (GOAWAY) and has not answered before.
    GoneAway(ErrorCode),
    /// The server has closed the stream.
    StreamReset(ErrorCode),
    /// The request can't go over HTTP/2.
    Unfit(UnfitRequest),
}

impl Cause {
    /// Whether a server that closes an idle connection just as it is used again looks like this.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self, Self::Closed | Self::Os(Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED))
    }

    /// TLS failed, in words of our own.
    pub(crate) fn tls(why: String) -> Self {
        Self::Tls { why, fault: None }
    }

    /// The failure in words; `label` is host and port.
    pub(crate) fn failure(self, label: &str, exchange: &InFlight) -> Failure {
        let circumstances = Some(Box::new(self.circumstances(exchange)));
        let (kind, detail) = match self {
            Self::Body(error) => {
                let kind = match error {
                    BodyError::TooLarge { .. } => FailureKind::BodyTooLarge,
                    BodyError::Broken(_) | BodyError::UnknownCoding => FailureKind::Encoding,
                };
                let read = exchange.bytes_in;
                (kind, format!("{label} answered with {error}, {read} bytes read"))
            }
            Self::Closed => (
                FailureKind::Closed,
                format!("{label} closed the connection {}", exchange.progress()),
            ),
            Self::Codec(error) => (FailureKind::Protocol, format!("{label} answered with {error}")),
            Self::Connect { errno, attempt } => connect_failure(&attempt.between(label), errno),
            Self::ConnectTimeout { timeout_ns, progress } => (
                FailureKind::Connect,
                format!("no connection to {label} within {}: {progress}", milliseconds(timeout_ns)),
            ),
            Self::Dns { host, error } => {
                (FailureKind::Dns, format!("looking up {host} for {label}: {}", error.why))
            }
            Self::NoLocalAddress => (
                FailureKind::Connect,
                format!("connection to {label}: no local address given is of its address family"),
            ),
            Self::Http2(cause) => cause.failure(label, exchange),
            Self::NoOrigin => {
                (FailureKind::Connect, "no such origin is registered with this client".to_owned())
            }
            Self::Os(Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED) => (
                FailureKind::Reset,
                format!("{label} reset the connection {}", exchange.progress()),
            ),
            Self::Os(errno) if is_local_limit(errno) => connect_failure(label, errno),
            Self::Os(errno) => (
                FailureKind::Closed,
                format!(
                    "the connection to {label} failed {}: {}",
                    exchange.progress(),
                    std::io::Error::from(errno)
                ),
            ),
            Self::Proxy(error) => (FailureKind::Connect, format!("connection to {label}: {error}")),
            Self::Refused(why) => (FailureKind::Connect, why),
            Self::Timeout(timeout_ns) => (
                FailureKind::Timeout,
                format!(
                    "no whole answer from {label} within {}: given up {}",
                    milliseconds(timeout_ns),
                    exchange.progress()
                ),
            ),
            Self::Tls { why, .. } => (FailureKind::Tls, format!("TLS with {label}: {why}")),
            Self::WaitingFull => (
                FailureKind::Local,
                format!(
                    "too many requests wait for a connection to {label}: raise connections_max"
                ),
            ),
        };
        Failure { kind, detail, circumstances }
    }

    /// What is known of it without the connection.
    fn circumstances(&self, exchange: &InFlight) -> Circumstances {
        let mut known = Circumstances { has_head: exchange.has_head(), ..Circumstances::default() };
        match self {
            Self::Connect { errno, attempt } => {
                known.far_end = Some(attempt.remote.far_end());
                known.local = attempt.local;
                known.errno = Some(errno.raw_os_error());
            }
            Self::Os(errno) => known.errno = Some(errno.raw_os_error()),
            Self::Dns { host, error } => {
                let NoAddress { why, is_known } = error.clone();
                known.no_such_host = Some(NoSuchHost { host: host.clone(), is_known, why });
            }
            Self::Tls { fault, .. } => known.tls = *fault,
            _ => {}
        }
        known
    }
}

impl Http2Cause {
    fn failure(self, label: &str, exchange: &InFlight) -> (FailureKind, String) {
        let progress = exchange.progress();
        match self {
            Self::Broken(error) => {
                (FailureKind::Protocol, format!("{label} answered with {error}"))
            }
            Self::GoneAway(code) => (
                FailureKind::Closed,
                format!("{label} closed the connection (GOAWAY, {code}) {progress}"),
            ),
            Self::StreamReset(code) => {
                (FailureKind::StreamReset, format!("{label} reset the stream ({code}) {progress}"))
            }
            Self::Unfit(unfit) => (
                FailureKind::Protocol,
                format!("the request for {label} {} (HTTP/2 is spoken there)", unfit.0),
            ),
        }
    }
}

impl From<rustls::Error> for Cause {
    fn from(error: rustls::Error) -> Self {
        Self::Tls { fault: TlsFault::of(&error), why: error.to_string() }
    }
}

impl From<Http2Error> for Cause {
    fn from(error: Http2Error) -> Self {
        Self::Http2(Http2Cause::Broken(error))
    }
}

fn connect_failure(label: &str, errno: Errno) -> (FailureKind, String) {
    let hint = match errno {
        Errno::MFILE => "out of descriptors in this process: raise `ulimit -n`",
        Errno::NFILE => "out of descriptors on this machine: raise `sysctl fs.file-max`",
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => {
            "out of local ports for this target: widen `sysctl net.ipv4.ip_local_port_range` or \
             keep connections alive"
        }
        Errno::NOBUFS | Errno::NOMEM => "out of kernel memory for sockets",
        Errno::AGAIN => {
            // Only a Unix socket says so at once; TCP tries again by itself.
            let problem = "its queue of connections not yet accepted is full";
            return (FailureKind::Connect, format!("connection to {label}: {problem}"));
        }
        _ => {
            let error = std::io::Error::from(errno);
            return (FailureKind::Connect, format!("connection to {label}: {error}"));
        }
    };
    (FailureKind::Local, format!("connection to {label}: {hint}"))
}

/// Whether connecting failed for want of something on this machine: another address won't help.
pub(crate) fn is_local_limit(errno: Errno) -> bool {
    connect_failure("", errno).0 == FailureKind::Local
}

fn milliseconds(duration_ns: u64) -> String {
    format!("{} ms", duration_ns / sojourn_clock::MILLISECOND_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_limits_are_told_apart_and_have_a_hint() {
        for (errno, hint) in [
            (Errno::MFILE, "ulimit -n"),
            (Errno::NFILE, "fs.file-max"),
            (Errno::ADDRNOTAVAIL, "ip_local_port_range"),
            (Errno::NOBUFS, "kernel memory"),
        ] {
            let (kind, detail) = connect_failure("h:1", errno);
            assert_eq!(kind, FailureKind::Local);
            assert!(detail.contains("h:1") && detail.contains(hint), "{detail}");
            assert!(is_local_limit(errno));
        }
        let (kind, detail) = connect_failure("h:1", Errno::CONNREFUSED);
        assert_eq!(kind, FailureKind::Connect);
        assert!(detail.contains("refused"), "{detail}");
        assert!(!is_local_limit(Errno::CONNREFUSED));
    }
}
