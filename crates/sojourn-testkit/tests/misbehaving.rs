//! Each misbehaviour as a client meets it.

use std::io::{self, ErrorKind, Read};
use std::time::Duration;

use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_testkit::{MisbehavingServer, Misbehaviour};

use crate::client::Client;

fn meet(behaviour: Misbehaviour) -> (MisbehavingServer, Client) {
    let server = MisbehavingServer::by_path(&[("/it", behaviour)]).unwrap();
    let mut client = Client::connect(server.address());
    client.send("/it?query=1");
    (server, client)
}

/// Everything until the connection ends, and how it ended.
fn read_all(client: &mut Client) -> (Vec<u8>, io::Result<()>) {
    let mut bytes = Vec::new();
    let end = client.stream.read_to_end(&mut bytes).map(drop);
    (bytes, end)
}

#[test]
fn close_and_reset_differ() {
    let (_server, mut client) = meet(Misbehaviour::Close);
    let (bytes, end) = read_all(&mut client);
    assert!(bytes.is_empty() && end.is_ok());

    let (_server, mut client) = meet(Misbehaviour::Reset);
    let (bytes, end) = read_all(&mut client);
    assert!(bytes.is_empty());
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn silence_keeps_the_connection_and_ends_with_the_client() {
    let (server, mut client) = meet(Misbehaviour::Silence);
    client.stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let error = client.stream.read(&mut [0]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
    assert_eq!(server.server().requests(), 1);
    drop(client);
    let mut next = Client::connect(server.address());
    assert_eq!(next.get("/other").unwrap().status, 404);
}

#[test]
fn truncated_and_malformed_answers() {
    let (_server, mut client) = meet(Misbehaviour::Truncate { promised: 100, sent: 40 });
    let (bytes, end) = read_all(&mut client);
    assert!(end.is_ok() && bytes.ends_with(&[b'x'; 40]));
    assert!(String::from_utf8(bytes).unwrap().contains("content-length: 100"));

    let (_server, mut client) = meet(Misbehaviour::MalformedHead);
    assert_eq!(client.answer().err().unwrap().kind(), ErrorKind::InvalidData);

    let (_server, mut client) = meet(Misbehaviour::MalformedChunk);
    let (bytes, _) = read_all(&mut client);
    assert!(String::from_utf8(bytes).unwrap().contains("\r\nno number\r\n"));

    let (_server, mut client) = meet(Misbehaviour::NotJson);
    let answer = client.answer().unwrap();
    assert_eq!(answer.status, 200);
    assert!(serde_json::from_slice::<serde_json::Value>(&answer.body).is_err());
}

#[test]
fn a_dribble_takes_its_time() {
    let begin_ns = now_ns();
    let (_server, mut client) =
        meet(Misbehaviour::Dribble { bytes: 5, every_ns: 10 * MILLISECOND_NS });
    assert_eq!(client.answer().unwrap().body, b"xxxxx");
    assert!(now_ns() - begin_ns >= 50 * MILLISECOND_NS, "the last byte came early");
}

#[test]
fn a_huge_body_is_whole() {
    let bytes = 50_000_000;
    let (_server, mut client) = meet(Misbehaviour::Huge(bytes));
    assert_eq!(client.answer().unwrap().body.len() as u64, bytes);
    client.send("/other");
    assert_eq!(client.answer().unwrap().status, 404, "the connection stays usable");
}

#[test]
fn a_sequence_goes_round() {
    let server = MisbehavingServer::in_sequence(&[
        Misbehaviour::Status(200),
        Misbehaviour::Status(500),
        Misbehaviour::Raw(b"HTTP/1.1 299 Odd\r\ncontent-length: 0\r\n\r\n".to_vec()),
    ])
    .unwrap();
    let mut client = Client::connect(server.address());
    let statuses: Vec<_> = (0..6).map(|_| client.get("/").unwrap().status).collect();
    assert_eq!(statuses, [200, 500, 299, 200, 500, 299]);
}

#[test]
fn a_schedule_begins_at_once_when_it_says_so() {
    let server = MisbehavingServer::by_schedule(&[(0, Misbehaviour::Status(503))]).unwrap();
    let mut client = Client::connect(server.address());
    assert_eq!(client.get("/").unwrap().status, 503);
}
