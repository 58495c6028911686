//! The test target: endpoints that a load tool's own tests and examples need.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use sojourn_pace::random_u64;

use crate::book::answer::Answer;
use crate::book::fault::Fault;
use crate::book::pattern::Pattern;
use crate::book::values::{cookie, query};
use crate::book::{Book, Route, stream};
use crate::desk::Office;
use crate::enrolment::subject;
use crate::latency::{Latency, below};
use crate::message::{Body, Message};
use crate::server::Request;

/// A block of noise, of which bodies of any size are made.
const NOISE_BYTES: usize = 64 * 1024;
/// A body longer than this is not echoed.
const ECHOED_MAX: usize = 10_000;
/// Letters of a token.
const TOKEN_LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const TOKEN_LENGTH: u64 = 12;
const COOKIE_NAME: &str = "sessionid";

/// What an endpoint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// The certificate of the mock's authority.
    AuthorityCertificates,
    /// So many bytes of noise.
    Bytes,
    /// Tells a cookie's value.
    CookieGet,
    /// Sets a cookie.
    CookieSet,
    /// A file of ours.
    Data(&'static DataFile),
    /// Reads the request and closes.
    DoNotRespond,
    /// The request as text.
    Echo,
    /// A new certificate.
    Enrol,
    /// A token that never changes.
    Login,
    /// Products, unless anything is asked for.
    Search,
    /// A new token each time.
    Token,
    /// What is known of the TLS session.
    X509,
}

/// A file that is served.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DataFile {
    path: &'static str,
    status: u16,
    content_type: &'static str,
    text: &'static str,
}

const JSON: &str = "application/json";
const SEARCH: &str = include_str!("target/search.json");

static DATA: [DataFile; 8] = [
    file("/data/test.json", 200, JSON, include_str!("target/test.json")),
    file("/data/test_array.json", 200, JSON, include_str!("target/test_array.json")),
    file("/data/test.xml", 200, "application/xml", include_str!("target/test.xml")),
    file("/data/test.html", 200, "text/html; charset=utf-8", include_str!("target/test.html")),
    file("/data/register.json", 200, JSON, include_str!("target/register.json")),
    file("/data/token.json", 200, JSON, include_str!("target/register.json")),
    file("/data/search.json", 200, JSON, SEARCH),
    file("/data/error_bad_request.json", 200, JSON, "{\"error\":\"bad request\"}\n"),
];

const fn file(
    path: &'static str,
    status: u16,
    content_type: &'static str,
    text: &'static str,
) -> DataFile {
    DataFile { path, status, content_type, text }
}

/// The test target as a book: its endpoints, and an echo for everything else.
pub fn test_target(seed: u64) -> Book {
    let slow = Latency::Uniform { low_ns: 250e6, high_ns: 350e6 };
    let mut routes = Vec::new();
    let mut add = |path: &str, answers: Vec<(Answer, f64)>| {
        let (method, path) = match path.split_once(' ') {
            Some((method, path)) => (Some(method.to_owned()), path),
            None => (None, path),
        };
        // Every path here is written as patterns are.
        let pattern = Pattern::read(path).unwrap_or_else(|_| Pattern::any());
        let first = Answer::endpoint(Endpoint::Echo);
        let name = path.to_owned();
        routes.push(Route { name, method, pattern, answers, ..Route::catch_all(first) });
    };
    for path in ["/demo/register", "/demo/login"] {
        // One call in twenty is slow.
        let quick = Answer::endpoint(Endpoint::Login);
        let late = Answer { latency: Some(slow.clone()), ..quick.clone() };
        add(path, vec![(quick, 0.95), (late, 0.05)]);
    }
    for (path, endpoint) in [
        ("/demo/search", Endpoint::Search),
        ("/cookie/set", Endpoint::CookieSet),
        ("/cookie/get", Endpoint::CookieGet),
        ("/random/get_token", Endpoint::Token),
        ("/respond-with/bytes", Endpoint::Bytes),
        ("/do-not-respond", Endpoint::DoNotRespond),
        ("/x509/inspect", Endpoint::X509),
        ("GET /.well-known/est/cacerts", Endpoint::AuthorityCertificates),
        ("POST /.well-known/est/simpleenroll", Endpoint::Enrol),
        ("POST /.well-known/est/simplereenroll", Endpoint::Enrol),
    ] {
        add(path, vec![(Answer::endpoint(endpoint), 1.0)]);
    }
    let body = b"{\"error\":\"nobody is stopped over HTTP: send SIGTERM\"}\n";
    add("/cmd/shutdown", vec![(Answer::ready(Message::text(403, JSON, body)), 1.0)]);
    for file in &DATA {
        add(file.path, vec![(Answer::endpoint(Endpoint::Data(file)), 1.0)]);
    }
    add("*", vec![(Answer::endpoint(Endpoint::Echo), 1.0)]);
    let mut book = Book::new(seed, routes);
    book.query_overrides = true;
    book
}

/// Bytes that no compression shortens, the same in every run.
pub(crate) fn block_of_noise() -> Arc<[u8]> {
    let words = (0..NOISE_BYTES as u64 / 8).map(|k| random_u64(0, stream(b"noise   ", 0), k));
    words.flat_map(u64::to_le_bytes).collect()
}

impl Endpoint {
    pub(crate) fn needs_body(self) -> bool {
        matches!(self, Self::CookieSet | Self::Echo | Self::Enrol)
    }

    /// The answer to the k-th request, or how there is none.
    pub(crate) fn answer(
        self,
        request: &Request<'_>,
        office: &Office,
        seed: u64,
        k: u64,
    ) -> Result<Message, Fault> {
        let parameter = |name| query(request.query(), name);
        let text = |status, text: &str| plain(request, status, "text/plain; charset=utf-8", text);
        Ok(match self {
            Self::AuthorityCertificates => office.authority.certificates(),
            Self::Bytes => {
                let size = parameter("size").map_or(Ok(0), |size| size.parse::<u32>());
                match size {
                    Ok(size) => {
                        let headers = [("content-type", b"application/octet-stream".as_slice())];
                        let body =
                            Body::Repeated { block: office.noise.clone(), length: size.into() };
                        Message::new(200, headers, body)
                    }
                    Err(_) => text(400, "size: write a number of bytes below 4294967296\n"),
                }
            }
            Self::CookieGet => {
                let name = parameter("cookie").unwrap_or(Cow::Borrowed(COOKIE_NAME));
                match cookie(request, &name) {
                    Some(value) => text(200, value),
                    None => text(403, "cookie required\n"),
                }
            }
            Self::CookieSet => set_cookie(request, seed, k),
            Self::Data(file) => plain(request, file.status, file.content_type, file.text),
            Self::DoNotRespond => return Err(Fault::Close),
            Self::Echo => echo(request),
            Self::Enrol => office.authority.enrol(request.body),
            Self::Login => plain(request, 200, JSON, include_str!("target/register.json")),
            Self::Search if asks_for_something(request) => {
                plain(request, 400, JSON, "{\"error\":\"bad request\"}\n")
            }
            Self::Search => plain(request, 200, JSON, SEARCH),
            Self::Token => {
                let letters = (0..TOKEN_LENGTH).map(|at| {
                    let place = below(36, seed, stream(b"token   ", 0), k * TOKEN_LENGTH + at);
                    char::from(TOKEN_LETTERS[place as usize])
                });
                let token: String = letters.collect();
                plain(request, 200, JSON, &format!("{{\"token\":\"{token}\"}}\n"))
            }
            Self::X509 => x509(request),
        })
    }
}

/// Whether a query holds more than wishes about the answer's form.
fn asks_for_something(request: &Request<'_>) -> bool {
    let wishes = ["delay", "status", "size", "close", "read-body"];
    let mut names = url::form_urlencoded::parse(request.query().as_bytes());
    names.any(|(name, _)| !wishes.contains(&&*name))
}

/// A random number of seven digits, each digit as likely as any other, the first not 0.
fn set_cookie(request: &Request<'_>, seed: u64, k: u64) -> Message {
    let in_form = || {
        let mut pairs = url::form_urlencoded::parse(request.body);
        pairs.find(|(name, _)| name == "cookie").map(|(_, value)| value)
    };
    let name = query(request.query(), "cookie").or_else(in_form);
    let name = name.unwrap_or(Cow::Borrowed(COOKIE_NAME));
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return plain(request, 400, "text/plain", "cookie: not a name for a cookie\n");
    }
    let value = 1_000_000 + below(9_000_000, seed, stream(b"cookie  ", 0), k);
    let cookie = format!("{name}={value}; Path=/");
    let headers = [("content-type", b"text/plain".as_slice()), ("set-cookie", cookie.as_bytes())];
    Message::new(200, headers, Body::Bytes(format!("{value}\n").into_bytes().into()))
}

fn echo(request: &Request<'_>) -> Message {
    let parameter = |name| query(request.query(), name);
    let version = match request.version {
        10 => "1.0",
        20 => "2.0",
        _ => "1.1",
    };
    let mut text = format!("{} {} HTTP/{version}\r\n", request.method, request.path);
    for header in request.headers {
        let value = String::from_utf8_lossy(header.value);
        // Writing to a string does not fail.
        let _written = write!(text, "{}: {value}\r\n", header.name);
    }
    text.push_str("\r\n");
    let mut body = text.into_bytes();
    if request.body.len() <= ECHOED_MAX {
        body.extend_from_slice(request.body);
    }
    let location = parameter("location");
    let mut headers = vec![("content-type", b"text/plain; charset=utf-8".as_slice())];
    if let Some(location) = &location {
        headers.push(("location", location.as_bytes()));
    }
    Message::new(200, headers, Body::Bytes(body.into()))
}

fn x509(request: &Request<'_>) -> Message {
    let Some(tls) = request.tls else {
        return plain(request, 400, JSON, "{\"error\":\"not a TLS connection\"}\n");
    };
    let certificate = tls.client_certificate.as_ref();
    let encode = |der: &Vec<u8>| base64::engine::general_purpose::STANDARD.encode(der);
    let told = serde_json::json!({
        "server_name": tls.server_name,
        "tls_version": tls.version,
        "status": if certificate.is_some() { "client_cert" } else { "no_cert" },
        "subject": certificate.and_then(|der| subject(der)),
        "certificate": certificate.map(encode),
    });
    plain(request, 200, JSON, &format!("{told}\n"))
}

/// A text, compressed where the client asks for it.
fn plain(request: &Request<'_>, status: u16, content_type: &str, text: &str) -> Message {
    let accepted = request.header("accept-encoding").unwrap_or_default().to_ascii_lowercase();
    let accepts = |coding: &[u8]| accepted.windows(coding.len()).any(|part| part == coding);
    let bytes = text.as_bytes();
    let coded = if accepts(b"gzip") {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).ok().map(|it| (it, "gzip"))
    } else if accepts(b"deflate") {
        // `deflate` means the zlib format (RFC 9110, section 8.4.1.2).
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).ok().map(|it| (it, "deflate"))
    } else {
        None
    };
    let (body, coding) = match coded {
        Some((body, coding)) => (body, Some(coding)),
        None => (bytes.to_vec(), None),
    };
    let mut headers = vec![("content-type", content_type.as_bytes())];
    headers.extend(coding.map(|coding| ("content-encoding", coding.as_bytes())));
    Message::new(status, headers, Body::Bytes(body.into()))
}
