//! The queue behind an address, and its truth file.

use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::Value;
use sojourn_mock::{Draws, Latency, Mock, Queue, QueueModel, Respond, RunFiles, Source, Watched};

use crate::client::{Client, options, until};

fn queue_mock(queue: &str, truth: Option<&Path>) -> Mock {
    let queue = Queue::read(queue, &RunFiles::default()).unwrap();
    let respond = Respond {
        file: None,
        status: 200,
        headers: Vec::new(),
        latency: Latency::Fixed(0),
        queue: Some(queue),
        query_overrides: false,
        seed: 5,
    };
    let book = Watched::new(Source::Respond(respond)).read().unwrap();
    let mut options = options();
    options.truth = truth.map(Path::to_path_buf);
    Mock::start(book, &options).unwrap()
}

fn at(record: &Value, name: &str) -> u64 {
    record[name].as_u64().unwrap_or_else(|| panic!("{name} of {record}"))
}

/// Lines of a truth file by id.
fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.sort_by_key(|record| at(record, "id"));
    records
}

/// Every line follows from the arrivals and the drawn services alone, and every answer tells its
/// line.
#[test]
fn the_truth_file_is_the_model_and_the_answers_are_the_truth() {
    for (text, servers, law) in [
        ("mm1:rate=4000", 1, Latency::Exponential { mean_ns: 250_000.0 }),
        ("mmc:servers=3,rate=2000", 3, Latency::Exponential { mean_ns: 500_000.0 }),
        ("md1:rate=5000", 1, Latency::Fixed(200_000)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.ndjson");
        let mock = queue_mock(text, Some(&path));
        let address = mock.address();
        #[expect(clippy::needless_collect, reason = "all threads run before one is waited for")]
        let threads: Vec<_> = (0..8)
            .map(|_| {
                std::thread::spawn(move || {
                    let mut client = Client::connect(address);
                    (0..100)
                        .map(|_| {
                            let answer = client.get("/");
                            let told = answer.json();
                            assert_eq!(
                                answer.header("sojourn-id").unwrap(),
                                told["id"].to_string()
                            );
                            told
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut told: Vec<Value> = threads.into_iter().flat_map(|it| it.join().unwrap()).collect();
        let end = mock.finish();
        assert_eq!((end.truth.unwrap().unwrap(), end.truth_left_out), (800, 0));
        told.sort_by_key(|record| at(record, "id"));
        let truth = read(&path);
        assert_eq!(truth.len(), 800);
        let mut model = QueueModel::new(NonZeroUsize::new(servers).unwrap(), usize::MAX);
        let mut draws = Draws::new(law, 5);
        for (number, (record, told)) in truth.iter().zip(&told).enumerate() {
            assert_eq!(at(record, "id"), number as u64);
            let slot = model.admit(at(record, "arrival_ns"), draws.draw_ns()).unwrap();
            assert_eq!(
                (at(record, "start_ns"), at(record, "finish_ns")),
                (slot.start_ns, slot.finish_ns)
            );
            assert!(at(record, "sent_ns") >= at(record, "finish_ns"), "sent early: {record}");
            for name in ["id", "arrival_ns", "start_ns", "finish_ns"] {
                assert_eq!(record[name], told[name]);
            }
        }
    }
}

#[test]
fn a_bounded_line_refuses_with_503() {
    let mock = queue_mock("mg1:service=3600s,waiting=2", None);
    let mut held: Vec<_> = (0..3).map(|_| Client::connect(mock.address())).collect();
    for client in &mut held {
        client.send("GET / HTTP/1.1\r\n\r\n");
    }
    until("three are in", || mock.meter().figures().held == 3);
    let mut late = Client::connect(mock.address());
    assert_eq!(late.get("/").status, 503);
    assert_eq!(late.get("/").status, 503, "the connection stays usable");
}

#[test]
fn a_queue_stays_as_it_was_and_says_so() {
    let mock = queue_mock("md1:rate=1000", None);
    let book = |queue: &str| {
        let text = format!("{{ queue: 'md1:rate={queue}', routes: [{{ route: '*', body: b }}] }}");
        crate::client::book(&text)
    };
    for _ in 0..2 {
        assert!(!mock.replace(book("2000")).unwrap());
    }
    until("the new answer is given", || {
        let answer = Client::connect(mock.address()).get("/");
        answer.timing()[0] >= 1.0 && answer.text() == "b"
    });
    assert!(mock.replace(book("1000")).unwrap());
}

#[test]
fn who_left_or_was_cut_off_is_in_the_truth_without_a_departure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.ndjson");
    let mock = queue_mock("mg1:service=3600s", Some(&path));
    let mut clients: Vec<_> = (0..4).map(|_| Client::connect(mock.address())).collect();
    for client in &mut clients {
        client.send("GET / HTTP/1.1\r\n\r\n");
    }
    until("four are in", || mock.meter().figures().held == 4);
    let left = clients.pop().unwrap();
    rustix::net::sockopt::set_socket_linger(&left.stream, Some(std::time::Duration::ZERO)).unwrap();
    drop(left);
    until("one has left", || mock.meter().figures().abandoned == 1);
    mock.finish();
    let truth = read(&path);
    assert_eq!(truth.len(), 4);
    assert!(truth.iter().all(|record| record["sent_ns"].is_null()));
}
