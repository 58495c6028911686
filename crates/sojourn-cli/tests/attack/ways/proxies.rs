//! Proxies by the environment's variables, as the proxy sees it.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use super::{answered_with, seen::Server, text, tls_server::Authority};
use crate::attack::echo;

/// A proxy that leads every tunnel to one place, and remembers what was asked for.
struct Tunnels {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Tunnels {
    fn to(there: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                // An end that closes ends the tunnel.
                thread::spawn(move || tunnel(client, there, &log));
            }
        });
        Self { address, asked }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn tunnel(
    mut client: TcpStream,
    there: SocketAddr,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    log.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
    let mut server = TcpStream::connect(there)?;
    client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ended = std::io::copy(&mut from_client, &mut to_server);
        to_server.shutdown(std::net::Shutdown::Write)
    });
    std::io::copy(&mut server, &mut client)?;
    client.shutdown(std::net::Shutdown::Both)
}

#[test]
fn plain_requests_go_to_the_proxy_with_their_whole_address() {
    let proxy = echo::serve(echo::echo);
    let proxy = format!("http://user:secret@{proxy}");
    for variable in ["HTTP_PROXY", "http_proxy"] {
        for hit in answered_with(&[(variable, &proxy)], &["http://target.example/a"]) {
            let echoed = text(&hit);
            assert!(echoed.starts_with("GET http://target.example/a HTTP/1.1\r\n"), "{echoed}");
            assert!(echoed.contains("Host: target.example\r\n"), "{echoed}");
            assert!(echoed.contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"), "{echoed}");
        }
    }
}

#[test]
fn hosts_without_a_proxy_are_reached_directly() {
    let (proxy, server) = (echo::serve(echo::echo), Server::start());
    let proxy = format!("http://{proxy}");
    let to = format!("target.example:80:127.0.0.1:{}", server.port());
    let url = "http://target.example/a";
    let environment = [("HTTP_PROXY", proxy.as_str()), ("NO_PROXY", "other.example,.example")];
    for hit in answered_with(&environment, &["-connect-to", &to, url]) {
        assert!(text(&hit).starts_with("GET /a HTTP/1.1\r\n"), "{hit:?}");
    }
    assert_eq!(server.take().len(), 10);
    let environment = [("HTTP_PROXY", proxy.as_str()), ("NO_PROXY", "other.example")];
    answered_with(&environment, &["-connect-to", &to, url]);
    assert_eq!(server.take().len(), 0, "the proxy was passed by");
}

#[test]
fn tls_goes_through_a_tunnel_with_the_headers_for_the_proxy() {
    let authority = Authority::new("ours");
    let server = authority.server(false);
    let proxy = Tunnels::to(server.address);
    let url = format!("http://{}", proxy.address);
    let root = authority.root();
    // The name is not on the server's certificate, whose checks are another test's.
    let words = ["-insecure", "-root-certs", &root, "-proxy-header", "X-Pass: through"];
    let words = [&words[..], &["https://target.example/"]].concat();
    answered_with(&[("HTTPS_PROXY", &url)], &words);
    assert!(!server.take().is_empty());
    let asked = proxy.take();
    assert!(!asked.is_empty());
    for head in asked {
        assert!(head.starts_with("CONNECT target.example:443 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("X-Pass: through\r\n"), "{head}");
    }
}
