//! Where connections go and come from: sockets, replacements, own addresses, how many.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::Ipv4Addr,
    os::unix::net::{UnixListener, UnixStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use super::{answered, refused, seen::Server, text};
use crate::attack::{attack, echo};

/// Answers each request on a Unix socket with its head.
fn echo_on_a_socket(mut stream: UnixStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte)? == 1 {
        request.push(byte[0]);
        if request.ends_with(b"\r\n\r\n") {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", request.len());
            stream.write_all(&[head.as_bytes(), &request].concat())?;
            request.clear();
        }
    }
    Ok(())
}

#[test]
fn a_unix_socket_takes_every_request_whatever_its_host() {
    let folder = sojourn_testkit::temp_dir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || echo_on_a_socket(stream));
        }
    });
    let path = path.display().to_string();
    for hit in answered(&["-unix-socket", &path, "http://nowhere.example/a?b"]) {
        let echoed = text(&hit);
        assert!(echoed.starts_with("GET /a?b HTTP/1.1\r\n"), "{echoed}");
        assert!(echoed.contains("Host: nowhere.example\r\n"), "{echoed}");
    }
    assert!(connections.load(Ordering::SeqCst) >= 1);
    let gone = format!("{path}.gone");
    for error in refused(&["-unix-socket", &gone, "http://nowhere.example/"]) {
        let why = format!("dial unix {gone}: connect: no such file or directory");
        assert_eq!(error, format!("Get \"http://nowhere.example/\": {why}"));
    }
}

#[test]
fn connect_to_dials_elsewhere_in_turn_and_changes_nothing_else() {
    let servers = [Server::start(), Server::start()];
    let [one, other] =
        servers.each_ref().map(|it| format!("target.example:80:127.0.0.1:{}", it.port()));
    let words = ["-connect-to", &one, "-connect-to", &other, "-keepalive=false"];
    for hit in answered(&[&words[..], &["http://target.example/x"]].concat()) {
        assert!(text(&hit).contains("Host: target.example\r\n"), "{hit:?}");
    }
    assert_eq!(servers.each_ref().map(|server| server.take().len()), [5, 5]);
    // Errors name what was dialled, not what was asked for.
    let port = sojourn_testkit::closed_port().unwrap();
    let to = format!("target.example:80:localhost:{port}");
    for error in refused(&["-connect-to", &to, "http://target.example/x"]) {
        let ends = ["127.0.0.1", "[::1]"]
            .map(|host| format!("dial tcp {host}:{port}: connect: connection refused"));
        assert!(ends.iter().any(|end| error.ends_with(end)), "{error}");
        assert!(error.starts_with("Get \"http://target.example/x\": dial"), "{error}");
    }
    // HTTP/2 goes there too.
    let mock = crate::mock::Mocked::start(&[], &[]);
    let to = format!("target.example:80:{}", mock.address);
    answered(&["-h2c", "-connect-to", &to, "http://target.example/"]);
}

#[test]
fn connections_come_from_the_addresses_that_were_given() {
    let server = Server::start();
    let url = format!("http://127.0.0.1:{}/", server.port());
    answered(&["-laddr", "127.0.0.7", &url]);
    let from = |server: &Server| -> Vec<String> {
        server.take().iter().map(|seen| seen.from.ip().to_string()).collect()
    };
    assert_eq!(from(&server), vec!["127.0.0.7"; 10]);
    answered(&["-laddr", "127.0.0.7,127.0.0.8", "-keepalive=false", &url]);
    let both = from(&server);
    for address in ["127.0.0.7", "127.0.0.8"] {
        assert_eq!(both.iter().filter(|it| *it == address).count(), 5, "{both:?}");
    }
    answered(&[&url]);
    assert_eq!(from(&server), vec![Ipv4Addr::LOCALHOST.to_string(); 10]);
}

/// Requests that overlap: 100 in half a second, each held for 50 ms.
#[test]
fn there_are_no_more_connections_than_allowed_and_requests_wait_for_one() {
    let of = |more: &[&str]| {
        let ports: Arc<std::sync::Mutex<BTreeSet<u16>>> = Arc::default();
        let log = Arc::clone(&ports);
        let address = echo::serve(move |request, stream| {
            log.lock().unwrap().insert(stream.peer_addr()?.port());
            thread::sleep(Duration::from_millis(50));
            echo::echo(request, stream)
        });
        let url = format!("http://{address}/");
        let words = ["-rate", "200", "-duration", "500ms", &url];
        let hits = attack(&[&words[..], more].concat(), "").hits();
        assert_eq!(hits.len(), 100);
        assert!(hits.iter().all(|hit| hit.code == 200), "{hits:?}");
        let slowest_ns = hits.iter().map(|hit| hit.latency_ns).max().unwrap();
        let count = ports.lock().unwrap().len();
        (count, slowest_ns)
    };
    let (unbounded, _) = of(&[]);
    assert!(unbounded > 3, "{unbounded} connections");
    let (bounded, slowest_ns) = of(&["-max-connections", "3", "-threads", "2"]);
    assert_eq!(bounded, 3);
    // Three connections carry 60 a second: the last waits for more than a second, and says so.
    assert!(slowest_ns > 1_000_000_000, "{slowest_ns} ns");
}
