//! The queue server's answers against its own book, and its book against the model.

use std::io::Write;
use std::num::NonZeroUsize;

use serde_json::Value;
use sojourn_clock::now_ns;
use sojourn_testkit::{Draws, QueueModel, QueueServer, QueueShape, TruthRecord};

use crate::client::Client;

const SERVICE_NS: u64 = 200_000;

/// What a client saw of one request.
struct Seen {
    id: u64,
    sent_ns: u64,
    received_ns: u64,
}

fn shape(servers: usize) -> QueueShape {
    QueueShape { servers: NonZeroUsize::new(servers).unwrap(), ..QueueShape::default() }
}

/// Each of `clients` threads asks `requests` times, one after the other.
fn ask(server: &QueueServer, clients: usize, requests: usize) -> Vec<Seen> {
    let address = server.address();
    let mut threads = Vec::new();
    for _ in 0..clients {
        threads.push(std::thread::spawn(move || {
            let mut client = Client::connect(address);
            (0..requests).map(|_| ask_once(&mut client)).collect::<Vec<_>>()
        }));
    }
    threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
}

fn ask_once(client: &mut Client) -> Seen {
    let sent_ns = now_ns();
    let answer = client.get("/").unwrap();
    let received_ns = now_ns();
    assert_eq!(answer.status, 200);
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    Seen { id: body["id"].as_u64().unwrap(), sent_ns, received_ns }
}

/// The book's starts and finishes follow from its arrivals and the drawn service times alone.
fn assert_book_is_the_model(truth: &[TruthRecord], servers: usize, mut law: Draws) {
    let mut model = QueueModel::new(NonZeroUsize::new(servers).unwrap(), usize::MAX);
    for (place, record) in truth.iter().enumerate() {
        assert_eq!(record.id, place as u64);
        let slot = model.admit(record.arrival_ns, law.draw_ns()).unwrap();
        assert_eq!((record.start_ns, record.finish_ns), (slot.start_ns, slot.finish_ns));
    }
}

#[test]
fn many_clients_see_what_the_book_says() {
    for servers in [1, 3] {
        let law = || Draws::exponential(SERVICE_NS, 42);
        let server = QueueServer::start(shape(servers), law()).unwrap();
        let seen = ask(&server, 16, 100);
        let truth = server.truth();
        assert_eq!((seen.len(), truth.len()), (1600, 1600));
        assert_book_is_the_model(&truth, servers, law());
        let mut ids: Vec<_> = seen.iter().map(|seen| seen.id).collect();
        ids.sort_unstable();
        assert!(ids.iter().copied().eq(0..1600), "each request is answered exactly once");
        for seen in &seen {
            let record = truth[seen.id as usize];
            assert!(seen.sent_ns <= record.arrival_ns && record.arrival_ns <= record.start_ns);
            // The client may read the answer before the server has stamped its departure.
            assert!(record.finish_ns <= seen.received_ns, "answered before it was due");
            assert!(record.finish_ns <= record.sent_ns.unwrap_or(u64::MAX));
        }
        assert_eq!(server.server().connections(), 16);
        assert_eq!(server.server().requests(), 1600);
    }
}

#[test]
fn a_full_line_is_answered_503_at_once() {
    let hour_ns = 3_600_000_000_000;
    let bounded = QueueShape { waiting_max: 2, ..shape(1) };
    let server = QueueServer::start(bounded, Draws::fixed(hour_ns)).unwrap();
    let mut held: Vec<_> = (0..3).map(|_| Client::connect(server.address())).collect();
    for client in &mut held {
        client.send("/");
    }
    while server.truth().len() < 3 {
        std::thread::yield_now();
    }
    let mut late = Client::connect(server.address());
    assert_eq!(late.get("/").unwrap().status, 503);
    assert_eq!(late.get("/").unwrap().status, 503, "the connection stays usable");
    assert_eq!(server.refused(), 2);
    assert!(server.truth().iter().all(|record| record.sent_ns.is_none()));
    // Dropped with three answers an hour away: it must not wait for them.
}

#[test]
fn a_full_book_counts_what_it_leaves_out() {
    let small = QueueShape { records_max: 3, ..shape(1) };
    let server = QueueServer::start(small, Draws::fixed(1)).unwrap();
    let seen = ask(&server, 1, 5);
    assert_eq!(seen.iter().map(|seen| seen.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!((server.truth().len(), server.unrecorded()), (3, 2));
}

#[test]
fn bodies_are_read_and_pipelined_requests_answered_in_order() {
    let server = QueueServer::start(shape(2), Draws::exponential(SERVICE_NS, 1)).unwrap();
    let mut client = Client::connect(server.address());
    let mut bytes = Vec::new();
    for length in [0_usize, 10, 200_000] {
        let head = format!("POST /p HTTP/1.1\r\ncontent-length: {length}\r\n\r\n");
        bytes.extend_from_slice(head.as_bytes());
        bytes.resize(bytes.len() + length, b'b');
    }
    let mut stream = client.stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || stream.write_all(&bytes).unwrap());
    for expected in 0..3_u64 {
        let answer = client.answer().unwrap();
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(body["id"].as_u64(), Some(expected));
    }
    writer.join().unwrap();
    let truth = server.truth();
    assert!(truth.windows(2).all(|pair| pair[0].finish_ns <= pair[1].arrival_ns));
}

#[test]
fn a_request_that_is_not_http_is_refused_and_the_next_client_served() {
    let server = QueueServer::start(shape(1), Draws::fixed(1)).unwrap();
    let mut rude = Client::connect(server.address());
    rude.stream.write_all(b"\x16\x03\x01 hello\r\n\r\n").unwrap();
    assert_eq!(rude.answer().unwrap().status, 400);
    assert_eq!(ask(&server, 1, 1).len(), 1);
    assert_eq!(server.server().requests_bad(), 1);
}

#[test]
fn the_book_is_written_as_one_json_object_a_line() {
    let server = QueueServer::start(shape(1), Draws::fixed(5)).unwrap();
    ask(&server, 1, 2);
    let mut bytes = Vec::new();
    server.write_ndjson(&mut bytes).unwrap();
    let lines: Vec<Value> = std::str::from_utf8(&bytes)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let at = |name: &str| line[name].as_u64().unwrap();
        assert_eq!(at("finish_ns") - at("start_ns"), 5);
        assert!(at("arrival_ns") <= at("start_ns"));
    }
}
