//! Why a request failed, as Go's HTTP client says it: the part behind the URL.

use std::net::{IpAddr, SocketAddr};

use rustix::io::Errno;
use sojourn_http::{Circumstances, Failure, FailureKind, FarEnd, NoSuchHost, TlsFault};

/// Errors of the kernel that come before an address is looked at: no descriptor or memory.
const OF_SOCKETS: [Errno; 4] = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];

/// Whether the answer's head had come.
pub(super) fn has_head(failure: &Failure) -> bool {
    failure.circumstances.as_ref().is_some_and(|known| known.has_head)
}

/// Why there was no answer from `host`.
pub(super) fn before(failure: &Failure, host: &str) -> String {
    let Some(known) = &failure.circumstances else { return failure.detail.clone() };
    match failure.kind {
        FailureKind::Connect => dialled(known).unwrap_or_else(|| failure.detail.clone()),
        // What this machine lacks, and what to do about it, which Go does not say.
        FailureKind::Local => match (dialled(known), failure.detail.split_once(": ")) {
            (Some(words), Some((_, hint))) => format!("{words} ({hint})"),
            _ => failure.detail.clone(),
        },
        FailureKind::Dns => known
            .no_such_host
            .as_ref()
            .map_or_else(|| failure.detail.clone(), |name| looked_up(name, known)),
        FailureKind::Timeout => {
            "context deadline exceeded (Client.Timeout exceeded while awaiting \
                                 headers)"
                .to_owned()
        }
        FailureKind::Tls => handshake(known, host).unwrap_or_else(|| failure.detail.clone()),
        FailureKind::Closed | FailureKind::Reset => read(known, "EOF"),
        FailureKind::BodyTooLarge
        | FailureKind::Encoding
        | FailureKind::Protocol
        | FailureKind::StreamReset => failure.detail.clone(),
    }
}

/// Why there was no whole body.
pub(super) fn in_body(failure: &Failure) -> String {
    match (failure.kind, &failure.circumstances) {
        (FailureKind::Timeout, _) => "context deadline exceeded (Client.Timeout or context \
                                      cancellation while reading body)"
            .to_owned(),
        (FailureKind::Closed | FailureKind::Reset, Some(known)) => read(known, "unexpected EOF"),
        _ => failure.detail.clone(),
    }
}

/// What the kernel said when connecting; `None` where it was not that.
fn dialled(known: &Circumstances) -> Option<String> {
    let errno = known.errno?;
    let call =
        if OF_SOCKETS.contains(&Errno::from_raw_os_error(errno)) { "socket" } else { "connect" };
    let what = format!("dial {}: {call}: {}", way(known)?, errno_words(errno));
    Some(proxied(known, what))
}

fn looked_up(name: &NoSuchHost, known: &Circumstances) -> String {
    let NoSuchHost { host, is_known, why } = name;
    let why = if *is_known { "no such host" } else { why };
    proxied(known, format!("lookup {host}: {why}"))
}

/// What ended a connection that was open: the kernel's error, else its end.
fn read(known: &Circumstances, end: &str) -> String {
    let errno = known.errno.zip(way(known));
    errno.map_or_else(
        || end.to_owned(),
        |(errno, way)| format!("read {way}: read: {}", errno_words(errno)),
    )
}

fn handshake(known: &Circumstances, host: &str) -> Option<String> {
    let x509 = |why: &str| format!("tls: failed to verify certificate: x509: {why}");
    Some(match known.tls? {
        TlsFault::Closed => "EOF".to_owned(),
        TlsFault::NotTls => "tls: first record does not look like a TLS handshake".to_owned(),
        TlsFault::Alert(number) => format!("remote error: tls: {}", alert(number)),
        TlsFault::Unvouched => x509("certificate signed by unknown authority"),
        TlsFault::Date => x509("certificate has expired or is not yet valid"),
        TlsFault::Name => x509(&format!("certificate is not valid for {host}")),
    })
}

fn proxied(known: &Circumstances, what: String) -> String {
    if known.is_proxy { format!("proxyconnect tcp: {what}") } else { what }
}

/// Network and far end, with the address they were dialled from where that was asked for.
fn way(known: &Circumstances) -> Option<String> {
    Some(match (known.far_end.as_ref()?, known.local) {
        (FarEnd::Unix(path), _) => format!("unix {}", path.display()),
        (FarEnd::Tcp(to), None) => format!("tcp {to}"),
        (FarEnd::Tcp(to), Some(from)) => format!("tcp {}->{to}", any_port(from)),
    })
}

fn any_port(address: IpAddr) -> SocketAddr {
    SocketAddr::new(address, 0)
}

/// The kernel's error as the system's library words it, in lower case and without its number.
fn errno_words(errno: i32) -> String {
    let words = std::io::Error::from_raw_os_error(errno).to_string();
    let end = words.find(" (os error").unwrap_or(words.len());
    words[..end].to_lowercase()
}

/// The names that Go has for alerts (RFC 8446 §6.2).
fn alert(number: u8) -> String {
    let known = ALERTS.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("alert({number})"), |(_, name)| (*name).to_owned())
}

const ALERTS: [(u8, &str); 20] = [
    (10, "unexpected message"),
    (20, "bad record MAC"),
    (40, "handshake failure"),
    (42, "bad certificate"),
    (43, "unsupported certificate"),
    (44, "revoked certificate"),
    (45, "expired certificate"),
    (46, "unknown certificate"),
    (47, "illegal parameter"),
    (48, "unknown certificate authority"),
    (49, "access denied"),
    (50, "error decoding message"),
    (51, "error decrypting message"),
    (70, "protocol version not supported"),
    (71, "insufficient security level"),
    (80, "internal error"),
    (109, "missing extension"),
    (112, "unrecognized name"),
    (116, "certificate required"),
    (120, "no application protocol"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: FailureKind, known: Circumstances) -> Failure {
        let detail = "in our: words".to_owned();
        Failure { kind, detail, circumstances: Some(Box::new(known)) }
    }

    fn of(errno: Errno) -> Circumstances {
        let far_end = Some(FarEnd::Tcp("127.0.0.1:80".parse().unwrap()));
        Circumstances { far_end, errno: Some(errno.raw_os_error()), ..Default::default() }
    }

    fn none() -> Circumstances {
        Circumstances::default()
    }

    fn check(kind: FailureKind, known: Circumstances, expected: &str) {
        assert_eq!(before(&failure(kind, known.clone()), "h"), expected, "{kind:?} {known:?}");
    }

    #[test]
    fn who_could_not_connect_reads_what_was_dialled() {
        use FailureKind::{Connect, Dns, Local};
        let by_proxy = |errno| Circumstances { is_proxy: true, ..of(errno) };
        let from = |errno| Circumstances { local: Some("127.0.0.2".parse().unwrap()), ..of(errno) };
        let unix =
            |errno| Circumstances { far_end: Some(FarEnd::Unix("/run/x".into())), ..of(errno) };
        let name = |is_known| {
            let (host, why) = ("h".to_owned(), "it failed (SERVFAIL)".to_owned());
            let no_such_host = Some(NoSuchHost { host, is_known, why });
            Circumstances { no_such_host, ..Default::default() }
        };
        for (kind, known, expected) in [
            (
                Connect,
                of(Errno::CONNREFUSED),
                "dial tcp 127.0.0.1:80: connect: connection refused".to_owned(),
            ),
            (
                Connect,
                by_proxy(Errno::CONNREFUSED),
                "proxyconnect tcp: dial tcp 127.0.0.1:80: connect: connection refused".to_owned(),
            ),
            (
                Connect,
                of(Errno::NETUNREACH),
                "dial tcp 127.0.0.1:80: connect: network is unreachable".to_owned(),
            ),
            (
                Connect,
                unix(Errno::NOENT),
                "dial unix /run/x: connect: no such file or directory".to_owned(),
            ),
            (Connect, none(), "in our: words".to_owned()),
            (
                Local,
                from(Errno::ADDRNOTAVAIL),
                "dial tcp 127.0.0.2:0->127.0.0.1:80: connect: cannot assign requested address \
                 (words)"
                    .to_owned(),
            ),
            (
                Local,
                of(Errno::MFILE),
                "dial tcp 127.0.0.1:80: socket: too many open files (words)".to_owned(),
            ),
            (Dns, name(true), "lookup h: no such host".to_owned()),
            (Dns, name(false), "lookup h: it failed (SERVFAIL)".to_owned()),
        ] {
            check(kind, known, &expected);
        }
    }

    #[test]
    fn who_was_connected_reads_what_ended_it() {
        use FailureKind::{Closed, Encoding, Protocol, Reset, Timeout, Tls};
        let tls = |fault| Circumstances { tls: Some(fault), ..Default::default() };
        let x509 = "tls: failed to verify certificate: x509: certificate ";
        for (kind, known, expected) in [
            (Closed, none(), "EOF".to_owned()),
            (
                Closed,
                of(Errno::TIMEDOUT),
                "read tcp 127.0.0.1:80: read: connection timed out".to_owned(),
            ),
            (
                Reset,
                of(Errno::CONNRESET),
                "read tcp 127.0.0.1:80: read: connection reset by peer".to_owned(),
            ),
            (Protocol, none(), "in our: words".to_owned()),
            (
                Timeout,
                none(),
                "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
                    .to_owned(),
            ),
            (Tls, none(), "in our: words".to_owned()),
            (Tls, tls(TlsFault::Closed), "EOF".to_owned()),
            (Tls, tls(TlsFault::Alert(116)), "remote error: tls: certificate required".to_owned()),
            (Tls, tls(TlsFault::Alert(255)), "remote error: tls: alert(255)".to_owned()),
            (Tls, tls(TlsFault::Unvouched), format!("{x509}signed by unknown authority")),
            (Tls, tls(TlsFault::Date), format!("{x509}has expired or is not yet valid")),
            (Tls, tls(TlsFault::Name), format!("{x509}is not valid for h")),
            (Encoding, none(), "in our: words".to_owned()),
        ] {
            check(kind, known, &expected);
        }
    }

    #[test]
    fn who_was_reading_a_body_reads_so() {
        use FailureKind::{Closed, Encoding, Reset, Timeout};
        let reading = "context deadline exceeded (Client.Timeout or context cancellation while \
                       reading body)";
        for (kind, known, expected) in [
            (Timeout, none(), reading),
            (Closed, none(), "unexpected EOF"),
            (Reset, of(Errno::CONNRESET), "read tcp 127.0.0.1:80: read: connection reset by peer"),
            (Encoding, none(), "in our: words"),
        ] {
            let known = Circumstances { has_head: true, ..known };
            let failure = failure(kind, known);
            assert!(has_head(&failure));
            assert_eq!(in_body(&failure), expected, "{kind:?}");
        }
    }
}
