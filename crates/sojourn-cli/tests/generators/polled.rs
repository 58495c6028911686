//! Polled stages of journeys that processes make: the coordinator asks for them.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use sojourn_testkit::sojourn;

use super::whole_run;
use crate::follow_up::{Hooks, System, ok};

/// Runs a plan against a system by two processes; the report.
fn run_on(system: &System, text: &str) -> (sojourn_testkit::Output, Value) {
    let folder = sojourn_testkit::temp_dir().unwrap();
    let head = format!(
        "name: polled\ntarget: http://{}\nhealth: {{ lag_p99_max: 60s, silent_max: 60s }}\n",
        system.address
    );
    std::fs::write(folder.path().join("plan.yaml"), head + text).unwrap();
    let words = ["run", "plan.yaml", "--quiet", "--format", "json", "--report", "r.json"];
    let words = words.iter().chain(&["--generators", "2", "--keep", "all"]);
    let output = sojourn(words).in_dir(folder.path()).run().unwrap();
    // A busy machine may make a run void; what was sent and counted is true all the same.
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let report = serde_json::from_str(&output.stdout).unwrap();
    (output, report)
}

/// Keys from answers, tokens that journeys and refresh steps got: each poll has its own journey's,
/// from whatever process that is.
#[test]
fn the_coordinator_asks_with_each_journeys_own_values() {
    let seen = Arc::new(Mutex::new(std::collections::BTreeMap::<String, usize>::new()));
    let polled = Arc::clone(&seen);
    let system = System::start(move |asked, number| {
        let (method, path) = asked.line.split_once(' ').unwrap();
        match (method, path) {
            ("POST", "/log-in") => ok(r#"{"token":"shared"}"#),
            ("POST", _) => ok(format!(r#"{{"id":"o{number}","ticket":"t{number}"}}"#)),
            _ => {
                let key = path.trim_start_matches("/orders/o").to_owned();
                let is_its = asked.headers["x-ticket"] == format!("t{key}");
                if !is_its || asked.headers["authorization"] != "shared" {
                    return (403, String::new(), Vec::new());
                }
                let mut polled = polled.lock().unwrap();
                let times = polled.entry(key).or_default();
                *times += 1;
                ok(if *times < 3 { r#"{"state":"open"}"# } else { r#"{"state":"done"}"# })
            }
        }
    });
    let text = r#"
setup: [{ name: log-in, http: POST /log-in, extract: { token: body.token } }]
journeys:
  order:
    steps: [{ name: place, http: POST /orders, key: body.id, extract: { ticket: body.ticket } }]
    stages:
      - name: done
        poll:
          http:
            url: "/orders/{{ key }}"
            headers: { x-ticket: "{{ ticket }}", authorization: "{{ token }}" }
          until: { body.state: done }
          every: 50ms
          budget: 2000/s
    within: 15s
load: { rate: 50/s, steady: 2s, drain: 15s }
"#;
    let (output, report) = run_on(&system, text);
    assert_eq!(report["ledger"]["balanced"], true, "{output}");
    assert_eq!(whole_run(&report, "started"), 100, "{output}");
    assert_eq!(whole_run(&report, "completed"), 100, "{output}");
    // The third answer ends the polling of each, and none was asked for by two.
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 100);
    assert!(seen.values().all(|times| *times == 3), "{seen:?}");
    assert_eq!(system.count("GET /orders/"), 300);
}

/// A journey's end does not overtake its hand-over: what has failed is asked for no more.
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
    let (output, report) = run_on(&system, &text.replace("HOOKS", &hooks.address));
    assert_eq!(whole_run(&report, "failed"), 20, "{output}");
    // 300 ms are six polls; some more until the end has come round. Fifteen seconds were 300.
    let polls = system.count("GET /orders/");
    assert!((40..=20 * 20).contains(&polls), "{polls}");
}
