//! Polled stages, against a server whose states flip at known instants.

use std::sync::{Arc, Mutex};

use sojourn_clock::{MILLISECOND_NS, SECOND_NS};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_record::{RunFile, Verdict};
use sojourn_report::{ReportModel, render};
use sojourn_testkit::{Reply, Request, Responder, Server, response};

use crate::common::{Run, plan, run};
use crate::follow_up::{Hooks, System, assert_all_completed, ok, run_on};

/// What really happened to one key; instants on the clock that the run uses too.
#[derive(Clone, Debug)]
struct Truth {
    flip_ns: u64,
    /// Arrivals of the polls of its state.
    polls_ns: Vec<u64>,
}

/// States by number; key k is `p-k`.
type Book = Arc<Mutex<Vec<Truth>>>;

/// Creates on POST, tells the state on GET.
struct Payments {
    book: Book,
    flip_after_ns: u64,
}

impl Responder for Payments {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let mut book = self.book.lock().expect("nobody panicked with the book");
        if request.method == "POST" {
            let key = format!(r#"{{"paymentId":"p-{}"}}"#, book.len());
            let flip_ns = request.arrival_ns + self.flip_after_ns;
            book.push(Truth { flip_ns, polls_ns: Vec::new() });
            return Reply::now(response(200, "application/json", key.as_bytes()));
        }
        let number = request.path.strip_prefix("/payments/p-").and_then(|k| k.parse().ok());
        let Some(truth) = number.and_then(|k: usize| book.get_mut(k)) else {
            return Reply::now(response(404, "text/plain", b"no such payment"));
        };
        truth.polls_ns.push(request.arrival_ns);
        let state = if request.arrival_ns < truth.flip_ns { "open" } else { "done" };
        let body = format!(r#"{{"state":"{state}"}}"#);
        Reply::now(response(200, "application/json", body.as_bytes()))
    }
}

/// A run with everything that really happened beside it.
struct Observed {
    run: Run,
    book: Vec<Truth>,
}

/// A run whose journeys must all complete.
fn observe(flip_after_ns: u64, poll: &str, load: &str) -> Observed {
    let book = Book::default();
    let server =
        Server::start(Payments { book: Arc::clone(&book), flip_after_ns }).expect("a port");
    let text = format!(
        r#"
target: {target}
journeys:
  payment:
    root:
      http: {{ method: POST, url: /payments, timeout: 2s }}
      key: body.paymentId
    stages:
      - name: visible
        poll: {{ url: "/payments/{{{{ key }}}}", until: {{ body.state: done }}, {poll} }}
    within: 15s
load:
  - {{ {load} }}
health: {{ lag_p99_max: 1s, silent_max: 5s }}
"#,
        target = server.url("")
    );
    let run = run(&plan(&text, &[]), |options| options.keep_all = true);
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    drop(server);
    let book = book.lock().expect("nobody panicked with the book").clone();
    let sum = |metric| run.file.store.sum(metric, &[], SeriesPhase::Steady);
    assert_eq!(sum(names::JOURNEYS_STARTED), book.len() as u64);
    assert_eq!(sum(names::JOURNEYS_COMPLETED), book.len() as u64);
    assert_eq!(sum(names::STEP_REQUESTS), book.len() as u64, "polls are not the step's requests");
    let polls: usize = book.iter().map(|truth| truth.polls_ns.len()).sum();
    let tags = [("journey", "payment"), ("stage", "visible")];
    let requests = run.file.store.sum(names::POLL_REQUESTS, &tags, SeriesPhase::Any);
    assert_eq!(requests, polls as u64);
    Observed { run, book }
}

/// Each kept journey's stage instant on the monotonic clock, with its truth.
fn seen<'a>(file: &RunFile, book: &'a [Truth]) -> Vec<(u64, &'a Truth)> {
    let journeys = file.journeys.iter();
    let instants = journeys.map(|journey| {
        let key = journey.key.as_deref().expect("a key");
        let number: usize = key.strip_prefix("p-").and_then(|k| k.parse().ok()).expect("our key");
        let stage = journey.stages.first().expect("one stage");
        assert_eq!(stage.name, "visible");
        let seen_ns = stage.seen_ns.expect("it was reached") + file.identity.start_monotonic_ns;
        (seen_ns, &book[number])
    });
    instants.collect()
}

#[test]
fn a_state_is_seen_within_one_interval_of_its_flip() {
    let every_ns = 100 * MILLISECOND_NS;
    let load = "rate: 40/s, steady: 1s";
    let Observed { run, book } =
        observe(350 * MILLISECOND_NS, "every: 100ms, budget: 1000/s", load);
    assert_eq!(book.len(), 40);
    let seen = seen(&run.file, &book);
    assert_eq!(seen.len(), 40);
    let mut in_time = 0;
    for (seen_ns, truth) in &seen {
        let after: Vec<_> = truth.polls_ns.iter().filter(|&&at| at >= truth.flip_ns).collect();
        assert_eq!(after.len(), 1, "the first answer that fits ends the polling: {truth:?}");
        assert!(seen_ns >= after[0], "seen at {seen_ns}: {truth:?}");
        in_time += u64::from(*seen_ns <= truth.flip_ns + every_ns + 50 * MILLISECOND_NS);
    }
    // The machine may hold up a few; a poller that is late as a rule holds up more.
    assert!(in_time >= 36, "{in_time} of 40 were seen within the interval and 50 ms");
    let text = render::text(&ReportModel::from_run(&run.file), false);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // A hundred, and a few for those that were due at once and went one by one, or later still where
    // the machine held one up.
    let said = text.split_once("visible is polled: it was reached up to ").expect("said").1;
    let up_to_ms: u64 = said.split(' ').next().and_then(|word| word.parse().ok()).expect("ms");
    assert!((100..150).contains(&up_to_ms), "{text}");
    assert!(text.contains("polled every 100 ms"), "{text}");
}

#[test]
fn a_budget_is_kept_and_shared_evenly() {
    let load = "rate: 20/s, count: 10, steady: 1s";
    let Observed { run, book } = observe(2 * SECOND_NS, "every: 50ms, budget: 20/s", load);
    assert_eq!(book.len(), 10);
    let polls: u64 = book.iter().map(|truth| truth.polls_ns.len() as u64).sum();
    let report = ReportModel::from_run(&run.file);
    let waited = report.journeys[0].stages[0].poll_waited_ns.expect("the budget was short").count;
    // Ten are due in each 50 ms, one may go: all but a first few waited.
    assert!((polls - 10..=polls).contains(&waited), "{waited} of {polls} polls waited");
    let mut polls_ns: Vec<u64> = book.iter().flat_map(|truth| truth.polls_ns.clone()).collect();
    polls_ns.sort_unstable();
    let span_ns = polls_ns[polls_ns.len() - 1] - polls_ns[0];
    // One each 50 ms; 250 ms for a first poll that the machine delivered late.
    let most = 1 + (span_ns + 250 * MILLISECOND_NS) / (50 * MILLISECOND_NS);
    assert!(polls_ns.len() as u64 <= most, "{} polls, at most {most}", polls_ns.len());
    // Two seconds are 40 polls, 4 for each key; 2 even if half of the time is lost.
    for (number, truth) in book.iter().enumerate() {
        let before = truth.polls_ns.iter().filter(|&&at| at < truth.flip_ns).count();
        assert!((2..=8).contains(&before), "p-{number} was polled {before} times: {book:?}");
    }
}

/// Ten in a hundred are poisoned and slow: once the others are done, the whole budget is theirs.
#[test]
fn poisoned_journeys_have_no_budget_apart() {
    struct Slow(Book);
    impl Responder for Slow {
        fn body_max(&mut self, _request: &Request<'_>) -> usize {
            1_000
        }

        fn respond(&mut self, request: &Request<'_>) -> Reply {
            let is_bad = request.body.windows(3).any(|word| word == b"bad");
            let flip_after_ns = if is_bad { 2 * SECOND_NS } else { 0 };
            Payments { book: Arc::clone(&self.0), flip_after_ns }.respond(request)
        }
    }
    let book = Book::default();
    let server = Server::start(Slow(Arc::clone(&book))).expect("a port");
    let text = format!(
        r#"
target: {target}
seed: 7
channels: {{ dead: {{ webhook: {{ listen: "127.0.0.1:0" }} }} }}
journeys:
  payment:
    root:
      http: {{ method: POST, url: /payments, json: {{ kind: good }} }}
      key: body.paymentId
      poison: {{ share: 10%, set: {{ kind: bad }} }}
    stages:
      - {{ name: refused, on: dead, key: $.id, failure: true }}
      - name: visible
        poll:
          url: "/payments/{{{{ key }}}}"
          until: {{ body.state: done }}
          every: 50ms
          budget: 20/s
    within: 15s
load:
  - {{ rate: 100/s, count: 20, steady: 1s }}
health: {{ lag_p99_max: 1s, silent_max: 5s }}
"#,
        target = server.url("")
    );
    let run = run(&plan(&text, &[]), |options| options.keep_all = true);
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    drop(server);
    let book = book.lock().expect("nobody panicked with the book").clone();
    let first_ns = book.iter().map(|truth| truth.flip_ns).min().expect("journeys");
    let slow: Vec<_> = book.iter().filter(|truth| truth.flip_ns > first_ns + SECOND_NS).collect();
    assert!(!slow.is_empty() && slow.len() < 8, "{} of {} are poisoned", slow.len(), book.len());
    let polls: usize = slow.iter().map(|truth| truth.polls_ns.len()).sum();
    // A second for the others' polls, then 20 a second. With a tenth of it, 2 a second: 4.
    assert!(polls >= 12, "{polls} polls of {} poisoned journeys", slow.len());
}

#[test]
fn a_journey_that_has_failed_is_asked_for_no_more() {
    let hooks = Hooks::after_ms(300);
    let events = hooks.sender();
    let system = System::start(move |asked, number| match asked.line.as_str() {
        "POST /orders" => {
            events.send(format!(r#"{{"type":"Refused","id":"o{number}"}}"#)).unwrap();
            ok(format!(r#"{{"id":"o{number}"}}"#))
        }
        _ => ok(r#"{"state":"open"}"#),
    });
    let text = r#"
channels: { events: { webhook: { listen: "HOOKS" } } }
journeys:
  order:
    steps: [{ name: place, http: POST /orders, key: body.id }]
    stages:
      - name: done
        poll: { url: "/orders/{{ key }}", until: { body.state: done }, every: 50ms, budget: 2000/s }
      - { name: refused, on: events, match: { type: Refused }, key: $.id, failure: true }
    within: 15s
load: { rate: 10/s, steady: 2s, drain: 15s }
"#;
    let run = run_on(&system, &text.replace("HOOKS", &hooks.address), 1);
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    assert_eq!(run.file.store.sum(names::JOURNEYS_FAILED, &[], SeriesPhase::Steady), 20);
    for journey in &run.file.journeys {
        let key = journey.key.as_deref().unwrap();
        let failed_ns = journey.end_ns + run.file.identity.start_monotonic_ns;
        let line = format!("GET /orders/{key}");
        let mut polls = system.asked(&line);
        polls.retain(|poll| poll.line == line);
        assert!(polls.iter().any(|poll| poll.at_ns < failed_ns), "{key} was polled");
        // The word of its end takes some milliseconds, not the fifteen seconds to its deadline.
        let late = polls.iter().filter(|poll| poll.at_ns > failed_ns + SECOND_NS / 2).count();
        assert_eq!(late, 0, "{key} failed at {failed_ns}: {polls:?}");
    }
}

#[test]
fn a_poll_takes_the_token_that_was_renewed_meanwhile() {
    let system = System::start(|asked, _| match asked.line.as_str() {
        "POST /renew" => ok(r#"{"token":"new"}"#),
        "GET /state" if asked.headers["authorization"] == "new" => ok(r#"{"state":"done"}"#),
        _ => ok(r#"{"state":"open","token":"old"}"#),
    });
    let run = run_on(
        &system,
        r#"
setup: [{ name: log-in, http: POST /login, extract: { token: body.token } }]
refresh: [{ name: renew, every: 500ms, http: POST /renew, extract: { token: body.token } }]
journeys:
  order:
    steps: [{ name: place, http: POST /orders }]
    stages:
      - name: done
        poll:
          http: { url: /state, headers: { authorization: "{{ token }}" } }
          until: { body.state: done }
          every: 50ms
    within: 15s
load: { rate: 1/s, steady: 1s, drain: 15s }
"#,
        1,
    );
    assert_all_completed(&run, 1);
    let polls = system.asked("GET /state");
    assert_eq!(polls[0].headers["authorization"], "old");
    assert_eq!(polls[polls.len() - 1].headers["authorization"], "new");
}
