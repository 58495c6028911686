//! Closed loads: users who wait for their answers, counted at the system's side.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crossbeam_channel::Sender;

use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_record::Verdict;
use sojourn_report::{ReportModel, model::JourneyCounts, render};
use sojourn_testkit::{Reply, Request, Responder, Server, response};

use super::{
    common::{Run, plan, run},
    follow_up::{Hooks, System, ok, run_on},
};

/// What the system saw.
#[derive(Default)]
struct Seen {
    in_progress: u32,
    in_progress_max: u32,
    /// Per request: when it came, and how many were in progress then, itself among them.
    arrivals: Vec<(u64, u32)>,
}

/// Answers after a delay, with an id, and tells of every id.
struct Counting {
    seen: Arc<Mutex<Seen>>,
    delay_ns: u64,
    events: Option<Sender<String>>,
}

impl Responder for Counting {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let mut seen = self.seen.lock().unwrap();
        seen.in_progress += 1;
        seen.in_progress_max = seen.in_progress_max.max(seen.in_progress);
        let in_progress = seen.in_progress;
        seen.arrivals.push((request.arrival_ns, in_progress));
        let body = format!(r#"{{"id":"j{}"}}"#, seen.arrivals.len());
        if request.path == "/start"
            && let Some(events) = &self.events
        {
            events.send(body.clone()).unwrap();
        }
        let answer = response(200, "application/json", body.as_bytes());
        Reply::at(now_ns() + self.delay_ns, answer).tagged(1)
    }

    fn sent(&mut self, _tag: u64, _sent_ns: u64) {
        self.seen.lock().unwrap().in_progress -= 1;
    }
}

fn system(delay_ms: u64, events: Option<Sender<String>>) -> (Server, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let responder =
        Counting { seen: Arc::clone(&seen), delay_ns: delay_ms * MILLISECOND_NS, events };
    (Server::start(responder).unwrap(), seen)
}

/// Visits under this load.
fn visits(server: &Server, load: &str, threads: u32) -> Run {
    let text = format!(
        "target: {}
journeys: {{ visit: {{ root: {{ http: GET /visit }} }} }}
load: {load}
health: {{ lag_p99_max: 5s, silent_max: 5s }}
",
        server.url("")
    );
    run(&plan(&text, &[]), |options| options.threads = threads)
}

/// The counts of a run that may be believed.
fn believed(run: &Run) -> JourneyCounts {
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    let report = ReportModel::from_run(&run.file);
    assert!(report.ledger.balanced);
    report.ledger.journeys_total.whole_run
}

#[test]
fn users_wait_for_their_answers_and_think() {
    let (server, seen) = system(10, None);
    let run = visits(&server, "{ users: 5, think: 20ms, steady: 1s, drain: 5s }", 1);
    let counts = believed(&run);
    assert_eq!(counts.started, server.requests());
    assert_eq!(counts.completed, counts.started);
    // A round takes 30 ms at least, and the first begins at once.
    assert!((10..=5 * 34).contains(&counts.started), "{}", counts.started);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.in_progress, 0);
    assert_eq!(seen.in_progress_max, 5, "users start together, and none twice");
}

#[test]
fn iterations_are_exact_on_any_number_of_threads() {
    for (users, iterations, threads) in [(4, 37, 1), (4, 37, 2), (3, 10, 2), (1, 5, 2), (2, 7, 3)] {
        let (server, seen) = system(2, None);
        let load = format!("{{ users: {users}, iterations: {iterations}, steady: 3s, drain: 5s }}");
        let run = visits(&server, &load, threads);
        let of = format!("{users} users on {threads} threads");
        let counts = believed(&run);
        assert_eq!(server.requests(), iterations, "{of}");
        assert_eq!((counts.started, counts.completed), (iterations, iterations), "{of}");
        assert!(seen.lock().unwrap().in_progress_max <= users, "{of}");
        assert!(run.summary.arrivals_end_ns < 2_000 * MILLISECOND_NS, "{of} waited for no one");
    }
}

#[test]
fn users_are_as_many_on_two_threads_as_on_one() {
    let (server, seen) = system(20, None);
    let counts = believed(&visits(&server, "{ users: 5, steady: 500ms, drain: 5s }", 2));
    assert_eq!(counts.completed, server.requests());
    assert_eq!(seen.lock().unwrap().in_progress_max, 5);
}

#[test]
fn users_come_and_go_on_ramps() {
    let (server, seen) = system(20, None);
    let load = "{ users: { stages: [{ to: 8, over: 400ms }, { to: 1, over: 400ms }] }, drain: 5s }";
    let counts = believed(&visits(&server, load, 1));
    assert_eq!(counts.completed, server.requests());
    let seen = seen.lock().unwrap();
    let (first_ns, _) = seen.arrivals[0];
    let (last_ns, _) = *seen.arrivals.last().unwrap();
    let most = |from_ms: u64, to_ms: u64| {
        let stretch =
            first_ns + from_ms * MILLISECOND_NS..first_ns + to_ms.saturating_mul(MILLISECOND_NS);
        let within = seen.arrivals.iter().filter(|(at_ns, _)| stretch.contains(at_ns));
        within.map(|(_, in_progress)| *in_progress).max().unwrap_or(0)
    };
    assert!((6..=8).contains(&seen.in_progress_max), "{}", seen.in_progress_max);
    // Two users by 100 ms; a little more, should the first have started late.
    assert!(most(0, 100) <= 3, "{}", most(0, 100));
    assert!(most(300, 500) > most(0, 100));
    // Three users at 700 ms, and one that has not yet heard.
    assert!(most(700, 900) <= 4, "{}", most(700, 900));
    assert!(last_ns - first_ns < 850 * MILLISECOND_NS);
}

/// Journeys whose event comes 200 ms after their request, and what the system saw of them.
fn with_events(load: &str, follow_up: &str) -> JourneyCounts {
    let hooks = Hooks::after_ms(200);
    let (server, _seen) = system(0, Some(hooks.sender()));
    let text = format!(
        "target: {}
channels: {{ hooks: {{ webhook: {{ listen: \"{}\" }} }} }}
journeys:
  visit:
    within: 5s
    linger: 1s
    steps:
      - {{ name: start, http: POST /start, key: body.id }}
{follow_up}
    stages: [{{ name: done, on: hooks, key: $.id }}]
load: {load}
health: {{ lag_p99_max: 5s, silent_max: 5s }}
",
        server.url(""),
        hooks.address,
    );
    let counts = believed(&run(&plan(&text, &[]), |_| {}));
    assert_eq!(counts.completed, counts.started, "{counts:?}");
    let per_journey = if follow_up.is_empty() { 1 } else { 2 };
    assert_eq!(server.requests(), counts.started * per_journey);
    counts
}

#[test]
fn a_user_waits_for_the_root_or_for_the_whole_journey() {
    let load =
        |until: &str| format!("{{ users: 3, think: 20ms, until: {until}, steady: 1s, drain: 6s }}");
    let of_journey = with_events(&load("journey"), "").started;
    let of_root = with_events(&load("root"), "").started;
    // Rounds of 220 ms and of 20 ms at least.
    assert!((3..=3 * 5).contains(&of_journey), "{of_journey}");
    assert!((20..=3 * 50).contains(&of_root), "{of_root}");
    assert!(of_root > 2 * of_journey, "{of_root} and {of_journey}");
}

#[test]
fn a_user_goes_on_once_though_steps_follow() {
    let follow_up = "      - { name: confirm, after: done, http: PUT /confirm }";
    // The bound on iterations keeps users that multiply from flooding the system.
    let root = "{ users: 2, think: 50ms, until: root, iterations: 300, steady: 1s, drain: 6s }";
    assert!(with_events(root, follow_up).started <= 2 * 20);
    let journey = "{ users: 2, think: 50ms, iterations: 300, steady: 1s, drain: 6s }";
    assert!(with_events(journey, follow_up).started <= 2 * 4);
}

#[test]
fn a_user_of_the_root_is_free_though_a_step_begins_with_its_end() {
    let hooks = Hooks::after_ms(0);
    let events = hooks.sender();
    let (starts, seen) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (counted, at_confirm) = (Arc::clone(&starts), Arc::clone(&seen));
    let system = System::start(move |asked, _| {
        if let Some(key) = asked.line.strip_prefix("POST /start/") {
            counted.fetch_add(1, Ordering::SeqCst);
            events.send(format!(r#"{{"id":"{key}"}}"#)).unwrap();
            // The event is known before the root has its answer.
            std::thread::sleep(Duration::from_millis(300));
        } else {
            // The step that follows ends after another journey has begun, or as late as can be.
            let give_up_ns = now_ns() + 2_500 * MILLISECOND_NS;
            while counted.load(Ordering::SeqCst) < 2 && now_ns() < give_up_ns {
                std::thread::sleep(Duration::from_millis(5));
            }
            let begun = counted.load(Ordering::SeqCst);
            // Only the first: each later one finds two anyway.
            let _ignored =
                at_confirm.compare_exchange(0, begun, Ordering::SeqCst, Ordering::SeqCst);
        }
        ok("{}")
    });
    let text = format!(
        "
channels: {{ hooks: {{ webhook: {{ listen: \"{}\" }} }} }}
journeys:
  visit:
    within: 10s
    steps:
      - {{ name: start, http: 'POST /start/{{{{ key }}}}', key: '{{{{ uuid() }}}}' }}
      - {{ name: confirm, after: done, http: PUT /confirm }}
    stages: [{{ name: done, on: hooks, key: $.id }}]
load: {{ users: 1, until: root, iterations: 4, steady: 20s, drain: 10s }}
",
        hooks.address
    );
    let counts = believed(&run_on(&system, &text, 1));
    assert_eq!((counts.started, counts.completed), (4, 4), "{counts:?}");
    let begun = seen.load(Ordering::SeqCst);
    assert!(begun >= 2, "{begun}: the user waited for the step after its root");
}

#[test]
fn the_report_says_what_a_closed_load_leaves_out() {
    let (server, _seen) = system(0, None);
    let said = |load: &str| {
        let run = visits(&server, load, 1);
        believed(&run);
        let text = render::text(&ReportModel::from_run(&run.file), false);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let sentence = "omit the load that a stall prevented";
    let closed = said("{ users: 2, iterations: 10, steady: 1s, drain: 1s }");
    assert!(closed.contains(sentence), "{closed}");
    let open = said("{ rate: 50/s, steady: 200ms, drain: 1s }");
    assert!(!open.contains(sentence), "{open}");
}
