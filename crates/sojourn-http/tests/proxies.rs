//! Proxies: absolute form, tunnels by CONNECT and SOCKS5, refusals, secrets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};

use sojourn_clock::MILLISECOND_NS;
use sojourn_http::{
    Client, ClientConfig, FailureKind, NoProxy, Origin, Proxies, Proxy, TlsOptions,
};

use crate::dialling::{TlsPeer, answer_all, tls_server};
use crate::peers::{Load, Server, nobody, read_request, wait_for_close};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Copies bytes both ways until both ends have closed.
pub(crate) fn relay(stream: impl Into<OwnedFd>, upstream: SocketAddr) {
    let upstream = TcpStream::connect(upstream).expect("the server's");
    upstream.set_nodelay(true).expect("a TCP socket");
    // Reading and writing is the same for every socket.
    let stream = TcpStream::from(stream.into());
    let clone = |stream: &TcpStream| {
        TcpStream::from(stream.as_fd().try_clone_to_owned().expect("a descriptor"))
    };
    let directions = [(clone(&stream), clone(&upstream)), (upstream, stream)];
    for (mut from, mut to) in directions {
        std::thread::spawn(move || {
            std::io::copy(&mut from, &mut to).ok();
            to.shutdown(std::net::Shutdown::Write).ok();
        });
    }
}

/// What a proxy was sent before it relayed.
type Seen = Arc<Mutex<Vec<String>>>;

fn lines(seen: &Seen) -> Vec<String> {
    seen.lock().expect("unpoisoned").clone()
}

/// Answers each CONNECT after a pause, byte by byte, and relays to `upstream` whatever was named.
fn connect_proxy(upstream: SocketAddr, pause_ns: u64) -> (Server, Seen) {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let proxy = Server::start(move |_, mut stream| {
        let Some(request) = read_request(&mut stream) else { return };
        log.lock().expect("unpoisoned").push(String::from_utf8(request).expect("text"));
        sojourn_clock::sleep_until(sojourn_clock::now_ns() + pause_ns);
        for byte in b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n" {
            stream.write_all(&[*byte]).expect("open");
        }
        relay(stream, upstream);
    });
    (proxy, seen)
}

fn through(proxy_url: &str, peer: Option<&TlsPeer>) -> ClientConfig {
    let proxy = Proxy::parse(proxy_url).expect(proxy_url);
    ClientConfig {
        proxies: Proxies { http: Some(proxy.clone()), https: Some(proxy), ..Proxies::default() },
        tls: TlsOptions {
            ca_file: peer.map(|peer| peer.ca_file.path().to_owned()),
            ..TlsOptions::default()
        },
        ..ClientConfig::default()
    }
}

fn load(url: &str, config: ClientConfig) -> Load {
    Load::to(&Origin::parse(url).expect(url), config)
}

#[test]
fn plain_http_goes_to_the_proxy_in_absolute_form() {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let proxy = Server::start(move |_, mut stream| {
        while let Some(request) = read_request(&mut stream) {
            log.lock().expect("unpoisoned").push(String::from_utf8(request).expect("text"));
            stream.write_all(OK).expect("open");
        }
    });
    let config = through(&format!("http://me:s%65cret@{}", proxy.address), None);
    let mut load = load("http://a.test:8080", config);
    for _ in 0..2 {
        assert_eq!(load.answer().body, b"ok");
    }
    load.origin = load.client.origin(&Origin::parse("http://b.test").expect("URL"));
    load.answer();
    let request = |authority: &str| {
        // `me:secret` in Base64.
        let authorization = "Proxy-Authorization: Basic bWU6c2VjcmV0\r\n";
        format!("GET http://{authority}/ HTTP/1.1\r\n{authorization}Host: test\r\n\r\n")
    };
    let expected = [request("a.test:8080"), request("a.test:8080"), request("b.test")];
    assert_eq!(lines(&seen), expected);
    // Kept alive, by origin.
    assert_eq!(proxy.accepted(), 2);
}

#[test]
fn https_goes_through_a_tunnel() {
    const PAUSE_NS: u64 = 30 * MILLISECOND_NS;
    let peer = tls_server(&["a.test"], answer_all);
    let (proxy, seen) = connect_proxy(peer.server.address, PAUSE_NS);
    let mut config = through(&format!("http://me:secret@{}", proxy.address), Some(&peer));
    config.proxies.connect_headers = vec![("X-Team".to_owned(), "load".to_owned())];
    let mut first = load("https://a.test", config.clone());
    let completion = first.get();
    let timings = completion.timings;
    assert_eq!(completion.outcome.expect("an answer").body, b"ok");
    assert!(timings.connect_ns >= PAUSE_NS && timings.tls_ns > 0, "{timings:?}");
    assert_eq!(first.get().timings.connect_ns, 0);
    let expected = "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nX-Team: load\r\n\
                    Proxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n";
    assert_eq!(lines(&seen), [expected]);
    // The certificate is still the origin's.
    let failure = load("https://b.test", config).failure();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    assert!(failure.detail.contains("b.test:443 through proxy"), "{failure}");
}

#[test]
fn proxies_that_do_not_let_through() {
    let rows: [(&[u8], &str); 5] = [
        (b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", "407 Who (user and password"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "502 Bad Gateway"),
        (b"SSH-2.0-test\r\n", "its answer"),
        (b"HTTP/1.1 200 OK\r\n\r\ntoo soon", "before anybody used the tunnel"),
        (b"HTTP/1.1 2", "it closed the connection"),
    ];
    for (answer, words) in rows {
        let proxy = Server::closing_after(answer);
        let config = through(&format!("http://me:secret@{}", proxy.address), None);
        let mut load = load("https://a.test", config);
        let failure = load.failure();
        assert_eq!(failure.kind, FailureKind::Connect, "{failure}");
        let names = ["a.test:443", &proxy.address.to_string(), words];
        assert!(names.iter().all(|name| failure.detail.contains(name)), "{failure}");
        assert_eq!((load.client.connections(), load.client.in_flight()), (0, 0));
        let shown = format!("{failure:?} {:?}", load.client);
        assert!(!shown.contains("secret") && !shown.contains("bWU6"), "{shown}");
    }
}

#[test]
fn a_proxy_that_never_answers_meets_the_connect_timeout() {
    let proxy = Server::start(|_, mut stream| wait_for_close(&mut stream));
    for scheme in ["http", "socks5"] {
        let mut config = through(&format!("{scheme}://{}", proxy.address), None);
        config.connect_timeout_ns = 40 * MILLISECOND_NS;
        let completion = load("https://a.test", config).get();
        assert!(completion.timings.connect_ns > 0 && completion.timings.tls_ns == 0);
        let failure = completion.outcome.expect_err("no tunnel");
        assert_eq!(failure.kind, FailureKind::Connect);
        assert!(failure.detail.contains("has not opened a tunnel"), "{failure}");
    }
}

#[test]
fn a_proxy_that_is_not_there_is_named() {
    let proxy = nobody();
    let config = through(&format!("http://{proxy}"), None);
    for url in ["http://a.test", "https://a.test"] {
        let failure = load(url, config.clone()).failure();
        assert_eq!(failure.kind, FailureKind::Connect);
        assert!(failure.detail.contains(&format!("through proxy {proxy}: ")), "{failure}");
    }
}

#[test]
fn exceptions_and_loopback_need_no_proxy() {
    let server = Server::answering(OK);
    let mut config = through(&format!("http://{}", nobody()), None);
    assert_eq!(load(&format!("http://{}", server.address), config.clone()).answer().body, b"ok");
    let to = format!("a.test:{}", server.address.port());
    config.connect_to = vec![sojourn_http::ConnectTo {
        from: to.parse().expect("valid"),
        to: vec![server.address.to_string().parse().expect("valid")],
    }];
    let url = format!("http://{to}");
    assert_eq!(load(&url, config.clone()).failure().kind, FailureKind::Connect);
    config.proxies.exceptions = NoProxy::parse("a.test");
    assert_eq!(load(&url, config).answer().body, b"ok");
}

#[test]
fn headers_that_can_not_be_sent_are_told_at_the_beginning() {
    let mut config = ClientConfig::default();
    config.proxies.connect_headers = vec![("X-Team".to_owned(), "a\r\nb: secret".to_owned())];
    let error = Client::new(config).expect_err("a line break").to_string();
    assert!(error.contains("X-Team") && !error.contains("secret"), "{error}");
}

/// A SOCKS5 proxy that wants a user, and relays to `upstream` whatever was named.
fn socks_proxy(upstream: SocketAddr, password: &'static [u8], code: u8) -> (Server, Seen) {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let proxy = Server::start(move |_, mut stream| {
        let read = |stream: &mut TcpStream, length: usize| {
            let mut bytes = vec![0; length];
            stream.read_exact(&mut bytes).expect("a message");
            bytes
        };
        assert_eq!(read(&mut stream, 4), [5, 2, 0, 2]);
        stream.write_all(&[5, 2]).expect("open");
        let sent = read(&mut stream, 1 + 1 + 2 + 1 + 6);
        let fits = sent == [b"\x01\x02me\x06", password].concat();
        stream.write_all(&[1, u8::from(!fits)]).expect("open");
        if !fits {
            return;
        }
        let head = read(&mut stream, 5);
        assert_eq!(head[..4], [5, 1, 0, 3]);
        let rest = read(&mut stream, usize::from(head[4]) + 2);
        let (name, port) = rest.split_at(rest.len() - 2);
        let port = u16::from_be_bytes([port[0], port[1]]);
        let name = format!("{}:{port}", String::from_utf8_lossy(name));
        log.lock().expect("unpoisoned").push(name);
        for byte in [5, code, 0, 1, 0, 0, 0, 0, 0, 0] {
            stream.write_all(&[byte]).expect("open");
        }
        if code == 0 {
            relay(stream, upstream);
        }
    });
    (proxy, seen)
}

#[test]
fn everything_goes_through_a_socks_proxy() {
    let plain = Server::answering(OK);
    let peer = tls_server(&["b.test"], answer_all);
    for (url, upstream, named) in [
        ("http://a.test:81", plain.address, "a.test:81"),
        ("https://b.test", peer.server.address, "b.test:443"),
    ] {
        let (proxy, seen) = socks_proxy(upstream, b"secret", 0);
        let config = through(&format!("socks5://me:secret@{}", proxy.address), Some(&peer));
        let mut load = load(url, config);
        for _ in 0..2 {
            let completion = load.get();
            assert_eq!(completion.timings.dns_ns, 0);
            assert_eq!(completion.outcome.expect("an answer").body, b"ok");
        }
        assert_eq!(lines(&seen), [named]);
    }
}

#[test]
fn socks_refusals_are_told() {
    for (password, code, words) in
        [(b"secret", 5, "connection refused (SOCKS5 code 5)"), (b"Secret", 0, "refused user or")]
    {
        let (proxy, _) = socks_proxy(nobody(), password, code);
        let config = through(&format!("socks5://me:secret@{}", proxy.address), None);
        let failure = load("http://a.test", config).failure();
        assert_eq!(failure.kind, FailureKind::Connect);
        assert!(failure.detail.contains(words) && !failure.detail.contains("secret"), "{failure}");
    }
}
