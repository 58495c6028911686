//! Files that change while they are served, and stopping in order.

use std::path::Path;

use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};
use sojourn_mock::{Mock, Respond, Source, Watched, read_latency};
use sojourn_plan::Overrides;
use sojourn_record::{Identity, RunWriter};

use crate::client::{Client, mock, options, until};

fn watched(path: &Path) -> Watched<'static> {
    Watched::new(Source::File { path: path.to_path_buf(), overrides: Overrides::default() })
}

fn settle(watched: &mut Watched<'_>) {
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
    mock.replace(source.read().unwrap()).unwrap();
    std::fs::write(&path, "routes: [{ route: /a, body: { file: body.txt } }]").unwrap();
    settle(&mut source);
    mock.replace(source.read().unwrap()).unwrap();
    let mut client = Client::connect(mock.address());
    until("the new book is served", || {
        let answer = client.get("/a");
        answer.timing()[0] == 0.0 && answer.text() == "two, longer"
    });
    assert_eq!(held.answer().unwrap().text(), "one", "held requests keep their book");
    assert!(!source.has_changed());
}

/// A run file with so many requests of step `pay`, each of so many nanoseconds.
fn write_run(path: &Path, count: u64, service_ns: u64) {
    let mut recorder = Recorder::new(0);
    let key = SeriesKey::new(names::STEP_SERVICE, &[(names::STEP, "pay")], SeriesPhase::Steady);
    let series = recorder.series(Kind::Trend, key);
    for _ in 0..count {
        recorder.record(series, service_ns);
    }
    let snapshot = recorder.take(1_000_000_000, None);
    let mut store = Store::new();
    store.apply(&snapshot).unwrap();
    let mut writer = RunWriter::create(path, &Identity::default()).unwrap();
    writer.interval(&[snapshot]).unwrap();
    writer.checkpoint(&store).unwrap();
}

/// Of a mock file, of a queue in one, and of a law on the command line.
#[test]
fn a_run_file_that_a_law_is_taken_from_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.sojourn");
    let path = folder.path().join("mocks.yaml");
    let law = "recorded(run.sojourn, step=pay)";
    let of_file = |text: String| {
        std::fs::write(&path, text).unwrap();
        watched(&path)
    };
    let of_words = Watched::made(|runs| {
        let law = format!("recorded({})", run.display());
        let latency = read_latency(&law, runs).map_err(|error| error.to_string())?;
        Ok(Source::Respond(Respond {
            file: None,
            status: 200,
            headers: Vec::new(),
            latency,
            queue: None,
            query_overrides: false,
            seed: 1,
        }))
    });
    for mut source in [of_file(format!("routes: [{{ route: /a, latency: '{law}' }}]")), of_words] {
        write_run(&run, 100, 10_000_000);
        let mock = Mock::start(source.read().unwrap(), &options()).unwrap();
        let mut client = Client::connect(mock.address());
        let hold_ms = |client: &mut Client| client.get("/a").timing()[0];
        // Within a bucket of the histogram.
        assert!((hold_ms(&mut client) - 10.0).abs() < 0.1);
        assert!(!source.has_changed());
        write_run(&run, 100_000, 30_000_000);
        settle(&mut source);
        mock.replace(source.read().unwrap()).unwrap();
        until("the new law holds", || (hold_ms(&mut client) - 30.0).abs() < 0.3);
        // One that cannot be read is still watched.
        std::fs::write(&run, "no run").unwrap();
        settle(&mut source);
        assert!(source.read().unwrap_err().contains("run.sojourn"));
        write_run(&run, 100, 10_000_000);
        settle(&mut source);
        source.read().unwrap();
    }
    write_run(&run, 100, 10_000_000);
    let queue = format!("queue: 'mg1:service={law}'\nroutes: [{{ route: /a }}]");
    let mut source = of_file(queue);
    source.read().unwrap();
    write_run(&run, 100_000, 30_000_000);
    settle(&mut source);
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
