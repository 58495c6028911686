//! What a plan asks for beyond one request: several steps, steps after stages, what makes a journey
//! fail, data, redirects, thresholds. Counted at the system's side.

mod system;

use std::{io::Write, sync::Mutex, time::Duration};

use flate2::{Compression, write::GzEncoder};
use sojourn_record::Verdict;
use sojourn_report::{
    ReportModel,
    model::{EventCounts, JourneyCounts, KeptJourney, SpanKind},
};

use super::common::{Run, plan, run};
pub(crate) use system::{Hooks, System, ok};

/// Runs a plan against a system.
pub(crate) fn run_on(system: &System, text: &str, threads: u32) -> Run {
    let target = format!(
        "target: http://{}\nhealth: {{ lag_p99_max: 5s, silent_max: 5s }}\n",
        system.address
    );
    run(&plan(&(target + text), &[]), |options| {
        options.threads = threads;
        options.linger_ns = 300_000_000;
    })
}

/// The counts of a run that may be believed.
fn believed(run: &Run) -> (JourneyCounts, EventCounts) {
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    let ledger = ReportModel::from_run(&run.file).ledger;
    assert!(ledger.balanced);
    (ledger.journeys_total.whole_run, ledger.events_total.whole_run)
}

pub(crate) fn assert_all_completed(run: &Run, started: u64) {
    let (counts, _) = believed(run);
    assert_eq!((counts.started, counts.completed), (started, started), "{counts:?}");
}

#[test]
fn steps_hand_values_on_and_a_failing_check_ends_the_journey() {
    let system = System::start(|asked, _| match asked.line.split('?').next().unwrap() {
        "POST /carts" => ok(r#"{"id":"c1","items":[{"sku":"s7"}]}"#),
        "GET /carts/c1/s7" => (200, "x-order: o9\r\n".into(), b"<a href='/pay/p5'>".to_vec()),
        "PUT /pay/p5/o9" if asked.line.ends_with("0") => ok(r#"{"state":"refused"}"#),
        "PUT /pay/p5/o9" => ok(r#"{"state":"paid"}"#),
        "GET /receipt" => ok("{}"),
        _ => (404, String::new(), Vec::new()),
    });
    let run = run_on(
        &system,
        r#"
journeys:
  order:
    steps:
      - name: cart
        http: POST /carts
        extract: { cart: body.id, sku: "$.items[0].sku" }
      - name: item
        http: GET /carts/{{ cart }}/{{ sku }}
        extract: { order: header.X-Order, pay: "regex:href='/pay/([a-z0-9]+)'" }
      - name: pay
        http: PUT /pay/{{ pay }}/{{ order }}?n={{ seq() }}
        expect: { status: 200, body.state: paid }
      - { name: receipt, http: GET /receipt }
load: { rate: 40/s, steady: 1s, drain: 2s }
"#,
        1,
    );
    let (counts, _) = believed(&run);
    assert_eq!((counts.started, counts.completed, counts.root_failed), (40, 36, 4), "{counts:?}");
    assert_eq!(system.count("PUT /pay/p5/o9"), 40);
    assert_eq!(system.count("GET /receipt"), 36, "nothing follows a step that failed");
    let report = ReportModel::from_run(&run.file);
    let pay = report.journeys[0].steps.iter().find(|step| step.name == "pay").unwrap();
    assert_eq!((pay.requests, pay.ok, pay.failed), (40, 36, 4));
    assert_eq!(pay.errors[0].count, 4);
    let kept = |role| {
        let kept = report.journeys[0].kept.iter().find(|kept| kept.role == role);
        bars(kept.unwrap_or_else(|| panic!("no {role} journey was kept")))
    };
    assert_eq!(kept("median"), ["cart", "item", "pay", "receipt"]);
    assert_eq!(kept("failed"), ["cart", "item", "pay"]);
}

/// Names of a kept journey's steps and stages; each step begins when the one before it has ended.
fn bars(kept: &KeptJourney) -> Vec<&str> {
    let steps = kept.spans.iter().filter(|span| span.kind == SpanKind::Step);
    let mut before_ns = 0;
    for step in steps {
        let (from_ns, to_ns) = (step.from_ns.unwrap(), step.to_ns.unwrap());
        assert!(before_ns <= from_ns && from_ns < to_ns, "{kept:?}");
        before_ns = to_ns;
    }
    kept.spans.iter().map(|span| span.name.as_str()).collect()
}

/// A system whose `POST /start` answers a fresh id and causes `events` about it; `PUT /confirm/ID`
/// causes a `Confirmed`.
fn eventful(hooks: &Hooks, events: fn(id: &str) -> Vec<String>) -> System {
    let sender = Mutex::new(hooks.sender());
    System::start(move |asked, number| {
        let send = |event| sender.lock().unwrap().send(event).unwrap();
        if let Some(id) = asked.line.strip_prefix("PUT /confirm/") {
            send(event("Confirmed", id, ""));
            return ok("{}");
        }
        let id = format!("j{number}");
        events(&id).into_iter().for_each(send);
        ok(format!(r#"{{"id":"{id}"}}"#))
    })
}

fn event(kind: &str, id: &str, more: &str) -> String {
    format!(r#"{{"type":"{kind}","id":"{id}"{more}}}"#)
}

/// Ten journeys with these stages, and what became of them and of the events.
fn ten(events: fn(&str) -> Vec<String>, stages: &str) -> (JourneyCounts, EventCounts, System) {
    let hooks = Hooks::after_ms(30);
    let system = eventful(&hooks, events);
    let text = format!(
        r#"
channels: {{ hooks: {{ webhook: {{ listen: "{}" }} }} }}
journeys:
  order:
    within: 2s
    linger: 500ms
    steps:
      - {{ name: start, http: POST /start, key: body.id }}
{stages}
load: {{ rate: 20/s, steady: 500ms, drain: 4s }}
"#,
        hooks.address
    );
    let run = run_on(&system, &text, 1);
    let (counts, events) = believed(&run);
    assert_eq!((counts.started, system.count("POST /start")), (10, 10));
    (counts, events, system)
}

#[test]
fn a_step_follows_its_stage() {
    let (counts, events, system) = ten(
        |id| vec![event("Reserved", id, "")],
        r#"      - { name: confirm, after: reserved, http: "PUT /confirm/{{ key }}" }
    stages:
      - { name: reserved, on: hooks, match: { type: Reserved }, key: $.id }
      - { name: confirmed, on: hooks, match: { type: Confirmed }, key: $.id }"#,
    );
    assert_eq!((counts.completed, system.count("PUT /confirm/j")), (10, 10), "{counts:?}");
    assert_eq!((events.seen, events.matched), (20, 20), "{events:?}");
}

#[test]
fn what_must_not_happen_fails_the_journey() {
    let stage = |extra: &str| {
        format!(
            "    stages:
      - {{ name: settled, on: hooks, match: {{ type: Settled }}, key: $.id }}
      - {{ name: wrong, on: hooks, match: {{ type: Wrong }}, key: $.id, {extra}: true }}"
        )
    };
    for extra in ["never", "failure"] {
        let both = |id: &str| vec![event("Wrong", id, ""), event("Settled", id, "")];
        let (counts, ..) = ten(both, &stage(extra));
        assert_eq!((counts.failed, counts.completed), (10, 0), "{extra}: {counts:?}");
        let (counts, ..) = ten(|id| vec![event("Settled", id, "")], &stage(extra));
        assert_eq!((counts.failed, counts.completed), (0, 10), "{extra}: {counts:?}");
    }
}

#[test]
fn an_event_with_the_wrong_content_fails_the_journey() {
    let stage = "    stages:
      - { name: settled, on: hooks, match: { type: Settled }, key: $.id, check: { $.sum: 7 } }";
    let right = |id: &str| vec![event("Settled", id, r#","sum":7"#)];
    assert_eq!(ten(right, stage).0.completed, 10);
    let wrong = |id: &str| vec![event("Settled", id, r#","sum":8"#)];
    assert_eq!(ten(wrong, stage).0.failed, 10);
}

#[test]
fn a_fan_out_counts_each_member_once() {
    let stage = "    stages:
      - { name: posted, on: hooks, match: { type: Posted }, key: $.id, expect: 3, member: $.m }";
    let whole = |id: &str| ["a", "a", "b", "c"].map(|m| event("Posted", id, &member(m))).to_vec();
    let (counts, events, _) = ten(whole, stage);
    assert_eq!(counts.completed, 10, "{counts:?}");
    assert_eq!((events.matched, events.duplicates()), (30, 10), "{events:?}");
    let short = |id: &str| ["a", "b", "b"].map(|m| event("Posted", id, &member(m))).to_vec();
    let (counts, ..) = ten(short, stage);
    assert_eq!((counts.completed, counts.lost), (0, 10), "{counts:?}");
}

fn member(name: &str) -> String {
    format!(r#","m":"{name}""#)
}

#[test]
fn weights_divide_the_arrivals() {
    let system = System::start(|_, _| ok("{}"));
    let text = "
journeys:
  often: { root: { http: GET /often } }
  seldom: { root: { http: GET /seldom } }
load: { journeys: { often: 3, seldom: 1 }, rate: 100/s, steady: 1500ms, drain: 2s }
";
    let run = run_on(&system, text, 1);
    assert_all_completed(&run, 150);
    let (often, seldom) = (system.count("GET /often"), system.count("GET /seldom"));
    assert_eq!(often + seldom, 150);
    // Binomial: 112.5, and five times the deviation of 5.3.
    assert!((86..=139).contains(&often), "{often}");
    let report = ReportModel::from_run(&run.file);
    let lines: Vec<_> =
        report.ledger.journeys.iter().map(|line| line.whole_run.completed).collect();
    assert_eq!(lines, [often, seldom]);
}

#[test]
fn two_threads_send_what_one_sends() {
    let lines = [1, 2].map(|threads| {
        let system = System::start(|_, _| ok("{}"));
        let text = "
journeys: { visit: { root: { http: 'GET /v/{{ seq() }}/{{ int(1, 1000000) }}' } } }
load: { arrivals: poisson, rate: 80/s, warmup: 200ms, steady: 800ms, drain: 2s }
";
        let run = run_on(&system, text, threads);
        let mut lines: Vec<_> = system.asked("").into_iter().map(|asked| asked.line).collect();
        assert_all_completed(&run, lines.len() as u64);
        lines.sort();
        lines
    });
    assert!((35..=125).contains(&lines[0].len()), "{}", lines[0].len());
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn thresholds_fail_a_run_and_may_end_it() {
    let system = System::start(|_, _| (500, String::new(), Vec::new()));
    let run_with = |threshold: &str, steady: &str| {
        let text = format!(
            "
journeys: {{ visit: {{ root: {{ http: GET /v }} }} }}
load: {{ rate: 20/s, steady: {steady}, drain: 2s }}
thresholds: [{threshold}]
"
        );
        run_on(&system, &text, 1)
    };
    let failed = run_with("errors.rate < 5%", "300ms");
    assert_eq!(failed.summary.verdict, Verdict::Fail);
    assert_eq!(sojourn_engine::exit_code(&failed.summary), 99);
    let held = run_with("lost == 0", "300ms");
    assert_eq!(sojourn_engine::exit_code(&held.summary), 0);

    let before = system.count("");
    let begun_ns = sojourn_clock::now_ns();
    let ended = run_with("{ threshold: errors.rate < 5%, abort: true }", "30s");
    assert!(
        Duration::from_nanos(sojourn_clock::now_ns() - begun_ns) < Duration::from_secs(10),
        "{:?}",
        Duration::from_nanos(sojourn_clock::now_ns() - begun_ns)
    );
    assert_eq!(sojourn_engine::exit_code(&ended.summary), 99);
    let (counts, _) = believed(&ended);
    assert_eq!(counts.started, system.count("") - before);
    assert!(counts.started < 200, "{}", counts.started);
    assert!(ended.summary.notes.iter().any(|note| note.contains("errors.rate < 5%")));
}

#[test]
fn rows_are_used_in_order_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users.csv");
    std::fs::write(&file, "name,age\nann,31\n\"o'neil, bob\",40\nzoë,7\n").unwrap();
    let system = System::start(|_, _| ok("{}"));
    let text = format!(
        "
data: {{ users: {{ csv: '{}' }} }}
journeys:
  search: {{ root: {{ http: 'GET /{{{{ seq() }}}}/{{{{ row.name }}}}/{{{{ row.users.age }}}}' }} }}
load: {{ rate: 50/s, steady: 200ms, drain: 2s }}
",
        file.display()
    );
    for threads in [1, 2] {
        assert_all_completed(&run_on(&system, &text, threads), 10);
    }
    let rows = ["ann/31", "o%27neil%2C%20bob/40", "zo%C3%AB/7"];
    for k in 0..10 {
        assert_eq!(system.count(&format!("GET /{k}/{}", rows[k % 3])), 2, "row of journey {k}");
    }
}

#[test]
fn redirects_stay_with_the_plans_hosts() {
    let other = System::start(|_, _| ok("{}"));
    // The same machine by a name that the plan does not have.
    let away = format!("location: http://localhost:{}/there\r\n", other.address.port());
    let system = System::start(move |asked, _| match asked.line.as_str() {
        "GET /hop" => (302, "location: /there\r\n".into(), Vec::new()),
        "GET /away" => (302, away.clone(), Vec::new()),
        _ => ok(r#"{"id":"x"}"#),
    });
    let run_to = |path: &str, more: &str| {
        let text = format!(
            "
{more}
journeys: {{ visit: {{ root: {{ http: {{ url: {path}, redirects: 2 }}, expect: {{ status: 200 }} }} }} }}
load: {{ rate: 20/s, steady: 250ms, drain: 2s }}
"
        );
        run_on(&system, &text, 1)
    };
    assert_all_completed(&run_to("/hop", ""), 5);
    assert_eq!((system.count("GET /hop"), system.count("GET /there")), (5, 5));
    let refused = run_to("/away", "");
    let (counts, _) = believed(&refused);
    assert_eq!((counts.root_failed, other.count("")), (5, 0), "{counts:?}");
    let errors = &ReportModel::from_run(&refused.file).journeys[0].steps[0].errors;
    assert!(errors[0].reason.contains("localhost"), "{errors:?}");
    assert_all_completed(&run_to("/away", "allow_hosts: [localhost]"), 5);
    assert_eq!(other.count("GET /there"), 5);
}

#[test]
fn credentials_stay_with_the_origin_they_were_meant_for() {
    let other = System::start(|_, _| ok("{}"));
    // The same host, another port.
    let away = format!("location: http://127.0.0.1:{}/there\r\n", other.address.port());
    let system = System::start(move |asked, _| match asked.line.as_str() {
        "GET /hop" => (302, "location: /there\r\n".into(), Vec::new()),
        "GET /away" => (302, away.clone(), Vec::new()),
        _ => ok("{}"),
    });
    let run_to = |path: &str| {
        let text = format!(
            "
journeys:
  visit:
    root:
      http:
        url: {path}
        redirects: 2
        headers: {{ authorization: Bearer a, cookie: c=1, x-api-key: k, x-session-token: t, x-plain: p }}
      expect: {{ status: 200 }}
load: {{ rate: 20/s, steady: 100ms, drain: 2s }}
"
        );
        assert_all_completed(&run_on(&system, &text, 1), 2);
    };
    run_to("/hop");
    run_to("/away");
    let names = ["authorization", "cookie", "x-api-key", "x-session-token", "x-plain"];
    for asked in system.asked("GET /there") {
        assert!(names.iter().all(|name| asked.headers.contains_key(*name)), "{asked:?}");
    }
    assert_eq!(other.count("GET /there"), 2);
    for asked in other.asked("GET /there") {
        let kept: Vec<_> = names.iter().filter(|name| asked.headers.contains_key(**name)).collect();
        assert_eq!(kept, [&"x-plain"], "{asked:?}");
    }
}

#[test]
fn a_request_that_cannot_be_written_is_counted_as_not_sent() {
    let system = System::start(|_, _| ok(r#"{"token":"t"}"#));
    // A value that nobody has set yet.
    let text = r#"
refresh: [{ name: renew, every: 1h, http: GET /token, extract: { token: body.token } }]
journeys:
  visit:
    steps:
      - { name: first, http: GET /v }
      - { name: second, http: "GET /w/{{ token }}" }
load: { rate: 20/s, steady: 500ms, drain: 2s }
"#;
    let run = run_on(&system, text, 1);
    let (counts, _) = believed(&run);
    assert_eq!((counts.started, counts.root_failed), (10, 10), "{counts:?}");
    assert_eq!(system.count("GET /w"), 0);
    let report = ReportModel::from_run(&run.file);
    let step = &report.journeys[0].steps[1];
    assert_eq!((step.requests, step.ok, step.failed), (10, 0, 10));
    let statuses: Vec<_> = step.statuses.iter().map(|row| (&*row.status, row.count)).collect();
    assert_eq!(statuses, [("not sent", 10)]);
    let errors: u64 = step.errors.iter().map(|row| row.count).sum();
    assert!(errors == 10 && step.errors[0].reason.starts_with("not sent: "), "{:?}", step.errors);
    let count = |times: Option<sojourn_report::model::Distribution>| times.map_or(0, |t| t.count);
    let times = &step.response_ns;
    assert_eq!((count(times.all), count(times.ok), count(times.failed)), (10, 0, 10));
}

#[test]
fn a_compressed_answer_is_read() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(br#"{"items":[{"id":"packed"}]}"#).unwrap();
    let packed = encoder.finish().unwrap();
    let system = System::start(move |asked, _| match asked.line.as_str() {
        "GET /list" => (200, "content-encoding: gzip\r\n".into(), packed.clone()),
        "GET /items/packed" => ok("{}"),
        _ => (404, String::new(), Vec::new()),
    });
    let text = r#"
journeys:
  visit:
    steps:
      - { name: list, http: GET /list, extract: { id: "$.items[0].id" } }
      - { name: item, http: "GET /items/{{ id }}" }
load: { rate: 20/s, steady: 500ms, drain: 2s }
"#;
    assert_all_completed(&run_on(&system, text, 1), 10);
    assert_eq!(system.count("GET /items/packed"), 10);
}

#[test]
fn a_run_without_arrivals_ends() {
    let system = System::start(|_, _| ok("{}"));
    let text = "
journeys: { visit: { root: { http: GET /v } } }
load: { arrivals: poisson, rate: 1/h, steady: 1s, drain: 2s }
";
    let begun_ns = sojourn_clock::now_ns();
    let run = run_on(&system, text, 2);
    assert_all_completed(&run, 0);
    assert_eq!(system.count(""), 0);
    assert!(
        Duration::from_nanos(sojourn_clock::now_ns() - begun_ns) < Duration::from_secs(6),
        "{:?}",
        Duration::from_nanos(sojourn_clock::now_ns() - begun_ns)
    );
}
