//! Root steps that are tried again, counted at the system's side.

use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
    time::Duration,
};

use sojourn_clock::MILLISECOND_NS;
use sojourn_record::Verdict;
use sojourn_report::{ReportModel, model::JourneyReport, render};

use super::follow_up::{Hooks, System, assert_all_completed, ok, run_on};

const PLAN: &str = r#"
journeys:
  again:
    root:
      http: POST /again/{{ seq() }}
      retry: { attempts: 3, backoff: 50ms }
  final:
    root:
      http: POST /final/{{ seq() }}
      retry: { attempts: 3, backoff: 50ms }
  never:
    root:
      http: POST /never/{{ seq() }}
      retry: { attempts: 3, on: [503], backoff: 50ms }
  slow:
    root:
      http: { method: POST, url: "/slow/{{ seq() }}", timeout: 150ms }
      retry: { attempts: 2, on: timeout, backoff: 1ms }
load:
  - { journey: again, rate: 20/s, steady: 500ms, drain: 20s }
  - { journey: final, rate: 20/s, steady: 500ms, drain: 20s }
  - { journey: never, rate: 20/s, steady: 500ms, drain: 20s }
  - { journey: slow, rate: 20/s, steady: 500ms, drain: 20s }
"#;

/// The first attempt of `again` and each of `never` finds the system busy, `final` finds nothing,
/// the first of `slow` waits for half a second.
fn moody() -> System {
    let tries = Mutex::new(HashMap::<String, u32>::new());
    System::start(move |asked, _| {
        let tried = {
            let mut tries = tries.lock().unwrap();
            let tried = tries.entry(asked.line.clone()).or_default();
            *tried += 1;
            *tried
        };
        let path = asked.line.split('/').nth(1).unwrap();
        match (path, tried) {
            ("again", 1) | ("never", _) => (503, String::new(), b"busy".to_vec()),
            ("final", _) => (404, String::new(), Vec::new()),
            ("slow", 1) => {
                std::thread::sleep(Duration::from_millis(500));
                ok("{}")
            }
            _ => ok("{}"),
        }
    })
}

/// Attempts by number, and further attempts by cause, of a journey's root.
fn attempts(journey: &JourneyReport) -> (Vec<u64>, Vec<(&str, u64)>) {
    let step = &journey.steps[0];
    let numbers: Vec<u32> = step.attempts.iter().map(|row| row.attempt).collect();
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u32), "{numbers:?}");
    let causes = step.retries.iter().map(|row| (row.reason.as_str(), row.count));
    (step.attempts.iter().map(|row| row.time_ns.count).collect(), causes.collect())
}

#[test]
fn attempts_are_one_request_of_one_journey_and_counted_apart() {
    let system = moody();
    let run = run_on(&system, PLAN, 1);
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    let report = ReportModel::from_run(&run.file);
    let [again, last, never, slow] = report.journeys.as_slice() else {
        panic!("four journeys");
    };
    let counted = |journey: &JourneyReport| {
        let line = report.ledger.journeys.iter().find(|line| line.name == journey.name).unwrap();
        let step = &journey.steps[0];
        assert_eq!(step.requests, line.steady.started, "one request, however often tried");
        (line.steady.completed, line.steady.root_failed, step.ok, step.failed)
    };
    assert_eq!(counted(again), (10, 0, 10, 0));
    assert_eq!(attempts(again), (vec![10, 10], vec![("503", 10)]));
    assert_eq!(counted(last), (0, 10, 0, 10));
    assert_eq!(attempts(last), (vec![10], vec![]), "404 is final");
    assert_eq!(counted(never), (0, 10, 0, 10));
    assert_eq!(attempts(never), (vec![10, 10, 10], vec![("503", 20)]));
    assert_eq!(counted(slow), (10, 0, 10, 0));
    assert_eq!(attempts(slow), (vec![10, 10], vec![("timeout", 10)]));
    for (path, asked) in [("again", 20), ("final", 10), ("never", 30), ("slow", 20)] {
        assert_eq!(system.count(&format!("POST /{path}/")), asked, "{path}");
    }
    // From the first beginning to the last answer, pauses included.
    let least_ns = |journey: &JourneyReport| {
        let step = &journey.steps[0];
        let service_ns = step.service_ns.unwrap().min;
        assert!(step.response_ns.all.unwrap().min >= service_ns);
        service_ns as u64
    };
    assert!(least_ns(again) >= 50 * MILLISECOND_NS);
    assert!(least_ns(never) >= 150 * MILLISECOND_NS);
    assert!(least_ns(slow) >= 150 * MILLISECOND_NS);
    // Both requests are in the bytes sent.
    let [once, twice] = [last, again].map(|journey| journey.steps[0].sent_bytes.unwrap().min);
    assert!(twice > once * 3 / 2, "{twice} {once}");
    let statuses: Vec<_> = again.steps[0].statuses.iter().map(|row| &*row.status).collect();
    assert_eq!(statuses, ["200"], "the last attempt's");
    let text = render::text(&report, false);
    for said in [
        "  retry     root: 10 further attempts after 503\n",
        "  attempt   root: number 2 10 × · p50 ",
    ] {
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn attempts_are_as_far_apart_as_the_plan_says() {
    let system = moody();
    run_on(&system, PLAN, 1);
    let mut by_line: HashMap<String, Vec<u64>> = HashMap::new();
    for asked in system.asked("POST /never/") {
        by_line.entry(asked.line).or_default().push(asked.at_ns);
    }
    assert_eq!(by_line.len(), 10);
    for at_ns in by_line.values() {
        let pauses: Vec<_> = at_ns.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(pauses[0] >= 50 * MILLISECOND_NS, "{pauses:?}");
        assert!(pauses[1] >= 100 * MILLISECOND_NS, "{pauses:?}");
    }
}

#[test]
fn every_key_that_an_attempt_returned_belongs_to_the_journey() {
    let hooks = Hooks::after_ms(30);
    let events = Mutex::new(hooks.sender());
    let known = Mutex::new(HashSet::new());
    let system = System::start(move |asked, number| {
        let id = format!("o{number}");
        // Half-done work under the refused attempt's key, the rest under the other's.
        let is_first = known.lock().unwrap().insert(asked.line.clone());
        let (status, kind) = if is_first { (503, "Begun") } else { (200, "Done") };
        events.lock().unwrap().send(format!(r#"{{"type":"{kind}","id":"{id}"}}"#)).unwrap();
        (status, String::new(), format!(r#"{{"id":"{id}"}}"#).into_bytes())
    });
    let text = r#"
channels: { events: { webhook: { listen: "HOOKS" } } }
journeys:
  order:
    root:
      { http: "POST /orders/{{ seq() }}", key: body.id, retry: { attempts: 2, backoff: 20ms } }
    stages:
      - { name: begun, on: events, match: { type: Begun }, key: $.id }
      - { name: done, on: events, match: { type: Done }, key: $.id }
    within: 10s
load: { rate: 5/s, steady: 1s, drain: 15s }
"#;
    let run = run_on(&system, &text.replace("HOOKS", &hooks.address), 1);
    assert_all_completed(&run, 5);
    assert_eq!(system.count("POST /orders"), 10);
    let events = ReportModel::from_run(&run.file).ledger.events_total.whole_run;
    assert_eq!((events.seen, events.matched), (10, 10), "{events:?}");
}
