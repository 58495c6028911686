//! What is counted: every arrival, whatever happens to it.

use std::collections::HashMap;

use sojourn_metrics::{SeriesKey, SeriesPhase, names};
use sojourn_record::{RunFile, Verdict};
use sojourn_testkit::{
    FreezingServer, MisbehavingServer, Misbehaviour, Reply, Request, Responder, Server, Window,
    response, sojourn, temp_dir,
};

use super::{attack, attack_to, hits};
use crate::common;

const SECOND_NS: u64 = 1_000_000_000;

/// Answers each request so long after it came.
struct Slow(u64);

impl Responder for Slow {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        Reply::at(request.arrival_ns + self.0, response(200, "text/plain", b"late"))
    }
}

fn total(run: &RunFile, metric: &str) -> u64 {
    run.store.sum(metric, &[], SeriesPhase::Steady)
}

fn quantile_ms(run: &RunFile, metric: &str, q: f64) -> f64 {
    let merged = run.store.merged(metric, &[], SeriesPhase::Steady);
    merged.quantile(q).unwrap_or(0) as f64 / 1e6
}

#[test]
fn every_arrival_is_sent_once_whichever_thread_sends_it() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let targets = format!("GET {}\n\nGET {}\n", server.url("/a"), server.url("/b"));
    let made = attack(&["-rate", "997", "-duration", "2s", "-threads", "2"], &targets);
    let hits = made.hits();
    assert_eq!(hits.len(), 1994, "{}", made.output);
    assert_eq!(server.server().requests(), 1994);
    for (k, hit) in hits.iter().enumerate() {
        assert_eq!((hit.seq, hit.code), (k as u64, 200));
        assert!(hit.url.ends_with(if k % 2 == 0 { "/a" } else { "/b" }), "{hit:?}");
    }
}

#[test]
fn a_stall_is_in_the_response_time_whole() {
    let _turn = common::alone();
    let server =
        FreezingServer::start(&[Window { from_ns: 2 * SECOND_NS, to_ns: 4 * SECOND_NS }]).unwrap();
    let url = server.url("/");
    let words = ["-rate", "500", "-duration", "10s", "-max-workers", "20", &url];
    let made = attack_to("out.sojourn", &words, "");
    let run = made.run_file();
    assert_eq!(total(&run, names::JOURNEYS_SCHEDULED), 5000, "{}", made.output);
    assert_eq!(total(&run, names::JOURNEYS_COMPLETED), 5000);
    assert_eq!(server.requests(), 5000);
    let figures = |metric| [0.5, 0.99].map(|q| quantile_ms(&run, metric, q));
    let response = figures(names::STEP_RESPONSE);
    let lag = figures(names::LAG);
    let service = figures(names::STEP_SERVICE);
    // Of 5,000 arrivals 1,000 came during the stall; the workers that waited sent only 20.
    assert!(response[1] >= 1_500.0, "{response:?}");
    assert!(lag[1] >= 1_500.0, "{lag:?}");
    assert!(service[1] < 500.0, "{service:?}");
}

#[test]
fn answers_long_after_the_last_arrival_make_nothing_void() {
    let server = Server::start(Slow(1_700_000_000)).unwrap();
    let made = attack_to("out.sojourn", &["-rate", "20", "-duration", "1s", &server.url("/")], "");
    let run = made.run_file();
    assert_eq!(total(&run, names::JOURNEYS_COMPLETED), 20, "{}", made.output);
    assert_eq!(run.summary.unwrap().verdict, Verdict::Pass, "{}", made.output);
}

#[test]
fn workers_are_a_bound_and_what_they_leave_is_missed() {
    let server = Server::start(Slow(100_000_000)).unwrap();
    let url = server.url("/");
    let words = ["-rate", "100", "-duration", "2s", "-max-workers", "2", "-strict", &url];
    let made = attack_to("out.sojourn", &words, "");
    assert_eq!(made.output.code, Some(3), "{}", made.output);
    let run = made.run_file();
    let [scheduled, started, missed, completed] = [
        names::JOURNEYS_SCHEDULED,
        names::JOURNEYS_STARTED,
        names::JOURNEYS_MISSED,
        names::JOURNEYS_COMPLETED,
    ]
    .map(|metric| total(&run, metric));
    assert_eq!((scheduled, started), (200, completed));
    assert_eq!(scheduled, started + missed);
    assert_eq!(server.requests(), started);
    // Two workers, a tenth of a second each, two seconds.
    assert!((30..=42).contains(&started), "{started}");
    let summary = run.summary.unwrap();
    assert_eq!(summary.verdict, Verdict::Void);
    assert!(summary.causes.iter().any(|cause| cause.name == "missed arrivals"), "{summary:?}");
    // Who only sees standard error learns it too.
    assert!(made.output.stderr.contains("void: missed arrivals"), "{}", made.output);
}

#[test]
fn without_a_rate_the_workers_are_the_load() {
    let server = Server::start(Slow(50_000_000)).unwrap();
    let url = server.url("/");
    let made = attack(&["-rate=0", "-max-workers=4", "-duration=2s", &url], "");
    let hits = made.hits();
    assert_eq!(server.requests(), hits.len() as u64, "{}", made.output);
    assert!(made.output.stderr.contains("Little's law"), "{}", made.output);
    // Never more than four at once: by starts and ends in order.
    let mut edges: Vec<(i64, i32)> = hits
        .iter()
        .flat_map(|hit| [(hit.unix_ns, 1), (hit.unix_ns + hit.latency_ns, -1)])
        .collect();
    edges.sort_unstable();
    let mut at_once = 0;
    let most = edges.iter().map(|(_, change)| {
        at_once += change;
        at_once
    });
    assert_eq!(most.max(), Some(4));
    assert!((40..=160).contains(&hits.len()), "{}", hits.len());
}

#[test]
fn figures_are_by_target() {
    let server = MisbehavingServer::by_path(&[
        ("/a", Misbehaviour::Status(200)),
        ("/b", Misbehaviour::Status(503)),
    ])
    .unwrap();
    let targets = format!(
        "# @name good\nGET {}\n\nGET {}?n=1\n\nGET {}?n=2\n",
        server.url("/a"),
        server.url("/b"),
        server.url("/b")
    );
    let made = attack_to("out.sojourn", &["-rate", "30", "-duration", "1s"], &targets);
    let run = made.run_file();
    let bad = format!("GET {}", server.url("/b"));
    assert_eq!(run.identity.journeys[0].steps, ["good", &bad], "{}", made.output);
    let count = |step: &str, status: &str| {
        let tags = [("journey", "attack"), ("step", step), ("status", status)];
        run.store.counter(&SeriesKey::new(names::STEP_REQUESTS, &tags, SeriesPhase::Steady))
    };
    assert_eq!((count("good", "200"), count(&bad, "503")), (10, 20));
    assert_eq!(total(&run, names::JOURNEYS_ROOT_FAILED), 20);
}

#[test]
fn conditions_decide_the_exit_code_only_where_asked() {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Status(500)]).unwrap();
    let url = server.url("/");
    let words = ["-rate", "20", "-duration", "1s", url.as_str()];
    // Void on a machine that let this process wait: then another run tells.
    let code = |more: &[&str]| {
        let words: Vec<&str> = words.iter().chain(more).copied().collect();
        let mut codes = (0..5).map(|_| attack(&words, "").output.code);
        codes.find(|code| *code != Some(3)).flatten()
    };
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["-fail-if", "success < 50%"]), Some(99));
    assert_eq!(code(&["-fail-if", "p99 > 10s", "-fail-if", "lag.p99 > 10s"]), Some(0));
}

#[test]
fn a_second_interrupt_ends_at_once_with_whole_records() {
    let (good, silent) = (Misbehaviour::Status(200), Misbehaviour::Silence);
    let server = MisbehavingServer::by_path(&[("/good", good), ("/silent", silent)]).unwrap();
    let folder = temp_dir().unwrap();
    let targets = format!("GET {}\n\nGET {}\n", server.url("/good"), server.url("/silent"));
    let running = sojourn(["attack", "-rate", "100", "-output", "out.bin"])
        .in_dir(folder.path())
        .input(targets.as_str())
        .start()
        .unwrap();
    let wait = || std::thread::sleep(std::time::Duration::from_millis(50));
    while server.server().requests() < 20 {
        wait();
    }
    running.interrupt().unwrap();
    // Two that come together are one to the kernel.
    wait();
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    // Those that were answered; the others had no end.
    let results = hits(&folder.path().join("out.bin"));
    assert!(results.len() >= 9, "{}: {output}", results.len());
    assert!(results.iter().all(|hit| hit.code == 200), "{results:?}");
}

#[test]
fn records_bear_the_zone_they_were_made_in() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let url = server.url("/");
    let script = "$0 attack -rate 20 -duration 200ms \"$1\" | tee x.bin | $0 report -type json && \
                  $0 encode x.bin";
    let folder = temp_dir().unwrap();
    let output = sojourn_testkit::Program::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_sojourn"), &url])
        .in_dir(folder.path())
        .env("TZ", "IST-5:30")
        .run()
        .unwrap();
    let (report, records) = output.stdout.split_once('\n').unwrap();
    assert!(report.contains("\"requests\":4,"), "{output}");
    assert_eq!(records.lines().count(), 4, "{output}");
    assert!(records.lines().all(|line| line.contains("+05:30\",\"latency\"")), "{output}");
}

#[test]
fn an_interrupt_ends_the_arrivals_and_keeps_every_result() {
    let server = MisbehavingServer::in_sequence(&[]).unwrap();
    let folder = temp_dir().unwrap();
    let url = server.url("/");
    let running = sojourn(["attack", "-rate", "200", "-output", "out.bin", &url])
        .in_dir(folder.path())
        .start()
        .unwrap();
    while server.server().requests() < 100 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let results = hits(&folder.path().join("out.bin"));
    assert_eq!(results.len() as u64, server.server().requests());
    let seqs: HashMap<u64, u16> = results.iter().map(|hit| (hit.seq, hit.code)).collect();
    assert_eq!(seqs.len(), results.len());
    assert!(seqs.values().all(|code| *code == 200));
}
