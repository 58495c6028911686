//! `discover` and `watch` on the payments system: what they say is what is there, and the file that
//! is written runs.

use std::process::{Command, Output};

use sojourn_demo::{Demo, DemoConfig};
use sojourn_metrics::{SeriesKey, SeriesPhase, names};

use super::common::{alone, plan, run};

const FILE: &str = "name: found
target: ${TARGET}
channels:
  events: { kafka: { brokers: \"${KAFKA}\", topics: [payments.events] } }
journeys:
  payment:
    root:
      http: { method: POST, url: /api/payment/create, json: { amount: 5, currency: GBP } }
      key: body.paymentId
load: { rate: 10/s, steady: 1s, drain: 10s }
health: { lag_p99_max: 5s, silent_max: 5s, tap_behind_max: 5s }
";

fn sojourn(arguments: &[&str], demo: &Demo, folder: &std::path::Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sojourn"))
        .args(arguments)
        .env("TARGET", demo.api_url())
        .env("KAFKA", demo.brokers())
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn the_events_of_a_root_are_found_and_the_file_that_is_written_runs() {
    let _turn = alone();
    let demo = Demo::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("journey.yaml"), FILE).unwrap();
    let found = sojourn(&["discover", "journey.yaml", "--quiet-for", "3s"], &demo, folder.path());
    let said = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(found.status.success(), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("payments.events  ")).collect();
    let types = ["PaymentInitiated", "PaymentCreated", "PaymentSettled", "PaymentCompleted"];
    assert_eq!(lines.len(), 4, "{said}");
    for (line, event_type) in lines.iter().zip(types) {
        assert!(line.contains(event_type) && line.contains("$.aggregateId = pay:{}"), "{said}");
    }
    let text = String::from_utf8(found.stdout).unwrap();
    let plan = plan(&text, &[("TARGET", demo.api_url()), ("KAFKA", demo.brokers())]);
    let stages: Vec<&str> =
        plan.journeys[0].stages.iter().map(|stage| stage.name.as_str()).collect();
    let expected = ["payment_initiated", "payment_created", "payment_settled", "payment_completed"];
    assert_eq!(stages, expected);
    let made = run(&plan, |_| {});
    let completed =
        SeriesKey::new(names::JOURNEYS_COMPLETED, &[("journey", "payment")], SeriesPhase::Steady);
    assert_eq!(made.file.store.counter(&completed), 10, "{text}");
    assert!(made.summary.causes.is_empty(), "{:?}", made.summary.causes);
    demo.stop().unwrap();
}

#[test]
fn watching_shows_messages_and_rates_and_wrong_names_are_said() {
    let _turn = alone();
    let demo = Demo::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("journey.yaml"), FILE).unwrap();
    let watched = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            sojourn(&["watch", "journey.yaml", "--json", "--for", "4s"], &demo, folder.path())
        });
        // Payments for as long as it watches: it opens its tap at some time within.
        while !watching.is_finished() {
            sojourn(&["run", "journey.yaml", "--once"], &demo, folder.path());
        }
        watching.join().unwrap()
    });
    assert!(watched.status.success());
    let out = String::from_utf8(watched.stdout).unwrap();
    let first: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!(first["channel"], "events");
    assert_eq!(first["payload"]["aggregateId"], first["key"]);
    let said = String::from_utf8_lossy(&watched.stderr).into_owned();
    assert!(said.contains("keys") && said.contains("/s"), "{said}");

    let wrong = sojourn(&["watch", "journey.yaml", "evnts"], &demo, folder.path());
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("there is events"));
    demo.stop().unwrap();
}
