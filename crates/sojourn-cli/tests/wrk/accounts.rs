//! What is counted without a script, against the servers' own counts.

use sojourn_record::RunFile;
use sojourn_testkit::{
    Draws, FreezingServer, MisbehavingServer, Misbehaviour, Output, QueueServer, QueueShape,
    Window, closed_port, temp_dir,
};

use super::{Printed, program, wrk};
use crate::common;

const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A server that takes so long for each request, so many at a time.
fn queue(servers: usize, service_ns: u64) -> QueueServer {
    let shape = QueueShape { servers: servers.try_into().unwrap(), ..QueueShape::default() };
    QueueServer::start(shape, Draws::fixed(service_ns)).unwrap()
}

#[test]
fn every_request_is_counted_and_every_connection_made() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    // Ten do not divide by three.
    let printed = wrk(&["-d", "1", "-c", "10", "-t", "3", &server.url("/")]);
    let server = server.server();
    assert_eq!(printed.requests(), server.requests());
    // One more tried whether there is somebody.
    assert_eq!(server.connections(), 11);
    assert_eq!((printed.socket_errors(), printed.bad_statuses()), ([0; 4], 0));
    let head = printed.0.stdout.lines().next().unwrap();
    assert!(head.starts_with("Running 1s test @ http://127.0.0.1:"), "{head}");
    // What a closed loop can't tell stands beside wrk's layout, not in it.
    let note = "10 at once and ";
    assert!(printed.0.stderr.contains(note) && !printed.0.stdout.contains(note), "{}", printed.0);
}

#[test]
fn latencies_above_the_timeout_are_in_the_distribution() {
    let server = queue(100, 300 * MILLISECOND_NS);
    let url = server.url("/");
    let printed = wrk(&["-d", "2", "-c", "5", "-t", "1", "--timeout", "100ms", "-L", &url]);
    let requests = server.truth().len() as u64;
    // All were late; the last five were given up after the end.
    assert_eq!(printed.socket_errors(), [0, 0, 0, requests]);
    assert!((requests - 5..=requests).contains(&printed.requests()), "{}", printed.0);
    assert!(printed.percentile_ms("50%") >= 300.0 && printed.max_ms() >= 300.0, "{}", printed.0);
}

#[test]
fn what_is_never_answered_is_in_it_too() {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Silence]).unwrap();
    let url = server.url("/");
    let printed = wrk(&["-d", "1", "-c", "3", "-t", "1", "--timeout", "500ms", "-L", &url]);
    assert_eq!((printed.requests(), server.server().requests()), (0, 3));
    assert_eq!(printed.socket_errors(), [0, 0, 0, 3]);
    // Given up half a second after the end of the second.
    assert!(printed.percentile_ms("50%") >= 1_450.0, "{}", printed.0);
}

/// Thirty requests in a second to a server that behaves so in turn.
fn thirty(sequence: &[Misbehaviour]) -> (Printed, u64) {
    let server = MisbehavingServer::in_sequence(sequence).unwrap();
    let printed = wrk(&["-d", "1", "-R", "30", "-c", "1", "-t", "1", &server.url("/")]);
    (printed, server.server().requests())
}

#[test]
fn broken_answers_are_read_errors_and_no_requests() {
    for behaviour in [
        Misbehaviour::MalformedHead,
        Misbehaviour::MalformedChunk,
        Misbehaviour::Truncate { promised: 100, sent: 7 },
    ] {
        let good = Misbehaviour::Status(200);
        let (printed, requests) = thirty(&[good.clone(), good, behaviour]);
        assert_eq!((printed.requests(), requests), (20, 30), "{}", printed.0);
        assert_eq!(printed.socket_errors(), [0, 10, 0, 0], "{}", printed.0);
        assert_eq!(printed.bad_statuses(), 0);
    }
    for behaviour in [Misbehaviour::Close, Misbehaviour::Reset] {
        let (printed, requests) = thirty(&[behaviour]);
        assert_eq!((printed.requests(), requests), (0, 30), "{}", printed.0);
        assert_eq!(printed.socket_errors(), [0, 30, 0, 0], "{}", printed.0);
    }
}

#[test]
fn statuses_from_400_on_are_counted_apart() {
    let statuses = [200, 204, 302, 399, 400, 404, 500].map(Misbehaviour::Status);
    let (printed, requests) = thirty(&statuses);
    assert_eq!((printed.requests(), requests), (30, 30), "{}", printed.0);
    // Four rounds of seven, and two more.
    assert_eq!(printed.bad_statuses(), 12);
    assert_eq!(printed.socket_errors(), [0; 4]);
}

#[test]
fn a_rate_is_kept_and_latency_counts_from_the_schedule() {
    let _turn = common::alone();
    // Frozen for half a second: what is due meanwhile waits, and its wait is measured.
    let window = Window { from_ns: SECOND_NS, to_ns: SECOND_NS * 3 / 2 };
    let server = FreezingServer::start(&[window]).unwrap();
    let url = server.url("/");
    let printed = wrk(&["-d", "3", "-c", "2", "-t", "1", "-R", "400", "-L", "-U", &url]);
    assert_eq!((printed.requests(), server.server().requests()), (1_200, 1_200));
    let [recorded, uncorrected] = distributions(&printed.0);
    // Some 200 of 1,200 were due in that half second; only two were under way.
    assert!(recorded.contains("  Latency Distribution (HdrHistogram - Recorded Latency)"));
    assert!(uncorrected.starts_with("Uncorrected Latency"));
    let p90_ms = |block: &str| {
        let line = block.lines().find_map(|line| line.trim().strip_prefix("90.000%"));
        super::milliseconds(line.unwrap())
    };
    assert!(p90_ms(&recorded) > 50.0, "{recorded}");
    assert!(p90_ms(&uncorrected) < p90_ms(&recorded) / 2.0, "{uncorrected}");
    for block in [&recorded, &uncorrected] {
        assert!(block.contains("Total count    =         1200]"), "{block}");
    }
}

/// The two blocks of a `-L -U` report.
fn distributions(output: &Output) -> [String; 2] {
    let (first, second) = output.stdout.split_once("(HdrHistogram - Uncorrected").unwrap();
    [first.to_owned(), format!("Uncorrected{second}")]
}

#[test]
fn a_rate_that_the_target_does_not_keep_up_with_is_said() {
    let server = queue(1, 20 * MILLISECOND_NS);
    let printed = wrk(&["-d", "1", "-c", "2", "-t", "1", "-R", "200", &server.url("/")]);
    assert_eq!(printed.requests(), server.truth().len() as u64);
    assert!(printed.requests() < 100, "{}", printed.0);
    let said = &printed.0.stderr;
    assert!(said.contains("all 2 connections were busy"), "{said}");
    assert!(said.contains("does not keep up with -R 200"), "{said}");
    // The wait is in the latency: one that was begun late had to wait for most of a second.
    assert!(printed.max_ms() > 500.0, "{}", printed.0);
}

#[test]
fn ctrl_c_ends_it_early_with_a_report() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let running = program(&["-d", "10m", "-c", "2", &server.url("/")]).start().unwrap();
    while server.server().requests() < 100 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(Printed(output).requests(), server.server().requests());
}

#[test]
fn a_run_file_holds_the_same_load() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let folder = temp_dir().unwrap();
    let file = folder.path().join("out.sojourn");
    let words = ["-d", "1", "-R", "100", "--output", file.to_str().unwrap(), &server.url("/?s=x")];
    let printed = wrk(&words);
    let run = RunFile::open(&file).unwrap();
    let phase = sojourn_metrics::SeriesPhase::Steady;
    let completed = run.store.sum(sojourn_metrics::names::JOURNEYS_COMPLETED, &[], phase);
    assert_eq!((printed.requests(), completed), (100, 100));
}

#[test]
fn nobody_there_is_told_before_the_load() {
    let port = closed_port().unwrap();
    let output = program(&[&format!("http://127.0.0.1:{port}/")]).run().unwrap();
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
    let told = format!("unable to connect to 127.0.0.1:{port} Connection refused\n");
    assert_eq!(output.stderr, told);
}
