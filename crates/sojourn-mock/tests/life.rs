//! Files that change while they are served, and stopping in order.

use std::path::Path;

use sojourn_mock::{Mock, Source, Watched};
use sojourn_plan::Overrides;

use crate::client::{Client, mock, options, until};

fn watched(path: &Path) -> Watched {
    Watched::new(Source::File { path: path.to_path_buf(), overrides: Overrides::default() })
}

fn settle(watched: &mut Watched) {
    until("the change is seen", || watched.has_changed());
}

#[test]
fn a_changed_file_is_served_and_held_requests_keep_their_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mocks.yaml");
    std::fs::write(folder.path().join("body.txt"), "one").unwrap();
    std::fs::write(&path, "routes: [{ route: /a, body: { file: body.txt }, latency: 300ms }]")
        .unwrap();
    let mut source = watched(&path);
    let mock = Mock::start(source.read().unwrap(), &options()).unwrap();
    let mut held = Client::connect(mock.address());
    held.send("GET /a HTTP/1.1\r\n\r\n");
    until("it is held", || mock.meter().figures().held == 1);

    assert!(!source.has_changed());
    std::fs::write(folder.path().join("body.txt"), "two, longer").unwrap();
    settle(&mut source);
    mock.replace(source.read().unwrap());
    std::fs::write(&path, "routes: [{ route: /a, body: { file: body.txt } }]").unwrap();
    settle(&mut source);
    mock.replace(source.read().unwrap());
    let mut client = Client::connect(mock.address());
    until("the new book is served", || {
        let answer = client.get("/a");
        answer.timing()[0] == 0.0 && answer.text() == "two, longer"
    });
    assert_eq!(held.answer().unwrap().text(), "one", "held requests keep their book");
    assert!(!source.has_changed());
}

#[test]
fn a_file_that_has_become_wrong_says_so_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mocks.yaml");
    std::fs::write(&path, "routes: [{ route: /a }]").unwrap();
    let mut source = watched(&path);
    source.read().unwrap();
    std::fs::write(&path, "routes:\n  - { rout: /a }\n").unwrap();
    settle(&mut source);
    let wrong = source.read().unwrap_err();
    let place = format!("{}:2:7: unknown field `rout` in a route", path.display());
    assert!(wrong.starts_with(&place), "{wrong}");
    assert!(wrong.contains("did you mean `route`?"), "{wrong}");
    std::fs::remove_file(&path).unwrap();
    settle(&mut source);
    assert!(source.read().unwrap_err().contains("cannot read"));
}

#[test]
fn a_drained_mock_answers_what_it_holds_and_takes_nothing_new() {
    let mock = mock("routes: [{ route: /slow, latency: 400ms }, { route: /quick }]");
    let mut idle = Client::connect(mock.address());
    assert_eq!(idle.get("/quick").status, 200);
    let mut held: Vec<_> = (0..50).map(|_| Client::connect(mock.address())).collect();
    for client in &mut held {
        client.send("GET /slow HTTP/1.1\r\n\r\n");
    }
    until("all are held", || mock.meter().figures().held == 50);
    mock.drain();
    assert!(matches!(idle.rest(), (bytes, Ok(())) if bytes.is_empty()), "idle ones are closed");
    for client in &mut held {
        let answer = client.answer().unwrap();
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
        client.rest().1.unwrap();
    }
    until("it has ended", || mock.has_ended());
    assert!(std::net::TcpStream::connect(mock.address()).is_err(), "nobody listens");
    let figures = mock.finish().figures;
    assert_eq!((figures.answered, figures.held, figures.open, figures.abandoned), (51, 0, 0, 0));
}

#[test]
fn a_drain_lets_a_request_in_the_middle_end() {
    let mock = mock("routes: [{ route: /upload, body: thanks }]");
    let mut client = Client::connect(mock.address());
    client.send("POST /upload HTTP/1.1\r\ncontent-length: 6\r\n\r\nabc");
    until("the beginning is read", || mock.meter().figures().bytes_in > 40);
    mock.drain();
    until("the drain is seen", || std::net::TcpStream::connect(mock.address()).is_err());
    client.send("def");
    assert_eq!(client.answer().unwrap().text(), "thanks");
    until("it has ended", || mock.has_ended());
}

#[test]
fn a_mock_that_is_dropped_does_not_wait_for_what_it_holds() {
    let mock = mock("routes: [{ route: '*', latency: 1h, faults: { silence: 50% } }]");
    let mut clients: Vec<_> = (0..10).map(|_| Client::connect(mock.address())).collect();
    for client in &mut clients {
        client.send("GET / HTTP/1.1\r\n\r\n");
    }
    until("all are in", || mock.meter().figures().requests == 10);
    drop(mock);
    for client in &mut clients {
        assert!(client.answer().is_err());
    }
}
