//! Nothing is allocated per request in steady state: neither by the HTTP client nor by an attack's
//! generator. A binary of its own, since its allocator counts.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod counting;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_engine::{Attack, ResultSink, RunOptions, Stop, Targets};
use sojourn_http::{
    BodyPolicy, Client, ClientConfig, Completion, Exchange, Http2, Io, Origin, OriginId,
    write_request,
};
use sojourn_plan::{AttackLoad, Pace, Target};

/// Requests that are looked at once all is warm.
const REQUESTS: u64 = 10_000;

/// Requests before that: each buffer has grown to what it needs.
const WARM_UP: u64 = 2_000;

/// Requests under way at once.
const DEPTH: u64 = 16;

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

/// The transports that there are here; where there is no ring, loudly.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn transports() -> Vec<Io> {
    let config = ClientConfig { io: Io::Ring, ..ClientConfig::default() };
    match Client::new(config) {
        Ok(_) => vec![Io::Epoll, Io::Ring],
        Err(error) => {
            eprintln!("THE RING IS SKIPPED, NOTHING OF IT WAS TESTED: {error}");
            vec![Io::Epoll]
        }
    }
}

/// Answers every request, one thread a connection, until the test's process ends.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away ends its own thread.
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

/// A request ends with its head here.
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut buffer, mut ended) = ([0; 4096], 0);
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        for byte in &buffer[..length] {
            ended = match (byte, ended) {
                (b'\r', 0 | 2) | (b'\n', 1) => ended + 1,
                (b'\n', 3) => {
                    stream.write_all(ANSWER)?;
                    0
                }
                _ => 0,
            };
        }
    }
}

/// The h2 crate's server on a thread of its own, until the test's process ends.
fn serve_http2() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                // A client that goes away ends its own task.
                tokio::spawn(answer_http2(stream));
            }
        });
    });
    address
}

async fn answer_http2(stream: tokio::net::TcpStream) -> Option<()> {
    let mut connection = h2::server::handshake(stream).await.ok()?;
    while let Some(request) = connection.accept().await {
        let (_, mut respond) = request.ok()?;
        let mut body = respond.send_response(http::Response::new(()), false).ok()?;
        body.send_data(bytes::Bytes::from_static(b"hello"), true).ok()?;
    }
    None
}

struct Load {
    client: Client,
    origin: OriginId,
    bytes: Vec<u8>,
    body: BodyPolicy,
    completions: Vec<Completion>,
}

impl Load {
    fn to(address: SocketAddr, io: Io, body: BodyPolicy) -> Self {
        let config = ClientConfig { io, http2: Http2::Off, ..ClientConfig::default() };
        let mut client = Client::new(config).unwrap();
        let origin = Origin { tls: false, host: address.ip().to_string(), port: address.port() };
        let origin = client.origin(&origin);
        let (mut bytes, headers) = (Vec::new(), [("Accept", "text/plain")]);
        write_request("GET", "/", "test", &headers, b"", &mut bytes).unwrap();
        Self { client, origin, bytes, body, completions: Vec::with_capacity(1024) }
    }

    fn send(&mut self, token: u64) {
        let exchange = Exchange {
            token,
            origin: self.origin,
            bytes: &self.bytes,
            head_only: false,
            timeout_ns: 30 * SECOND_NS,
            body: self.body,
        };
        self.client.send(now_ns(), exchange);
    }

    /// Each answer sends the next request, until so many have come.
    fn answered(&mut self, count: u64) {
        let (mut answered, limit_ns) = (0, now_ns() + 60 * SECOND_NS);
        while answered < count {
            assert!(now_ns() < limit_ns, "{answered} of {count} answers came");
            self.client.wait_until(limit_ns, &mut self.completions).unwrap();
            for place in 0..self.completions.len() {
                let completion = &self.completions[place];
                assert!(completion.outcome.is_ok(), "{completion:?}");
                answered += 1;
                let token = completion.token;
                self.send(token);
            }
            self.completions.clear();
        }
    }
}

#[test]
fn the_client_allocates_nothing_per_request() {
    let address = serve();
    for io in transports() {
        for body in [BodyPolicy::Discard, BodyPolicy::Count] {
            let mut load = Load::to(address, io, body);
            (0..DEPTH).for_each(|token| load.send(token));
            load.answered(WARM_UP);
            let before = counting::of_this_thread();
            load.answered(REQUESTS);
            let allocations = counting::of_this_thread() - before;
            assert_eq!(allocations, 0, "in {REQUESTS} requests on {io:?}, {body:?}");
        }
    }
}

/// The count notices one: else the other tests here could not fail.
#[test]
fn one_allocation_is_one() {
    let before = counting::of_this_thread();
    let kept = std::hint::black_box(Vec::<u8>::with_capacity(100));
    assert_eq!(counting::of_this_thread() - before, 1);
    drop(kept);
    assert_eq!(counting::of_this_thread() - before, 1);
}

fn target(address: SocketAddr) -> Target {
    Target {
        name: None,
        method: "GET".to_owned(),
        url: format!("http://{address}/"),
        tls: false,
        host: address.ip().to_string(),
        port: address.port(),
        path: "/".to_owned(),
        headers: Vec::new(),
        body: Arc::default(),
    }
}

/// A load of one second after the other, and what comes of it.
struct Shape {
    io: Io,
    rate: &'static str,
    /// Few: after a stall a connection is made for each that is behind, which is no request's doing.
    workers_max: u32,
    /// Each result becomes a record.
    records: bool,
    /// By prior knowledge, eight streams on a connection.
    http2: bool,
}

impl Shape {
    fn told(&self) -> String {
        let Self { io, rate, workers_max, records, http2 } = self;
        format!("{io:?}, rate {rate}, {workers_max} workers, records {records}, HTTP/2 {http2}")
    }
}

/// Requests and the generator's allocations up to each second of an attack.
fn seconds(shape: &Shape) -> Vec<(u64, u64)> {
    let load = AttackLoad {
        pace: Pace::rate(shape.rate).unwrap(),
        poisson: false,
        duration_ns: Some(8 * SECOND_NS),
        workers_max: shape.workers_max,
        timeout_ns: 30 * SECOND_NS,
    };
    let targets = vec![target(if shape.http2 { serve_http2() } else { serve() })];
    let plan = sojourn_plan::attack_plan("", String::new(), &targets, &load, Vec::new()).unwrap();
    let sink = shape.records.then(|| ResultSink::new(Box::new(std::io::sink()), 1).unwrap());
    let (results, writer) = sink.unzip();
    let attack = Attack {
        name: String::new(),
        targets: Targets::Listed(targets.into()),
        workers_max: shape.workers_max,
        redirects_max: None,
        allowed_hosts: Vec::new(),
        body_max: None,
        chunked: false,
        results,
        patient: false,
    };
    let mut options = RunOptions::new(None, "allocations".to_owned());
    options.client.io = shape.io;
    if shape.http2 {
        options.client.http2 = Http2::PriorKnowledge;
    }
    let mut seconds = Vec::new();
    let ended = sojourn_engine::attack(&plan, &options, attack, &Stop::default(), &mut |now| {
        if now.elapsed_ns < 7 * SECOND_NS {
            seconds.push((now.started, counting::of_thread("generator-0")));
        }
    });
    ended.unwrap();
    if let Some(writer) = writer {
        writer.finish().unwrap();
    }
    seconds
}

#[test]
fn an_attacks_generator_allocates_nothing_per_request() {
    // What a second's figures are handed over in may be made anew each second, however many
    // requests it had.
    const PER_SECOND_MAX: u64 = 100;
    let mut shapes = Vec::new();
    for io in transports() {
        for (rate, workers_max) in [("5000", 16), ("0", 8)] {
            shapes.push(Shape { io, rate, workers_max, records: rate != "0", http2: false });
        }
    }
    let io = *transports().last().unwrap();
    shapes.push(Shape { io, rate: "0", workers_max: 8, records: true, http2: true });
    for shape in shapes {
        let seconds = seconds(&shape);
        let [.., before, _, _, after] = seconds[..] else { panic!("{seconds:?}") };
        let (requests, allocations) = (after.0 - before.0, after.1 - before.1);
        let told = format!("{allocations} in {requests} requests: {}: {seconds:?}", shape.told());
        println!("{told}");
        assert!(requests >= REQUESTS, "{told}");
        assert!(allocations <= 3 * PER_SECOND_MAX, "{told}");
    }
}
