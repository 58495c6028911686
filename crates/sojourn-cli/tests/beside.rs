//! Steps beside the journeys: setup, refresh and teardown.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use sojourn_engine::{RunOptions, Stop};
use sojourn_report::ReportModel;

use super::{
    common::{plan, registry},
    follow_up::{Hooks, System, assert_all_completed, ok, run_on},
};

#[test]
fn setup_refresh_and_teardown_share_the_token() {
    let system = System::start(|asked, _| match asked.line.as_str() {
        "POST /login" => ok(r#"{"token":"old"}"#),
        "POST /renew" => ok(r#"{"token":"new"}"#),
        _ if asked.headers["authorization"].starts_with("Bearer ") => ok("{}"),
        _ => (401, String::new(), Vec::new()),
    });
    let run = run_on(
        &system,
        r#"
setup: [{ name: log-in, http: POST /login, extract: { token: body.token } }]
refresh:
  - name: renew
    every: 400ms
    http: { method: POST, url: /renew, headers: { authorization: "Bearer {{ token }}" } }
    extract: { token: body.token }
teardown:
  - name: clean
    http:
      { method: DELETE, url: "/runs/{{ run_id }}", headers: { authorization: "Bearer {{ token }}" } }
journeys:
  work: { root: { http: { url: /work, headers: { authorization: "Bearer {{ token }}" } } } }
load: { rate: 50/s, steady: 1s, drain: 2s }
"#,
        2,
    );
    assert_all_completed(&run, 50);
    let tokens: Vec<_> = system
        .asked("GET /work")
        .iter()
        .map(|work| work.headers["authorization"].clone())
        .collect();
    let renewed = tokens.iter().filter(|token| *token == "Bearer new").count();
    assert_eq!(tokens[0], "Bearer old");
    assert_eq!(tokens[tokens.len() - 1], "Bearer new");
    assert!((10..=49).contains(&renewed), "{renewed}");
    assert_eq!(system.count("POST /login"), 1);
    let first_ns = system.asked("POST /renew")[0].at_ns;
    let start_ns = run.file.identity.start_monotonic_ns;
    assert!(first_ns >= start_ns + 400_000_000, "the interval counts from the run's start");
    assert_eq!(system.asked("POST /renew")[0].headers["authorization"], "Bearer old");
    let last = system.asked.lock().unwrap().last().unwrap().clone();
    assert_eq!(last.line, "DELETE /runs/test-run");
    assert_eq!(last.headers["authorization"], "Bearer new", "the old one may be dead");
}

#[test]
fn a_slow_renewal_is_not_followed_by_a_burst() {
    let slow = AtomicBool::new(true);
    let system = System::start(move |asked, _| {
        if asked.line == "POST /renew" && slow.swap(false, Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(700));
        }
        ok(r#"{"token":"t"}"#)
    });
    let run = run_on(
        &system,
        r#"
refresh: [{ name: renew, every: 100ms, http: POST /renew, extract: { token: body.token } }]
journeys: { work: { root: { http: GET /work } } }
load: { rate: 20/s, steady: 1400ms, drain: 2s }
"#,
        1,
    );
    assert_all_completed(&run, 28);
    let start_ns = run.file.identity.start_monotonic_ns;
    let renewals = system.asked("POST /renew");
    let slots: Vec<_> =
        renewals.iter().map(|asked| (asked.at_ns - start_ns) / 100_000_000).collect();
    assert!(slots.len() > 2, "{slots:?}");
    // One after the other, each within an interval of its own: the seven that the first one took
    // are not made up for.
    assert!(slots.windows(2).all(|pair| pair[0] < pair[1]), "{slots:?}");
}

#[test]
fn a_token_renewed_meanwhile_is_seen_by_a_journey_that_has_values_of_its_own() {
    let hooks = Hooks::after_ms(1_000);
    let events = hooks.sender();
    let system = System::start(move |asked, _| match asked.line.as_str() {
        "POST /login" => ok(r#"{"token":"old"}"#),
        "POST /renew" => ok(r#"{"token":"new"}"#),
        "POST /orders" => {
            events.send(r#"{"type":"Shipped","id":"o1"}"#.into()).unwrap();
            ok(r#"{"id":"o1"}"#)
        }
        _ => ok("{}"),
    });
    let run = run_on(
        &system,
        &r#"
setup: [{ name: log-in, http: POST /login, extract: { token: body.token } }]
refresh: [{ name: renew, every: 300ms, http: POST /renew, extract: { token: body.token } }]
channels: { events: { webhook: { listen: "HOOKS", path: / } } }
journeys:
  order:
    steps:
      - { name: place, http: POST /orders, extract: { order: body.id }, key: body.id }
      - name: thank
        after: shipped
        http: { url: "/thanks/{{ order }}", headers: { authorization: "{{ token }}" } }
    stages: [{ name: shipped, on: events, match: { type: Shipped }, key: $.id }]
    within: 5s
load: { rate: 1/s, steady: 1s, drain: 8s }
"#
        .replace("HOOKS", &hooks.address),
        1,
    );
    assert_all_completed(&run, 1);
    // A second after the answer that gave the journey its own value, and after three renewals.
    let thanks = system.asked("GET /thanks/o1");
    assert_eq!(thanks[0].headers["authorization"], "new");
}

#[test]
fn a_setup_that_fails_half_way_is_taken_down_and_says_both() {
    let system = System::start(|asked, _| match asked.line.as_str() {
        "POST /tenants" => ok(r#"{"id":"t1"}"#),
        "POST /users" => (500, String::new(), Vec::new()),
        _ => ok("{}"),
    });
    let text = format!(
        r#"
target: http://{}
setup:
  - {{ name: tenant, http: POST /tenants, extract: {{ tenant: body.id }} }}
  - {{ name: user, http: POST /users, extract: {{ user: body.id }} }}
  - {{ name: never, http: POST /never }}
teardown:
  - {{ name: drop-user, http: "DELETE /users/{{{{ user }}}}" }}
  - {{ name: drop-tenant, http: "DELETE /tenants/{{{{ tenant }}}}" }}
journeys: {{ work: {{ root: {{ http: GET /work }} }} }}
load: {{ rate: 20/s, steady: 200ms }}
"#,
        system.address
    );
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions::new(folder.path().join("run.sojourn"), "test-run".into());
    let stop = Stop::default();
    let ran = sojourn_engine::run(&plan(&text, &[]), &options, &registry(), &stop, &mut |_| {});
    let error = ran.unwrap_err();
    assert_eq!(
        error.message,
        "setup failed: step user: status 500, expected 2xx or 3xx\n\
         teardown failed: step drop-user: variable user has no value"
    );
    let lines: Vec<_> =
        system.asked.lock().unwrap().iter().map(|asked| asked.line.clone()).collect();
    assert_eq!(lines, ["POST /tenants", "POST /users", "DELETE /tenants/t1"]);
}

#[test]
fn a_failed_teardown_is_in_the_report() {
    let system = System::start(|asked, _| match asked.line.as_str() {
        "DELETE /all" => (500, String::new(), Vec::new()),
        _ => ok("{}"),
    });
    let run = run_on(
        &system,
        "
teardown: [{ name: clean, http: DELETE /all }]
journeys: { work: { root: { http: GET /work } } }
load: { rate: 20/s, steady: 200ms, drain: 2s }
",
        1,
    );
    assert_all_completed(&run, 4);
    assert_eq!(system.count("DELETE /all"), 1);
    let notes = ReportModel::from_run(&run.file).notes;
    assert!(notes.iter().any(|note| note.contains("teardown failed: step clean")), "{notes:?}");
    assert_eq!(notes, run.summary.notes);
}
