//! A generator's end, and what it does when there is too much of everything.

use crossbeam_channel::{Receiver, bounded};
use sojourn_clock::Anchor;
use sojourn_ledger::{Batch, Sequencer};
use sojourn_plan::Plan;
use sojourn_testkit::{Reply, Request, Responder, Server, response};

use super::*;
use crate::{
    RunOptions, poller,
    testing::{PAYMENT, plan},
};

/// What a test has of a generator.
struct Ends {
    batches: Receiver<Batch>,
    reports: Sender<(u32, FromGenerator)>,
    told: Receiver<(u32, FromGenerator)>,
    to_generator: Sender<ToGenerator>,
}

/// A generator of this plan, with so many places for its reports.
fn spec(plan: Plan, reports_max: usize) -> (GeneratorSpec, Ends) {
    let plan = Arc::new(plan);
    let (facts, batches) = bounded(100);
    let (reports, told) = bounded(reports_max);
    let (to_generator, control) = bounded(2);
    let spec = GeneratorSpec {
        index: 0,
        of: 1,
        process: None,
        options: RunOptions::new(None, "test".to_owned()),
        work: Work::Journeys,
        anchor: Anchor::now(),
        variables: Vec::new(),
        facts,
        reports: reports.clone(),
        control,
        actors: bounded(1).1,
        spares: bounded(1).1,
        polls: poller::channel(&plan).0,
        inbox: None,
        publishers: Publishers::default(),
        waker: Arc::default(),
        plan,
    };
    (spec, Ends { batches, reports, told, to_generator })
}

/// Runs a generator whose reports nobody takes before its end, in a queue with one place.
#[test]
fn the_last_figures_wait_for_a_place_in_a_full_queue() {
    let (spec, ends) = spec(plan(PAYMENT, "http://127.0.0.1:1"), 1);
    let Ends { batches, reports, told, to_generator } = ends;
    let filler = FromGenerator::ArrivalsDone { last_t0_ns: 0, load_end_ns: 0, at_ns: 0 };
    reports.send((0, filler)).unwrap();
    drop(reports);
    to_generator.send(ToGenerator::Start { at_ns: now_ns() }).unwrap();
    to_generator.send(ToGenerator::Abort).unwrap();
    let (ready, _standing) = bounded(1);
    let thread = std::thread::spawn(move || run(spec, &ready));
    // Its facts end before its figures do, and say how far it has seen.
    let watermarks: Vec<u64> = batches.iter().map(|batch| batch.watermark_ns).take(2).collect();
    assert!(watermarks[0] < u64::MAX && watermarks[1] == u64::MAX, "{watermarks:?}");
    let mut kinds = Vec::new();
    for (_, report) in &told {
        kinds.push(match report {
            FromGenerator::ArrivalsDone { .. } => "filler",
            FromGenerator::Idle => "idle",
            FromGenerator::Snapshot(_) => "snapshot",
            FromGenerator::Ended(Ok(())) => "ended",
            _ => "another",
        });
    }
    thread.join().unwrap();
    assert_eq!(kinds, ["filler", "snapshot", "ended"]);
}

/// Sixty users with ten thousand journeys in each request: what is answered together brings more
/// facts than the outbox has room for. It pauses, and refuses none.
#[test]
fn batches_of_many_users_fit_into_the_outbox() {
    const MANY: &str = r#"
name: many
journeys:
  event:
    root:
      key: "{{ uuid() }}"
      batch: 10000
      http: { method: POST, url: /, json: {} }
load:
  - { journey: event, users: 60, until: root, iterations: 120, steady: 60s }
"#;
    /// Answers the first requests together, when all of them have had the time to be sent.
    struct Together(Option<u64>);
    impl Responder for Together {
        fn respond(&mut self, _request: &Request<'_>) -> Reply {
            let at_ns = *self.0.get_or_insert_with(|| now_ns() + 3 * SECOND_NS);
            Reply::at(at_ns, response(200, "text/plain", b"ok"))
        }
    }
    let server = Server::start(Together(None)).unwrap();
    let (spec, ends) = spec(plan(MANY, &server.url("")), 1_000);
    let Ends { batches, told, to_generator, reports } = ends;
    drop(reports);
    let ready = bounded(1).0;
    let thread = std::thread::spawn(move || run(spec, &ready));
    to_generator.send(ToGenerator::Start { at_ns: now_ns() }).unwrap();
    // Each journey has started, and its root is done.
    let expected = 120 * 10_000 * 2;
    let until_ns = now_ns() + 60 * SECOND_NS;
    let mut sequencer = Sequencer::new(&[SourceId(0)], expected);
    let mut facts = 0;
    for batch in &batches {
        // What is promised is kept, also by what had to wait.
        sequencer.push(batch).unwrap();
        while sequencer.pop().is_some() {
            facts += 1;
        }
        if facts == expected || now_ns() > until_ns {
            break;
        }
    }
    to_generator.send(ToGenerator::Abort).unwrap();
    drop(batches);
    let ended = told.iter().any(|(_, report)| matches!(report, FromGenerator::Ended(Ok(()))));
    thread.join().unwrap();
    assert_eq!((facts, ended, server.requests()), (expected, true, 120));
}
