//! Names, TLS, limits of this machine.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS};
use sojourn_http::{BodyPolicy, ClientConfig, FailureKind, Origin, TlsOptions};

use crate::peers::{Load, Server, read_request, wait_for_close};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

pub(crate) fn origin(tls: bool, host: &str, port: u16) -> Origin {
    Origin { tls, host: host.to_owned(), port }
}

#[test]
fn a_name_is_resolved_once() {
    let server = Server::answering(OK);
    let target = origin(false, "localhost", server.address.port());
    let config = ClientConfig { connections_max: 2, ..ClientConfig::default() };
    let mut load = Load::to(&target, config);
    for token in 0..4 {
        load.send(token, "GET", b"");
    }
    let completions = load.take(4);
    let resolved = completions.iter().filter(|c| c.timings.dns_ns > 0).count();
    assert_eq!(resolved, 2, "those that opened a connection: {completions:?}");
    assert!(completions.iter().all(|completion| completion.outcome.is_ok()));
    // Another origin of the same host has no look-up any more.
    let other = Server::answering(OK);
    let target = origin(false, "localhost", other.address.port());
    load.origin = load.client.origin(&target);
    let completion = load.get();
    assert_eq!(completion.timings.dns_ns, 0);
    assert!(completion.outcome.is_ok());
}

#[test]
fn a_name_that_does_not_exist() {
    // An empty label: the system refuses it without asking anybody.
    let mut load = Load::to(&origin(false, "no..name", 80), ClientConfig::default());
    for _ in 0..2 {
        let completion = load.get();
        assert!(completion.timings.dns_ns > 0);
        let failure = completion.outcome.expect_err("no such name");
        assert_eq!(failure.kind, FailureKind::Dns);
        assert!(failure.detail.contains("no..name:80"), "{failure}");
    }
    assert_eq!(load.client.connections(), 0);
}

pub(crate) struct TlsPeer {
    pub(crate) server: Server,
    pub(crate) ca_file: tempfile::NamedTempFile,
}

/// A TLS server for these names; the behaviour runs on the decrypted stream.
pub(crate) fn tls_server(
    names: &[&str],
    serve: impl Fn(&mut StreamOwned<ServerConnection, TcpStream>) + Send + Sync + 'static,
) -> TlsPeer {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let certified = rcgen::generate_simple_self_signed(names).expect("valid names");
    let mut ca_file = tempfile::NamedTempFile::new().expect("a file");
    ca_file.write_all(certified.cert.pem().as_bytes()).expect("room");
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider's own")
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], PrivateKeyDer::Pkcs8(key))
        .expect("key and certificate fit");
    let config = Arc::new(config);
    let server = Server::start(move |_, stream| {
        let session = ServerConnection::new(Arc::clone(&config)).expect("a valid config");
        serve(&mut StreamOwned::new(session, stream));
    });
    TlsPeer { server, ca_file }
}

fn tls_load(peer: &TlsPeer, host: &str, trusted: bool, insecure: bool) -> Load {
    let config = ClientConfig {
        tls: TlsOptions {
            ca_file: trusted.then(|| peer.ca_file.path().to_owned()),
            insecure,
            ..TlsOptions::default()
        },
        ..ClientConfig::default()
    };
    Load::to(&origin(true, host, peer.server.address.port()), config)
}

pub(crate) fn answer_all(stream: &mut StreamOwned<ServerConnection, TcpStream>) {
    while read_request(stream).is_some() {
        if stream.write_all(OK).and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
}

#[test]
fn a_trusted_certificate_of_the_right_name() {
    let peer = tls_server(&["localhost", "127.0.0.1"], answer_all);
    for host in ["localhost", "127.0.0.1"] {
        let mut load = tls_load(&peer, host, true, false);
        let completion = load.get();
        assert!(completion.timings.tls_ns > 0);
        assert_eq!(completion.outcome.expect("an answer").body, b"ok");
        for _ in 0..20 {
            let completion = load.get();
            assert_eq!(completion.timings.blocked_ns, 0);
            assert_eq!(completion.outcome.expect("an answer").body, b"ok");
        }
        assert_eq!(load.client.connections(), 1);
    }
    assert_eq!(peer.server.accepted(), 2);
}

#[test]
fn untrusted_certificates_are_refused_unless_told_otherwise() {
    let peer = tls_server(&["localhost"], answer_all);
    let failure = tls_load(&peer, "localhost", false, false).failure();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    // The right authority, the wrong name.
    let failure = tls_load(&peer, "127.0.0.1", true, false).failure();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    assert_eq!(tls_load(&peer, "127.0.0.1", false, true).answer().body, b"ok");
}

#[test]
fn tls_to_a_plain_server_and_the_other_way_round() {
    let server = Server::start(|_, mut stream| {
        stream.read_exact(&mut [0; 5]).expect("open");
        stream.write_all(b"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n").ok();
    });
    let target = origin(true, "127.0.0.1", server.address.port());
    let failure = Load::to(&target, ClientConfig::default()).failure();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    let peer = tls_server(&["127.0.0.1"], answer_all);
    let target = origin(false, "127.0.0.1", peer.server.address.port());
    let failure = Load::to(&target, ClientConfig::default()).failure();
    assert!(matches!(failure.kind, FailureKind::Protocol | FailureKind::Reset), "{failure}");
}

#[test]
fn large_messages_over_tls() {
    const LENGTH: usize = 5_000_000;
    let peer = tls_server(&["127.0.0.1"], |stream| {
        while let Some(request) = read_request(stream) {
            assert!(request.len() > LENGTH);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("open");
            stream.write_all(&request[request.len() - LENGTH..]).expect("open");
        }
    });
    let mut load = tls_load(&peer, "127.0.0.1", true, false);
    let body: Vec<u8> = (0..LENGTH as u32).map(|n| (n % 249) as u8).collect();
    let policy = BodyPolicy::Keep { bytes_max: LENGTH };
    for _ in 0..2 {
        load.send_with(1, "POST", &body, 20 * SECOND_NS, policy);
        let completion = load.take(1).remove(0);
        assert!(completion.outcome.expect("an answer").body == body);
    }
    assert_eq!(peer.server.accepted(), 1);
}

#[test]
fn an_idle_tls_connection_closed_by_the_server_is_dropped() {
    let peer = tls_server(&["127.0.0.1"], |stream| {
        read_request(stream);
        stream.write_all(OK).expect("open");
        stream.conn.send_close_notify();
        stream.flush().expect("open");
    });
    let mut load = tls_load(&peer, "127.0.0.1", true, false);
    for _ in 0..3 {
        assert_eq!(load.answer().body, b"ok");
        load.run_until(|client| client.connections() == 0);
    }
}

#[test]
fn a_stalled_handshake_meets_the_connect_timeout() {
    let server = Server::start(|_, mut stream| wait_for_close(&mut stream));
    let target = origin(true, "127.0.0.1", server.address.port());
    // On a busy machine TCP alone may take the whole of a short time.
    let reaches_the_handshake = |connect_timeout_ns: &u64| {
        let config =
            ClientConfig { connect_timeout_ns: *connect_timeout_ns, ..ClientConfig::default() };
        let completion = Load::to(&target, config).get();
        let took_ns = completion.ended_ns - completion.began_ns;
        assert!(took_ns >= *connect_timeout_ns, "{took_ns}");
        assert!(completion.timings.connect_ns + completion.timings.tls_ns <= took_ns);
        let failure = completion.outcome.expect_err("no handshake");
        assert_eq!(failure.kind, FailureKind::Connect, "{failure}");
        completion.timings.tls_ns > 0
    };
    let timeouts_ns = [40, 80, 160, 320, 640, 1_280, 2_560].map(|ms| ms * MILLISECOND_NS);
    assert!(timeouts_ns.iter().any(reaches_the_handshake), "no time is booked as the handshake's");
}

#[test]
fn a_file_without_certificates_is_told_at_the_beginning() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    for path in [file.path(), std::path::Path::new("/no/such/file.pem")] {
        let tls = TlsOptions { ca_file: Some(path.to_owned()), ..TlsOptions::default() };
        let config = ClientConfig { tls, ..ClientConfig::default() };
        let error = sojourn_http::Client::new(config).expect_err("no certificate");
        let named = path.display().to_string();
        assert!(error.to_string().contains(&named), "{error}");
    }
}

/// Set in the child process of the next test: the port of the server.
const SERVER_PORT: &str = "SOJOURN_HTTP_TEST_SERVER_PORT";

#[test]
fn out_of_descriptors() {
    if let Ok(port) = std::env::var(SERVER_PORT) {
        return out_of_descriptors_in_child(port.parse().expect("a port"));
    }
    // The limit is the process's: another one has it, so that neither the server nor the tests
    // beside this one do.
    let server = Server::start(|_, mut stream| wait_for_close(&mut stream));
    let program = std::env::current_exe().expect("this test");
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 32 && exec \"$0\" --exact dialling::out_of_descriptors"])
        .arg(program)
        .env(SERVER_PORT, server.address.port().to_string())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    assert!((1..32).contains(&server.accepted()), "{} connections", server.accepted());
}

fn out_of_descriptors_in_child(port: u16) {
    let mut load = Load::to(&origin(false, "127.0.0.1", port), ClientConfig::default());
    for token in 0..64 {
        load.send_with(token, "GET", b"", 2_000 * MILLISECOND_NS, BodyPolicy::Discard);
    }
    let mut kinds: Vec<FailureKind> = Vec::new();
    for completion in load.take(64) {
        let failure = completion.outcome.expect_err("nobody answers");
        if failure.kind == FailureKind::Local {
            assert!(failure.detail.contains("ulimit -n"), "{failure}");
        }
        kinds.push(failure.kind);
    }
    // Those that got a descriptor wait for an answer until their time is up.
    let waited = kinds.iter().filter(|kind| **kind == FailureKind::Timeout).count();
    let refused = kinds.iter().filter(|kind| **kind == FailureKind::Local).count();
    assert!((1..32).contains(&waited) && waited + refused == 64, "{kinds:?}");
    assert_eq!(load.client.connections(), 0);
}
