//! Attacks whose generators are processes of their own: one plan, one stream of results, one
//! verdict.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;
use sojourn_metrics::{SeriesPhase, names};
use sojourn_record::RunFile;
use sojourn_testkit::{
    MisbehavingServer, Program, Reply, Request, Responder, Running, Server, response, sojourn,
    temp_dir,
};

use super::{Hit, attack, attack_to, echo, hits};
use crate::common::until;
use crate::generators::{children, is_gone, kill};
use crate::mock::Mocked;

/// When a hit's answer had come.
fn end_ns(hit: &Hit) -> i64 {
    hit.unix_ns + hit.latency_ns
}

/// In the order in which hits ended.
fn is_in_order(hits: &[Hit]) -> bool {
    hits.is_sorted_by_key(end_ns)
}

/// By nearest rank, seconds.
fn quantile_s(sorted_ns: &[i64], q: f64) -> f64 {
    let rank = (q * sorted_ns.len() as f64).ceil() as usize;
    sorted_ns[rank.max(1) - 1] as f64 / 1e9
}

/// The figures of answers' times that a second's line of each target has.
fn service(path: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = lines.filter(|line| line["metric"] == "sojourn_step_service_seconds");
    lines.map(|line| (line["labels"]["step"].as_str().unwrap().to_owned(), line)).collect()
}

/// An attack of less than a second, so that all figures are those of one. The mock counts what it
/// is asked at each route; the merged percentiles are those of all processes' records together.
#[test]
fn four_processes_send_what_one_would_and_their_figures_are_those_of_their_records() {
    let routes = "seed: 1\nroutes:\n\
                  - { route: GET /a, latency: 'lognormal(p50=10ms, p99=60ms)' }\n\
                  - { route: GET /b, latency: 'exp(5ms)' }\n\
                  - { route: POST /c }\n";
    let mock = Mocked::start(&[("mock.yaml", routes)], &["mock.yaml"]);
    let base = format!("http://{}", mock.address);
    let targets = format!("GET {base}/a\n\nGET {base}/b\n\nPOST {base}/c\n");
    let words = ["-rate", "1600", "-duration", "500ms", "-generators", "4"];
    let words = [words.as_slice(), &["-out", "ndjson=figures.ndjson"]].concat();
    let made = attack(&words, &targets);
    assert_eq!(made.output.code, Some(0), "{}", made.output);
    for (route, count) in [("GET /a", 267), ("GET /b", 267), ("POST /c", 266)] {
        let counted = mock.metric(&format!("route_requests_total{{route=\"{route}\"}}"));
        assert_eq!(counted, count, "{route}: {}", made.output);
    }
    let written = hits(&made.folder.path().join("out.bin"));
    assert!(is_in_order(&written));
    let by_number = made.hits();
    assert_eq!(by_number.len(), 800);
    for (k, hit) in by_number.iter().enumerate() {
        assert_eq!((hit.seq, hit.code), (k as u64, 200), "{hit:?}");
        assert!(hit.url.ends_with(["/a", "/b", "/c"][k % 3]), "{hit:?}");
    }
    let figures = service(&made.folder.path().join("figures.ndjson"));
    assert_eq!(figures.len(), 3, "{figures:?}");
    for (step, line) in &figures {
        let of_step = |hit: &&Hit| *step == format!("{} {}", hit.method, hit.url);
        let mut sorted: Vec<i64> =
            by_number.iter().filter(of_step).map(|hit| hit.latency_ns).collect();
        sorted.sort_unstable();
        assert_eq!(line["added"], sorted.len(), "{line}");
        for (name, q) in [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
            let (of_records, merged) = (quantile_s(&sorted, q), line[name].as_f64().unwrap());
            // The histograms' stated error.
            let apart = (merged - of_records).abs() / of_records;
            assert!(apart <= 0.001, "{step} {name}: {merged} of figures, {of_records} of records");
        }
    }
}

/// Answers every fourth hit late: those of one process.
struct EveryFourth;

impl Responder for EveryFourth {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let late_ns = if request.path == "/3" { 300_000_000 } else { 1_000_000 };
        Reply::at(request.arrival_ns + late_ns, response(200, "text/plain", b"done"))
    }
}

/// A quarter of all is late, and that quarter is one process's. A percentile that was averaged over
/// processes would be late from the least on.
#[test]
fn conditions_are_held_against_the_figures_of_all() {
    let server = Server::start(EveryFourth).unwrap();
    let targets: String =
        (0..4).map(|n| format!("GET {}\n\n", server.url(&format!("/{n}")))).collect();
    let attacked = |file: &str, condition: &str| {
        let words = ["-rate", "200", "-duration", "1s", "-generators", "4", "-fail-if", condition];
        attack_to(file, &words, &targets)
    };
    // A busy machine may make the figures void, which comes before a condition.
    let is_late = |made: &super::Made| made.output.stderr.contains("void: generator ");
    let made = attacked("out.sojourn", "p70 > 50ms");
    assert!(made.output.code == Some(0) || is_late(&made), "{}", made.output);
    let is_missed = made.output.stderr.contains("threshold: ");
    assert!(!is_missed || is_late(&made), "{}", made.output);
    let run = made.run_file();
    assert_eq!(server.requests(), 200);
    assert_eq!(run.store.sum(names::JOURNEYS_COMPLETED, &[], SeriesPhase::Steady), 200);
    let notes = run.summary.unwrap().notes.join("\n");
    assert!(notes.contains("4 processes"), "{notes}");
    for (file, condition) in [("out.sojourn", "p80 > 200ms"), ("out.bin", "p75.6 > 200ms")] {
        let made = attacked(file, condition);
        assert!(made.output.code == Some(99) || is_late(&made), "{}", made.output);
        let said = format!("threshold: not {condition}");
        assert!(made.output.stderr.contains(&said), "{}", made.output);
    }
}

#[test]
fn workers_are_divided_and_hits_still_have_numbers_of_their_own() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let url = server.url("/");
    let words = ["-rate=0", "-max-workers=5", "-duration=1s", "-generators=3", "-threads=2", &url];
    let made = attack(&words, "");
    let hits = made.hits();
    assert_eq!(made.output.code, Some(0), "{}", made.output);
    assert_eq!(server.server().requests(), hits.len() as u64);
    assert!(hits.windows(2).all(|two| two[0].seq < two[1].seq), "a number is there twice");
    // One of six generators has no worker, and makes no hit.
    assert!(hits.iter().all(|hit| hit.seq % 6 < 5));
    assert!((1..=5).contains(&server.server().connections()), "{}", made.output);
}

/// What processes cannot read a second time goes along: standard input, a pipe, files of bodies.
#[test]
fn targets_and_bodies_are_the_same_in_all_of_them() {
    let address = echo::serve(echo::echo);
    let folder = temp_dir().unwrap();
    fs::write(folder.path().join("own.txt"), "from a file").unwrap();
    fs::write(folder.path().join("default.txt"), "by default").unwrap();
    let targets = format!("POST http://{address}/a\n@own.txt\n\nPUT http://{address}/b\n");
    fs::write(folder.path().join("targets.txt"), targets).unwrap();
    let command = format!(
        "exec {} attack -targets <(cat targets.txt) -body default.txt -rate 60 -duration 1s \
         -generators 3 -header 'X-Default: yes' -output out.bin",
        env!("CARGO_BIN_EXE_sojourn")
    );
    let output = Program::new("bash").args(["-c", &command]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let mut hits = hits(&folder.path().join("out.bin"));
    hits.sort_by_key(|hit| hit.seq);
    assert_eq!(hits.len(), 60, "{output}");
    for (k, hit) in hits.iter().enumerate() {
        let echoed = String::from_utf8(hit.body.clone()).unwrap();
        let (method, body) = [("POST /a", "from a file"), ("PUT /b", "by default")][k % 2];
        assert!(echoed.starts_with(method) && echoed.ends_with(body), "{echoed}");
        assert!(echoed.contains("X-Default: yes\r\n"), "{echoed}");
        assert!(echoed.contains(&format!("X-Vegeta-Seq: {k}\r\n")), "{echoed}");
    }
}

/// An attack of two processes that goes on until it is ended, once it has sent something.
fn long_attack(folder: &Path, server: &MisbehavingServer) -> (Running, Vec<u32>) {
    let url = server.url("/");
    let words = ["attack", "-rate", "200", "-generators", "2", "-output", "out.bin", &url];
    let running = sojourn(words).in_dir(folder).start().unwrap();
    until("the load has begun", || server.server().requests() > 100);
    let children = children(running.pid());
    assert_eq!(children.len(), 2);
    (running, children)
}

/// Also where results do not matter: it is no result.
#[test]
fn a_process_that_dies_makes_the_attack_void_and_is_named() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let folder = temp_dir().unwrap();
    let (running, children) = long_attack(folder.path(), &server);
    kill(children[1]);
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    let said = "void: defect: generator 1: its process ended early (signal: 9";
    assert!(output.stderr.contains(said), "{output}");
    assert!(children.iter().all(|pid| is_gone(*pid)));
    // What came until then is whole, and of both.
    let results = hits(&folder.path().join("out.bin"));
    assert!(is_in_order(&results));
    for generator in 0..2 {
        assert!(results.iter().any(|hit| hit.seq % 2 == generator), "none of {generator}");
    }
}

#[test]
fn an_interrupt_ends_them_and_keeps_every_result() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let folder = temp_dir().unwrap();
    let (running, children) = long_attack(folder.path(), &server);
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let results = hits(&folder.path().join("out.bin"));
    assert_eq!(results.len() as u64, server.server().requests());
    assert!(is_in_order(&results));
    assert!(children.iter().all(|pid| is_gone(*pid)));
}

/// `| head` ends the attack, as it does that of one process.
#[test]
fn a_reader_that_goes_ends_all() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let command = format!(
        "{} attack -rate 200 -generators 2 {} | head -c 5000 | wc -c; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_sojourn"),
        server.url("/")
    );
    let output = Program::new("bash").args(["-c", &command]).run().unwrap();
    assert_eq!(output.stdout, "5000\n1\n", "{output}");
    assert!(output.stderr.contains("writing results to stdout: "), "{output}");
}

/// More than a pipe holds, at the end: whoever is slow gets all of it.
#[test]
fn a_reader_that_is_slow_gets_every_result() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let folder = temp_dir().unwrap();
    let command = format!(
        "{} attack -rate 1500 -duration 2s -generators 2 {} | (sleep 3; cat > out.bin)",
        env!("CARGO_BIN_EXE_sojourn"),
        server.url("/")
    );
    let output = Program::new("bash").args(["-c", &command]).in_dir(folder.path()).run().unwrap();
    let results = hits(&folder.path().join("out.bin"));
    assert_eq!(results.len(), 3_000, "{output}");
    assert_eq!(server.server().requests(), 3_000);
}

#[test]
fn threads_of_one_process_are_in_order_too() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let made = attack(&["-rate", "2000", "-duration", "1s", "-threads", "3", &server.url("/")], "");
    let written = hits(&made.folder.path().join("out.bin"));
    assert_eq!(written.len(), 2_000, "{}", made.output);
    assert!(is_in_order(&written));
}

#[test]
fn what_several_cannot_do_is_said_before_the_load() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let url = server.url("/");
    let refused = |words: &[&str], input: &str| {
        let made = attack(words, input);
        assert_eq!(made.output.code, Some(2), "{}", made.output);
        made.output.stderr
    };
    let said = refused(&["-lazy", "-generators", "2"], &format!("GET {url}\n"));
    assert!(said.contains("can't take turns at one stream") && said.contains("leave -lazy out"));
    let said = refused(&["-listen", "127.0.0.1:0", "-key-file", "k", &url], "");
    assert!(said.contains("--generators"), "{said}");
    let said = refused(&["-on-loss", "continue", &url], "");
    assert!(said.contains("--listen"), "{said}");
    let dialled = ["-listen", "127.0.0.1:0", "-key-file", "k", "-generators", "2"];
    let said = refused(&[dialled.as_slice(), &["-laddr", "127.0.0.2", &url]].concat(), "");
    assert!(said.contains("an address is one machine's"), "{said}");
    assert_eq!(server.server().requests(), 0);
    let made = attack(&["-generators", "2", "-targets", "none.txt"], "");
    assert_eq!(made.output.code, Some(1), "{}", made.output);
    assert!(made.output.stderr.contains("error opening none.txt"), "{}", made.output);
}

/// One run file, as of one process, that says who made it.
#[test]
fn the_report_is_one() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let words = ["-rate", "100", "-duration", "1s", "-generators", "2", &server.url("/")];
    let made = attack_to("out.sojourn", &words, "");
    let path = made.folder.path().join("out.sojourn");
    assert_eq!(RunFile::open(&path).unwrap().identity.journeys.len(), 1);
    let words = ["report", "out.sojourn", "--format", "json"];
    let report = sojourn(words).in_dir(made.folder.path()).run().unwrap();
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["ledger"]["journeys_total"]["whole_run"]["completed"], 100);
    let processes = report["health"]["processes"].as_array().unwrap();
    let names: Vec<_> = processes.iter().map(|it| it["process"].as_str().unwrap()).collect();
    assert_eq!(names, ["coordinator", "process 0", "process 1"]);
}
