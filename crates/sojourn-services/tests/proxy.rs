//! The proxy between a client and an echo that the test holds in its hand.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use sojourn_services::CutProxy;

/// A server that a test accepts connections for itself.
struct Peer(TcpListener);

impl Peer {
    fn new() -> (Self, CutProxy) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy = CutProxy::start(listener.local_addr().unwrap()).unwrap();
        (Self(listener), proxy)
    }

    /// A connection through the proxy: the client's end and the server's.
    fn pair(&self, proxy: &CutProxy) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(proxy.address()).unwrap();
        let (server, _) = self.0.accept().unwrap();
        for side in [&client, &server] {
            side.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        }
        (client, server)
    }
}

fn say(from: &mut TcpStream, to: &mut TcpStream, words: &[u8]) {
    from.write_all(words).unwrap();
    let mut heard = vec![0; words.len()];
    to.read_exact(&mut heard).unwrap();
    assert_eq!(heard, words);
}

/// Whether nothing comes: any time is too short to be sure, none can make it fail wrongly.
fn is_silent(side: &mut TcpStream) -> bool {
    side.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let outcome = side.read(&mut [0]);
    side.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    matches!(outcome, Err(error) if error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn bytes_and_ends_are_handed_on_both_ways() {
    let (peer, proxy) = Peer::new();
    let (mut client, mut server) = peer.pair(&proxy);
    say(&mut client, &mut server, b"hello");
    say(&mut server, &mut client, b"good day");
    let much: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            client.write_all(&much).unwrap();
            client.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut heard = Vec::new();
        server.read_to_end(&mut heard).unwrap();
        assert!(heard == much);
    });
    // Only one half has ended.
    say(&mut server, &mut client, b"still here");
    drop(server);
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    let figures = proxy.figures();
    assert_eq!((figures.to_server_bytes, figures.to_client_bytes), (1_000_005, 18));
}

#[test]
fn a_cut_resets_both_sides_of_all_connections() {
    let (peer, proxy) = Peer::new();
    let mut pairs = [peer.pair(&proxy), peer.pair(&proxy)];
    for (client, server) in &mut pairs {
        say(client, server, b"x");
    }
    assert_eq!(proxy.cut(), 2);
    assert_eq!(proxy.figures().connections, 0);
    for (client, server) in &mut pairs {
        for side in [client, server] {
            assert_eq!(side.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        }
    }
    let (mut client, mut server) = peer.pair(&proxy);
    say(&mut client, &mut server, b"again");
}

#[test]
fn refused_are_new_connections_only() {
    let (peer, proxy) = Peer::new();
    let (mut client, mut server) = peer.pair(&proxy);
    for _ in 0..3 {
        proxy.refuse();
        let error = TcpStream::connect(proxy.address()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        say(&mut client, &mut server, b"old ones stay");
        proxy.admit().unwrap();
        let (mut new, mut end) = peer.pair(&proxy);
        say(&mut new, &mut end, b"new");
    }
}

#[test]
fn a_stall_keeps_what_comes_and_hands_it_on_later() {
    let (peer, proxy) = Peer::new();
    let (mut client, mut server) = peer.pair(&proxy);
    say(&mut client, &mut server, b"before");
    proxy.stall();
    client.write_all(b"during").unwrap();
    assert!(is_silent(&mut server));
    // New connections are accepted, and as silent.
    let (mut new, mut end) = peer.pair(&proxy);
    new.write_all(b"new").unwrap();
    assert!(is_silent(&mut end));
    proxy.resume();
    let mut heard = [0; 6];
    server.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"during");
    // A cut ends a stalled connection too.
    proxy.stall();
    assert_eq!(proxy.cut(), 2);
}

#[test]
fn a_throttle_holds_back_and_loses_nothing() {
    let (peer, proxy) = Peer::new();
    let (mut client, mut server) = peer.pair(&proxy);
    proxy.throttle(Some(100_000));
    let begin_ns = sojourn_clock::now_ns();
    say(&mut client, &mut server, &[7; 50_000]);
    // It can take longer, never shorter: half a second less the tenth that may be saved up.
    assert!(sojourn_clock::now_ns() - begin_ns >= 390_000_000);
    proxy.throttle(None);
    say(&mut client, &mut server, &[8; 50_000]);
}

#[test]
fn without_a_server_clients_are_reset_and_counted() {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, sojourn_services::free_port().unwrap()));
    let proxy = CutProxy::start(address).unwrap();
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    // It closes before it counts.
    while proxy.figures().turned_away == 0 {
        std::thread::yield_now();
    }
    let port = proxy.port();
    drop(proxy);
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
}
