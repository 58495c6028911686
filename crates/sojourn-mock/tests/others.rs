//! TLS and HTTP/2, by clients that are not ours.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_mock::{Mock, TlsIdentity, test_target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Client, book, mock, options, until};

type Answer = Result<Response<Bytes>, hyper::Error>;

/// Runs a test's asynchronous part, which must end within a minute.
fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), future).await.expect("a minute has passed")
    })
}

fn request(path: &str, body: &str) -> Request<Full<Bytes>> {
    Request::builder()
        .method("POST")
        .uri(format!("http://mock.test{path}"))
        .header("x-a", "b")
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .unwrap()
}

async fn whole(answer: Result<Response<hyper::body::Incoming>, hyper::Error>) -> Answer {
    let (head, body) = answer?.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}

/// An HTTP/2 client without TLS.
async fn h2c(address: SocketAddr) -> hyper::client::conn::http2::SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let io = TokioIo::new(stream);
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// A mock with TLS, and a client's settings that trust it.
fn tls_mock(alpn: &[u8]) -> (Mock, tokio_rustls::TlsConnector) {
    let identity = TlsIdentity::self_signed(&["mock.test".to_owned()]).unwrap();
    let connector = trusting(&identity, alpn);
    let mut options = options();
    options.tls = Some(Arc::new(identity));
    (Mock::start(test_target(1), &options).unwrap(), connector)
}

fn trusting(identity: &TlsIdentity, alpn: &[u8]) -> tokio_rustls::TlsConnector {
    let mut config = trusting_builder(identity).with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    Arc::new(config).into()
}

fn trusting_builder(
    identity: &TlsIdentity,
) -> rustls::ConfigBuilder<rustls::ClientConfig, rustls::client::WantsClientCert> {
    let certificate =
        CertificateDer::from_pem_slice(identity.certificate_pem().unwrap().as_bytes()).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
}

#[test]
fn http2_without_tls_by_the_same_book() {
    let mock = mock(
        "
routes:
  - { route: 'POST /pay/{id}', status: 201, latency: 30ms,
      json: { id: '{{ path.id }}', a: '{{ header.x-a }}', got: '{{ body }}' } }
  - { route: /big, size: 3MB }
",
    );
    run(async {
        let mut client = h2c(mock.address()).await;
        let begin_ns = now_ns();
        let answer = whole(client.send_request(request("/pay/7", "hi")).await).await.unwrap();
        assert!(now_ns() - begin_ns >= 30 * MILLISECOND_NS, "early");
        assert_eq!((answer.status().as_u16(), answer.version()), (201, Version::HTTP_2));
        assert_eq!(answer.body().as_ref(), br#"{"id":"7","a":"b","got":"hi"}"#);
        assert!(
            answer.headers()["server-timing"]
                .to_str()
                .unwrap()
                .starts_with("hold;dur=30, real;dur=")
        );
        let answer = whole(client.send_request(request("/big", "")).await).await.unwrap();
        assert_eq!(answer.body().len(), 3_000_000);
        // A hundred at once on one connection, each held for itself.
        let begin_ns = now_ns();
        let many: Vec<_> = (0..100)
            .map(|number| {
                let mut client = client.clone();
                tokio::spawn(async move {
                    whole(client.send_request(request(&format!("/pay/{number}"), "")).await).await
                })
            })
            .collect();
        for one in many {
            assert_eq!(one.await.unwrap().unwrap().status().as_u16(), 201);
        }
        let one_after_the_other_ns = 100 * 30 * MILLISECOND_NS;
        assert!(now_ns() - begin_ns < one_after_the_other_ns, "held one after the other");
    });
    let figures = mock.meter().figures();
    assert_eq!(
        (figures.requests, figures.answered, figures.held, figures.accepted),
        (102, 102, 0, 1)
    );
    assert_eq!(
        Client::connect(mock.address()).get("/big").body.len(),
        3_000_000,
        "HTTP/1.1 beside it"
    );
}

#[test]
fn faults_reset_streams_and_not_their_neighbours() {
    let mock = mock(
        "
routes:
  - { route: /close, faults: { close: 100% } }
  - { route: /reset, faults: { reset: 100% } }
  - { route: /malformed, faults: { malformed: 100% } }
  - { route: /truncate, faults: { truncate: 100% }, body: 0123456789 }
  - { route: /silence, faults: { silence: 100% } }
  - { route: /dribble, faults: { dribble: 100%, dribble_over: 100ms }, body: 0123456789 }
  - { route: /good, body: good }
",
    );
    run(async {
        let mut client = h2c(mock.address()).await;
        for path in ["/close", "/reset", "/malformed", "/truncate"] {
            let answer = whole(client.send_request(request(path, "")).await).await;
            assert!(answer.is_err(), "{path}: {answer:?}");
        }
        // The half of a body arrives before the end does.
        let mut answer = client.send_request(request("/truncate", "")).await.unwrap();
        assert_eq!(answer.headers()["content-length"], "10");
        let half = answer.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(half.as_ref(), b"01234");
        assert!(answer.frame().await.unwrap().is_err());
        let silence = client.send_request(request("/silence", ""));
        assert!(tokio::time::timeout(Duration::from_millis(50), silence).await.is_err());
        let begin_ns = now_ns();
        let answer = whole(client.send_request(request("/dribble", "")).await).await.unwrap();
        assert_eq!(answer.body().as_ref(), b"0123456789");
        assert!(now_ns() - begin_ns >= 100 * MILLISECOND_NS, "early");
        let answer = whole(client.send_request(request("/good", "")).await).await.unwrap();
        assert_eq!(answer.body().as_ref(), b"good");
    });
    until("who waited for nothing has left", || mock.meter().figures().abandoned == 1);
}

#[test]
fn head_has_the_length_but_no_body() {
    let mock = mock("routes: [{ route: '*', body: 0123456789, faults: { dribble: 50% } }]");
    run(async {
        let mut client = h2c(mock.address()).await;
        for _ in 0..10 {
            let mut head = request("/", "");
            *head.method_mut() = hyper::Method::HEAD;
            let answer = whole(client.send_request(head).await).await.unwrap();
            assert_eq!((answer.status().as_u16(), answer.body().len()), (200, 0));
            assert_eq!(answer.headers()["content-length"], "10");
        }
    });
}

/// Half a body over TLS, by HTTP/1.1.
#[test]
fn a_body_that_is_cut_short_has_its_first_half() {
    let identity = TlsIdentity::self_signed(&["mock.test".to_owned()]).unwrap();
    let connector = trusting(&identity, b"http/1.1");
    let mut options = options();
    options.tls = Some(Arc::new(identity));
    let text = "routes: [{ route: '*', body: 0123456789, faults: { truncate: 100% } }]";
    let mock = Mock::start(book(text), &options).unwrap();
    run(async {
        let stream = TcpStream::connect(mock.address()).await.unwrap();
        let name = ServerName::try_from("mock.test").unwrap();
        let mut stream = connector.connect(name, stream).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: mock.test\r\n\r\n").await.unwrap();
        let mut bytes = Vec::new();
        // It ends without a farewell, which is an error.
        let _end = stream.read_to_end(&mut bytes).await;
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains("content-length: 10\r\n") && text.ends_with("\r\n\r\n01234"),
            "{text}"
        );
    });
}

#[test]
fn a_drain_does_not_wait_for_answers_that_never_come() {
    let mock = mock("routes: [{ route: '*', faults: { silence: 100% } }]");
    run(async {
        let mut client = h2c(mock.address()).await;
        let silent =
            tokio::spawn(async move { whole(client.send_request(request("/", "")).await).await });
        while mock.meter().figures().held == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        mock.drain();
        assert!(silent.await.unwrap().is_err());
    });
    until("it has ended", || mock.has_ended());
}

#[test]
fn tls_with_http2_and_with_http11() {
    for (alpn, version) in [(&b"h2"[..], Version::HTTP_2), (b"http/1.1", Version::HTTP_11)] {
        let (mock, connector) = tls_mock(alpn);
        run(async {
            let stream = TcpStream::connect(mock.address()).await.unwrap();
            let name = ServerName::try_from("mock.test").unwrap();
            let io = TokioIo::new(connector.connect(name, stream).await.unwrap());
            let (x509, echo) = (request("/x509/inspect", ""), request("/echo?delay=5", "hello"));
            let answers = if version == Version::HTTP_2 {
                let (mut sender, connection) =
                    hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
                tokio::spawn(connection);
                [
                    whole(sender.send_request(x509).await).await,
                    whole(sender.send_request(echo).await).await,
                ]
            } else {
                let (mut sender, connection) =
                    hyper::client::conn::http1::handshake(io).await.unwrap();
                tokio::spawn(connection);
                [
                    whole(sender.send_request(x509).await).await,
                    whole(sender.send_request(echo).await).await,
                ]
            };
            let [x509, echo] = answers.map(Result::unwrap);
            assert_eq!(x509.version(), version);
            let told: serde_json::Value = serde_json::from_slice(x509.body()).unwrap();
            assert_eq!(told["server_name"], "mock.test");
            assert_eq!(told["status"], "no_cert");
            assert_eq!(told["tls_version"], "TLSv1.3");
            let text = String::from_utf8(echo.body().to_vec()).unwrap();
            assert!(text.ends_with("\r\n\r\nhello") && text.contains("x-a: b\r\n"), "{text}");
            assert!(echo.headers()["server-timing"].to_str().unwrap().starts_with("hold;dur=5, "));
        });
    }
}

#[test]
fn a_clients_certificate_is_told_of() {
    let identity = TlsIdentity::self_signed(&["mock.test".to_owned()]).unwrap();
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::CommonName, "device 7");
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let config = trusting_builder(&identity)
        .with_client_auth_cert(
            vec![certificate.der().clone()],
            rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let mut options = options();
    options.tls = Some(Arc::new(identity));
    let mock = Mock::start(test_target(1), &options).unwrap();
    let answer = run(async {
        let stream = TcpStream::connect(mock.address()).await.unwrap();
        let name = ServerName::try_from("mock.test").unwrap();
        let io = TokioIo::new(connector.connect(name, stream).await.unwrap());
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        whole(sender.send_request(request("/x509/inspect", "")).await).await.unwrap()
    });
    let told: serde_json::Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(told["status"], "client_cert");
    let encoded = told["certificate"].as_str().unwrap();
    assert_eq!(STANDARD.decode(encoded).unwrap(), certificate.der().to_vec());
    let subject = cfg!(feature = "est").then_some("CN=device 7");
    assert_eq!(told["subject"], serde_json::json!(subject));
}

#[test]
fn a_client_that_does_not_trust_it_and_one_that_speaks_nonsense() {
    let (mock, _connector) = tls_mock(b"h2");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let distrustful = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(distrustful));
    run(async {
        let stream = TcpStream::connect(mock.address()).await.unwrap();
        let name = ServerName::try_from("mock.test").unwrap();
        assert!(connector.connect(name, stream).await.is_err());
    });
    let mut client = Client::connect(mock.address());
    std::io::Write::write_all(&mut client.stream, b"\x16\x03\x01\x00\x05hello").unwrap();
    let (_alert, _end) = client.rest();
    until("both are counted", || mock.meter().figures().requests_bad == 2);
    assert_eq!(Client::connect(mock.address()).get("/").status, 200);
}

#[test]
fn without_an_identity_tls_is_told_that_this_is_http() {
    let mock = mock("routes: [{ route: '*' }]");
    let mut client = Client::connect(mock.address());
    std::io::Write::write_all(&mut client.stream, b"\x16\x03\x01\x00\x05hello\r\n\r\n").unwrap();
    assert_eq!(client.answer().unwrap().status, 400);
}

#[test]
fn a_drain_answers_what_http2_holds() {
    let book = book("routes: [{ route: '*', latency: 300ms, body: held }]");
    let mock = Mock::start(book, &options()).unwrap();
    run(async {
        let mut client = h2c(mock.address()).await;
        let held =
            tokio::spawn(async move { whole(client.send_request(request("/", "")).await).await });
        while mock.meter().figures().held == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        mock.drain();
        assert_eq!(held.await.unwrap().unwrap().body().as_ref(), b"held");
    });
    until("it has ended", || mock.has_ended());
}
