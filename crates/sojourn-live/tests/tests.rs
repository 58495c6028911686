//! The page, and asking for it over a socket.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod frames;
mod watch;

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use sojourn_live::{MetricsServer, openmetrics};
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store, names};

fn store() -> Store {
    let mut recorder = Recorder::new(0);
    recorder.start_at(0);
    let tags = [("journey", "attack"), ("step", "GET http://h/\"a\"")];
    let trend = |recorder: &mut Recorder, metric| {
        recorder.series(Kind::Trend, SeriesKey::new(metric, &tags, SeriesPhase::Steady))
    };
    let service = trend(&mut recorder, names::STEP_SERVICE);
    for ms in [1, 4, 30, 700, 20_000] {
        recorder.record(service, ms * 1_000_000);
    }
    let bytes = trend(&mut recorder, names::STEP_RECEIVED_BYTES);
    recorder.record(bytes, 100);
    recorder.record(bytes, 23);
    for (metric, count) in [(names::STEP_BODY_BYTES_IN, 45), (names::STEP_BODY_BYTES_OUT, 6)] {
        let key = SeriesKey::new(metric, &tags, SeriesPhase::Steady);
        let bytes = recorder.series(Kind::Counter, key);
        recorder.add(bytes, count);
    }
    let [journey, step] = tags;
    let failed = SeriesKey::new(
        names::STEP_FAILED,
        &[journey, step, ("reason", "timeout")],
        SeriesPhase::Steady,
    );
    let failed = recorder.series(Kind::Counter, failed);
    recorder.add(failed, 2);
    let mut store = Store::new();
    store.apply(&recorder.take(1_000_000_000, None)).unwrap();
    store
}

#[test]
fn the_page_has_cumulative_buckets_and_bounded_labels() {
    let page = openmetrics(&store());
    let target = r#"target="GET http://h/\"a\"""#;
    for line in [
        format!("request_seconds_bucket{{{target},le=\"0.005\"}} 2"),
        format!("request_seconds_bucket{{{target},le=\"0.05\"}} 3"),
        format!("request_seconds_bucket{{{target},le=\"1.0\"}} 4"),
        format!("request_seconds_bucket{{{target},le=\"10.0\"}} 4"),
        format!("request_seconds_bucket{{{target},le=\"+Inf\"}} 5"),
        format!("request_seconds_count{{{target}}} 5"),
        format!("request_received_bytes_total{{{target}}} 123"),
        format!("request_bytes_in_total{{{target}}} 45"),
        format!("request_bytes_out_total{{{target}}} 6"),
        format!("request_fail_count_total{{{target},message=\"timeout\"}} 2"),
        "# TYPE request_seconds histogram".to_owned(),
    ] {
        assert!(page.lines().any(|found| found == line), "no `{line}` in\n{page}");
    }
    assert!(page.ends_with("# EOF\n"));
}

#[test]
fn any_path_gives_the_latest_page() {
    let server = MetricsServer::start("127.0.0.1:0").unwrap();
    let ask = || {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"GET /any HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask().ends_with("\r\n\r\n# EOF\n"));
    server.show("now 1\n".to_owned());
    let answer = ask();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nnow 1\n"));
    // One that says nothing and goes does not end it.
    drop(TcpStream::connect(server.address()).unwrap());
    assert!(ask().ends_with("now 1\n"));
}
