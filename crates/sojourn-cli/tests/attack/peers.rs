//! Servers that do not behave: every hit is one accounted result.

use std::{io::Write, net::Shutdown};

use sojourn_metrics::{SeriesPhase, names};
use sojourn_testkit::{MisbehavingServer, Misbehaviour};

use super::{attack, attack_to, echo};

/// Attacks one URL ten times; the results, all of this code.
fn ten(url: &str, code: u16) -> Vec<super::Hit> {
    ten_by("auto", url, code)
}

/// The same by a way of waiting.
fn ten_by(io: &str, url: &str, code: u16) -> Vec<super::Hit> {
    let words = ["-rate", "20", "-duration", "500ms", "-timeout", "300ms", "-io", io, url];
    let made = attack(&words, "");
    assert_eq!(made.output.code, Some(0), "{}", made.output);
    let hits = made.hits();
    assert_eq!(hits.len(), 10, "{url}");
    for (k, hit) in hits.iter().enumerate() {
        assert_eq!((hit.seq, hit.code), (k as u64, code), "{hit:?}");
        assert!(hit.latency_ns > 0);
    }
    hits
}

#[test]
fn each_misbehaviour_is_a_result_with_its_reason() {
    let paths = [
        ("/close", Misbehaviour::Close, "EOF"),
        ("/reset", Misbehaviour::Reset, "connection reset by peer"),
        ("/silence", Misbehaviour::Silence, "(Client.Timeout exceeded while awaiting headers)"),
        ("/truncate", Misbehaviour::Truncate { promised: 100, sent: 7 }, "unexpected EOF"),
        ("/head", Misbehaviour::MalformedHead, "answered with"),
        ("/chunk", Misbehaviour::MalformedChunk, "answered with"),
    ];
    let behaviours = paths.clone().map(|(path, behaviour, _)| (path, behaviour));
    let server = MisbehavingServer::by_path(&behaviours).unwrap();
    for (path, _, reason) in &paths {
        let url = server.url(path);
        let begun = !["/truncate", "/chunk"].contains(path);
        for hit in ["auto", "epoll"].map(|io| ten_by(io, &url, 0)).concat() {
            // What breaks off in the body is named without the URL, as by Vegeta.
            assert_eq!(hit.error.starts_with(&format!("Get \"{url}\": ")), begun, "{hit:?}");
            assert!(hit.error.contains(reason), "{hit:?}");
            assert_eq!((hit.bytes_in, hit.bytes_out), (0, 0));
        }
    }
    // All together in a run file, which accounts for every arrival.
    let targets = paths.map(|(path, ..)| format!("GET {}\n\n", server.url(path))).concat();
    let words = ["-rate", "60", "-duration", "500ms", "-timeout", "300ms", "-max-workers", "3"];
    let made = attack_to("out.sojourn", &words, &targets);
    let store = made.run_file().store;
    let sum = |metric| store.sum(metric, &[], SeriesPhase::Steady);
    let (started, missed) = (sum(names::JOURNEYS_STARTED), sum(names::JOURNEYS_MISSED));
    assert_eq!((sum(names::JOURNEYS_SCHEDULED), started + missed), (30, 30), "{}", made.output);
    assert_eq!(sum(names::JOURNEYS_ROOT_FAILED), started, "{}", made.output);
    // A path the server does not know.
    assert!(ten(&server.url("/none"), 404).iter().all(|hit| hit.error == "404 Not Found"));
}

#[test]
fn errors_of_statuses_have_their_phrase_over_http2_too() {
    let mock = crate::mock::Mocked::start(&[], &["--status", "503"]);
    let url = format!("http://{}/", mock.address);
    let words = ["-rate", "10", "-duration", "1s", "-h2c", &url];
    let hits = attack(&words, "").hits();
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|hit| hit.error == "503 Service Unavailable"), "{hits:?}");
}

#[test]
fn refused_connections_are_worded_as_scripts_expect() {
    let port = sojourn_testkit::closed_port().unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let error = format!("Get \"{url}\": dial tcp 127.0.0.1:{port}: connect: connection refused");
    assert!(ten(&url, 0).iter().all(|hit| hit.error == error));
}

#[test]
fn an_answer_that_ends_with_half_a_connection_is_whole() {
    let address = echo::serve(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")?;
        stream.shutdown(Shutdown::Write)
    });
    let hits = ten(&format!("http://{address}/"), 200);
    assert!(hits.iter().all(|hit| hit.body == b"until the end"), "{hits:?}");
}

#[test]
fn more_than_was_promised_is_not_taken_for_the_next_answer() {
    let address = echo::serve(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n")
    });
    let hits = ten(&format!("http://{address}/"), 200);
    assert!(hits.iter().all(|hit| hit.body == b"ok" && hit.error.is_empty()), "{hits:?}");
}

#[test]
fn an_answer_before_the_request_has_ended_counts() {
    // Answers as soon as a connection is there and closes, whatever is still being sent.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // What cannot be sent was not wanted.
            let _ignored = stream.write_all(
                b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            );
            std::thread::spawn(move || {
                let _ignored = std::io::copy(&mut stream, &mut std::io::sink());
            });
        }
    });
    let folder = sojourn_testkit::temp_dir().unwrap();
    let body = folder.path().join("body");
    std::fs::write(&body, vec![b'x'; 8 << 20]).unwrap();
    let url = format!("http://{address}/");
    let body = body.display().to_string();
    let words = ["-rate", "10", "-duration", "1s", "-method", "POST", "-body", &body, &url];
    let hits = attack(&words, "").hits();
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|hit| hit.code == 413), "{:?}", hits[0].error);
}
