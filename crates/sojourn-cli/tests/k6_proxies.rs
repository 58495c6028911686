//! HTTP_PROXY, HTTPS_PROXY and NO_PROXY as scripts obey them, against a proxy of this machine.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sojourn_testkit::{Output, StreamServer, sojourn, temp_dir};

use crate::mock::Mocked;

/// A proxy that makes tunnels to this machine, whatever host is asked for, and answers itself what
/// is not to be tunnelled. It keeps the heads of all requests.
struct Proxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let book = Arc::clone(&heads);
        // Both end with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let book = Arc::clone(&book);
                std::thread::spawn(move || serve(stream.unwrap(), &book));
            }
        });
        Self { address, heads }
    }

    /// First lines of requests, in the order of their texts.
    fn asked(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        let first = |head: &String| head.lines().next().unwrap_or_default().to_owned();
        let mut all: Vec<_> = heads.iter().map(first).collect();
        all.sort();
        all
    }
}

fn serve(mut stream: TcpStream, book: &Mutex<Vec<String>>) {
    while let Some(head) = head(&mut stream) {
        book.lock().unwrap().push(head.clone());
        let Some(target) = head.strip_prefix("CONNECT ") else {
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nby the proxy";
            stream.write_all(answer).unwrap();
            continue;
        };
        let (_, port) = target.split(' ').next().unwrap().rsplit_once(':').unwrap();
        let upstream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        let pairs = [
            (stream.try_clone().unwrap(), upstream.try_clone().unwrap()),
            (upstream, stream.try_clone().unwrap()),
        ];
        for (mut from, mut to) in pairs {
            std::thread::spawn(move || {
                // Whoever closes first ends it.
                std::io::copy(&mut from, &mut to).ok();
                to.shutdown(std::net::Shutdown::Write).ok();
            });
        }
        return;
    }
}

/// A request's head, which comes without a body; `None` when the client has closed.
fn head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).ok()
}

fn run(script: &str, variables: &[(&str, &str)], more: &[&str]) -> Output {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    let words = ["k6", "run", "--quiet", "test.js"];
    let mut program = sojourn(words.iter().chain(more)).in_dir(folder.path());
    for (name, value) in variables {
        program = program.env(name, value);
    }
    program.timeout(Duration::from_secs(60)).run().unwrap()
}

const EVERYWHERE: &str = r#"
import http from 'k6/http';
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';
import { check } from 'k6';
export const options = {
  insecureSkipTLSVerify: true,
  // The proxy's own name is looked up here too; the targets' are the proxy's to know.
  hosts: { 'proxy.test': '127.0.0.1', 'near.test': '127.0.0.1', 'far.test': '192.0.2.1' },
  thresholds: { checks: ['rate==1'] },
};
export default function () {
  const { TLS, PLAIN, EVENTS } = __ENV;
  const by = (name, url, test) => check(http.get(url), { [name]: test });
  by('plain', `http://far.test:8080/a?b=c`, (it) => it.body === 'by the proxy' && it.url.includes('far'));
  by('plain again', `http://far.test:8080/again`, (it) => it.body === 'by the proxy');
  by('tls', `https://far.test:${TLS}/`, (it) => it.status === 200 && it.tls_version !== '');
  by('excepted', `http://near.test:${PLAIN}/`, (it) => it.status === 200 && it.body !== 'by the proxy');
  by('this machine', `http://127.0.0.1:${PLAIN}/`, (it) => it.status === 200 && it.body !== 'by the proxy');
  const url = `ws://far.test:${EVENTS}/events`;
  const response = ws.connect(url, (socket) => socket.on('open', () => socket.close()));
  check(response, { ws: (it) => it.status === 101 });
  const socket = new WebSocket(url);
  socket.onopen = () => { check(socket, { websockets: (it) => it.readyState === 1 }); socket.close(); };
  socket.onerror = (event) => check(event, { [`websockets: ${event.error}`]: () => false });
}
"#;

#[test]
fn requests_and_web_sockets_go_by_the_proxies_of_the_environment() {
    let proxy = Proxy::start();
    let tls = Mocked::start(&[], &["--tls"]);
    let plain = Mocked::start(&[], &[]);
    let events = StreamServer::start().unwrap();
    let url = format!("http://me:s%65cret@proxy.test:{}", proxy.address.port());
    let variables =
        [("HTTP_PROXY", &*url), ("https_proxy", &*url), ("NO_PROXY", ".other, near.test")];
    let (secure, other, stream) =
        (tls.address.port(), plain.address.port(), events.address().port());
    let given = [format!("TLS={secure}"), format!("PLAIN={other}"), format!("EVENTS={stream}")];
    let words: Vec<_> = given.iter().flat_map(|pair| ["-e", pair]).collect();
    let output = run(EVERYWHERE, &variables, &words);
    assert_eq!(output.code, Some(0), "{output}");
    let mut expected = vec![
        format!("CONNECT far.test:{secure} HTTP/1.1"),
        format!("CONNECT far.test:{stream} HTTP/1.1"),
        format!("CONNECT far.test:{stream} HTTP/1.1"),
        "GET http://far.test:8080/a?b=c HTTP/1.1".to_owned(),
        "GET http://far.test:8080/again HTTP/1.1".to_owned(),
    ];
    expected.sort();
    assert_eq!(proxy.asked(), expected, "{output}");
    let heads = proxy.heads.lock().unwrap();
    // `me:secret` in Base64.
    let knows_us = |head: &String| head.contains("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n");
    assert!(heads.iter().all(knows_us), "{heads:?}");
}

#[test]
fn several_processes_go_by_the_same_proxies() {
    let proxy = Proxy::start();
    let script = "
        import http from 'k6/http';
        import { check } from 'k6';
        export const options = { vus: 2, iterations: 4, thresholds: { checks: ['rate==1'] } };
        export default function () {
          check(http.get('http://far.test/'), { proxied: (it) => it.body === 'by the proxy' });
        }";
    let url = proxy.address.to_string();
    let output = run(script, &[("http_proxy", &url)], &["--generators", "2"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(proxy.asked(), ["GET http://far.test/ HTTP/1.1"; 4]);
}

#[test]
fn a_proxy_that_can_not_be_used_is_refused_and_its_password_is_not_shown() {
    let script = "export default function () { throw new Error('it has run'); }";
    let output = run(script, &[("HTTPS_PROXY", "https://me:secret@proxy.test")], &[]);
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stderr.contains("HTTPS_PROXY: proxies that are spoken to over TLS"), "{output}");
    assert!(!output.stderr.contains("secret") && !output.stderr.contains("it has run"), "{output}");
}

#[test]
fn a_proxy_that_is_not_there_fails_requests_and_nothing_goes_past_it() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let script = "
        import http from 'k6/http';
        import { check } from 'k6';
        export const options = { thresholds: { checks: ['rate==1'] } };
        export default function () {
          const answer = http.get('http://far.test/');
          check(answer, { 'nobody is there': (it) => it.error_code === 1212 });
        }";
    let output = run(script, &[("HTTP_PROXY", &closed.to_string())], &[]);
    assert_eq!(output.code, Some(0), "{output}");
}
