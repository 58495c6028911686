//! HTTP/2 against servers that others wrote: the h2 crate's, and nginx.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{ClientConfig, Exchange, FailureKind, Http2, Origin, TlsOptions, write_request};

use crate::frames::config;
use crate::peers::{KEEP, Load};

/// The h2 crate's server on a thread of its own; it ends with the test's process.
pub(crate) fn h2_server(builder: h2::server::Builder) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let tasks = tokio::task::LocalSet::new();
        tasks.block_on(&runtime, async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                let builder = builder.clone();
                tokio::task::spawn_local(async move {
                    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else {
                        return;
                    };
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        tokio::task::spawn_local(answer(request, respond));
                    }
                });
            }
        });
    });
    address
}

/// Echoes method, path and a header in headers and the body in the body, with a trailer.
async fn answer(
    request: http::Request<h2::RecvStream>,
    respond: h2::server::SendResponse<Bytes>,
) -> Option<()> {
    let mut respond = respond;
    let (parts, mut body) = request.into_parts();
    let mut received = Vec::new();
    while let Some(bytes) = body.data().await {
        let bytes = bytes.ok()?;
        body.flow_control().release_capacity(bytes.len()).ok()?;
        received.extend_from_slice(&bytes);
    }
    let early = http::Response::builder().status(103).body(()).ok()?;
    respond.send_informational(early).ok()?;
    let mut response = http::Response::builder()
        .status(if parts.uri.path() == "/missing" { 404 } else { 200 })
        .header("x-method", parts.method.as_str())
        .header("x-path", parts.uri.path())
        .header("x-authority", parts.uri.authority()?.as_str());
    for (name, value) in &parts.headers {
        response = response.header(format!("x-echo-{name}"), value);
    }
    let mut send = respond.send_response(response.body(()).ok()?, false).ok()?;
    let mut rest = Bytes::from(received);
    while !rest.is_empty() {
        send.reserve_capacity(rest.len());
        let capacity = std::future::poll_fn(|context| send.poll_capacity(context)).await?.ok()?;
        send.send_data(rest.split_to(capacity), false).ok()?;
    }
    let mut trailers = http::HeaderMap::new();
    trailers.insert("x-trailer", http::HeaderValue::from_static("t"));
    send.send_trailers(trailers).ok()
}

fn send(
    load: &mut Load,
    token: u64,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) {
    let mut bytes = Vec::new();
    write_request(method, path, "test:1", headers, body, &mut bytes).expect("a valid request");
    let exchange = Exchange {
        token,
        origin: load.origin,
        bytes: &bytes,
        head_only: method == "HEAD",
        timeout_ns: 20 * SECOND_NS,
        body: KEEP,
    };
    load.client.send(now_ns(), exchange);
}

#[test]
fn the_h2_crate_reads_our_requests_and_we_its_answers() {
    let mut builder = h2::server::Builder::new();
    builder.max_concurrent_streams(7);
    let address = h2_server(builder);
    let mut load = Load::with(address, ClientConfig { connections_max: 1, ..config() });
    let body_of = |token: u64| vec![token as u8; token as usize * 3_000];
    for token in 0..40 {
        let number = token.to_string();
        let headers = [("X-Number", number.as_str()), ("Authorization", "secret")];
        let method = if token % 2 == 0 { "POST" } else { "GET" };
        let body = if token % 2 == 0 { body_of(token) } else { Vec::new() };
        send(&mut load, token, method, &format!("/{token}?q"), &headers, &body);
    }
    for completion in load.take(40) {
        let response = completion.outcome.expect("an answer");
        let token = completion.token;
        let header = |name: &str| {
            String::from_utf8(response.header(name).unwrap_or_default().to_vec()).expect("text")
        };
        assert_eq!(response.status, 200);
        assert_eq!(header("x-path"), format!("/{token}"));
        assert_eq!(header("x-authority"), "test:1");
        assert_eq!(header("x-echo-x-number"), token.to_string());
        assert_eq!(header("x-echo-authorization"), "secret");
        let (method, body) =
            if token % 2 == 0 { ("POST", body_of(token)) } else { ("GET", Vec::new()) };
        assert_eq!(header("x-method"), method);
        assert_eq!(
            header("x-echo-content-length"),
            if token % 2 == 0 { body.len().to_string() } else { String::new() }
        );
        assert!(response.body == body, "{} bytes", response.body.len());
    }
    send(&mut load, 1, "GET", "/missing", &[], b"");
    assert_eq!(load.take(1).remove(0).outcome.expect("an answer").status, 404);
    assert_eq!(load.client.counters().connections_opened, 1);
}

#[test]
fn the_h2_crate_with_its_smallest_windows_and_tables() {
    let mut builder = h2::server::Builder::new();
    builder.initial_window_size(100).max_frame_size(16_384).header_table_size(0);
    let mut load = Load::with(h2_server(builder), config());
    // Its head takes more than one frame.
    let long = "v".repeat(40_000);
    for token in 0..20 {
        send(&mut load, token, "PUT", "/", &[("x-long", &long)], &[token as u8; 2_000]);
    }
    for completion in load.take(20) {
        let response = completion.outcome.expect("an answer");
        assert_eq!(response.body, [completion.token as u8; 2_000]);
        assert_eq!(response.header("x-echo-x-long"), Some(long.as_bytes()));
    }
}

/// nginx in a folder of its own, answering over HTTP/2 without and with TLS; stopped when dropped.
struct Nginx {
    process: Child,
    plain: u16,
    secure: u16,
    ca_file: PathBuf,
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// `None` where nginx is not installed; `cargo xtask test` installs it.
    fn start() -> Option<Self> {
        let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]
            .into_iter()
            .find(|program| Path::new(program).exists())?;
        let folder = tempfile::tempdir().expect("a folder");
        let certified =
            rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a valid name");
        let ca_file = folder.path().join("certificate.pem");
        std::fs::write(&ca_file, certified.cert.pem()).expect("room");
        std::fs::write(folder.path().join("key.pem"), certified.signing_key.serialize_pem())
            .expect("room");
        std::fs::write(folder.path().join("large"), vec![b'l'; 3_000_000]).expect("room");
        let ports: Vec<TcpListener> =
            (0..2).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let [plain, secure] =
            [0, 1].map(|place| ports.get(place).expect("two").local_addr().expect("bound").port());
        drop(ports);
        let configuration = folder.path().join("nginx.conf");
        std::fs::write(&configuration, configure(folder.path(), plain, secure)).expect("room");
        let process = Command::new(program)
            .arg("-e")
            .arg(folder.path().join("error.log"))
            .arg("-c")
            .arg(&configuration)
            .stdout(Stdio::null())
            .spawn()
            .expect("nginx runs");
        let nginx = Self { process, plain, secure, ca_file, _folder: folder };
        let limit_ns = now_ns() + 20 * SECOND_NS;
        while TcpStream::connect(("127.0.0.1", nginx.secure)).is_err() {
            assert!(now_ns() < limit_ns, "nginx does not listen");
            sojourn_clock::sleep_until(now_ns() + 10 * MILLISECOND_NS);
        }
        Some(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn configure(folder: &Path, plain: u16, secure: u16) -> String {
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {folder}/{name};\n"))
        .concat();
    format!(
        r#"daemon off;
master_process off;
pid {folder}/nginx.pid;
events {{ worker_connections 256; }}
http {{
  access_log off;
{temporary}
  keepalive_requests 100;
  gzip on;
  gzip_types text/plain;
  gzip_min_length 10;
  server {{
    listen 127.0.0.1:{plain} http2;
    listen 127.0.0.1:{secure} ssl http2;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    location /hello {{ return 200 "hello, sojourn\n"; }}
    location / {{ root {folder}; default_type text/plain; }}
  }}
}}
"#
    )
}

/// Answers are whole and right although nginx ends each connection after 100 requests.
fn check_nginx(load: &mut Load, count: u64) {
    for token in 0..count {
        let (path, headers): (&str, &[(&str, &str)]) = match token % 50 {
            7 => ("/large", &[]),
            8 => ("/large", &[("Accept-Encoding", "gzip")]),
            9 => ("/missing", &[]),
            _ => ("/hello", &[]),
        };
        send(load, token, if token % 50 == 10 { "HEAD" } else { "GET" }, path, headers, b"");
        if token % 90 == 89 {
            check_completions(load.take(90));
        }
    }
}

fn check_completions(completions: Vec<sojourn_http::Completion>) {
    for completion in completions {
        let token = completion.token;
        match (token % 50, completion.outcome) {
            (7 | 8, outcome) => {
                // More than may be kept.
                let failure = outcome.expect_err("too large");
                assert_eq!(failure.kind, FailureKind::BodyTooLarge, "{failure}");
            }
            (9, outcome) => assert_eq!(outcome.expect("an answer").status, 404),
            (10, outcome) => {
                let response = outcome.expect("an answer");
                assert_eq!(response.header("content-length"), Some(b"15".as_slice()));
                assert_eq!(response.body, b"");
            }
            (_, outcome) => {
                let response = outcome.expect("an answer");
                assert_eq!(response.body, b"hello, sojourn\n", "{token}");
                assert!(response.head.starts_with(b"HTTP/2 200\r\n"));
            }
        }
    }
}

#[test]
fn nginx_with_and_without_tls() {
    let Some(nginx) = Nginx::start() else {
        writeln!(std::io::stderr(), "nginx is not installed: not tested against it").ok();
        return;
    };
    let address = SocketAddr::from(([127, 0, 0, 1], nginx.plain));
    let mut load = Load::with(address, config());
    check_nginx(&mut load, 900);
    let counters = load.client.counters();
    assert!((9..40).contains(&counters.connections_opened), "{counters:?}");
    for http2 in [Http2::Alpn, Http2::PriorKnowledge] {
        let origin = Origin { tls: true, host: "localhost".to_owned(), port: nginx.secure };
        let ca_file = Some(nginx.ca_file.clone());
        let tls = TlsOptions { ca_file, ..TlsOptions::default() };
        let mut load = Load::to(&origin, ClientConfig { http2, tls, ..config() });
        check_nginx(&mut load, 450);
        let counters = load.client.counters();
        assert!((5..20).contains(&counters.connections_opened), "{http2:?}: {counters:?}");
    }
}
