//! Figures by label against what the target saw, and the label that it treats worse.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use sojourn_record::Verdict;
use sojourn_report::ReportModel;
use sojourn_testkit::{Reply, Request, Responder, Server, response};

use crate::common::{plan, run};

const TENANTS: [&str; 4] = ["acme", "globex", "initech", "umbrella"];
const QUICK: Duration = Duration::from_millis(5);

/// Counts requests by tenant, and lets one of them wait longer.
#[derive(Clone)]
struct Tenants {
    seen: Arc<Mutex<BTreeMap<String, u64>>>,
    slow: Duration,
}

impl Responder for Tenants {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let tenant = request.path.trim_start_matches('/').to_owned();
        let delay = if tenant == "globex" { self.slow } else { QUICK };
        *self.seen.lock().unwrap().entry(tenant).or_default() += 1;
        let due_ns = sojourn_clock::now_ns() + delay.as_nanos() as u64;
        Reply::at(due_ns, response(200, "text/plain", b"ok"))
    }
}

/// The report of 400 journeys, and how many of each tenant's the target saw.
fn loaded(slow: Duration) -> (ReportModel, BTreeMap<String, u64>) {
    let tenants = Tenants { seen: Arc::default(), slow };
    let server = Server::start(tenants.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenants.csv");
    std::fs::write(&file, format!("name\n{}\n", TENANTS.join("\n"))).unwrap();
    let text = format!(
        "
target: {}
data: {{ tenants: {{ csv: '{}' }} }}
health: {{ lag_p99_max: 5s, silent_max: 5s }}
journeys:
  call: {{ label: '{{{{ row.tenants.name }}}}', root: {{ http: 'GET /{{{{ row.tenants.name }}}}' }} }}
load: {{ rate: 200/s, count: 400, drain: 5s }}
",
        server.url(""),
        file.display()
    );
    let run = run(&plan(&text, &[]), |_| {});
    assert_ne!(run.summary.verdict, Verdict::Void, "{:?}", run.summary.causes);
    let seen = tenants.seen.lock().unwrap().clone();
    (ReportModel::from_run(&run.file), seen)
}

fn accused(model: &ReportModel) -> Vec<&str> {
    let found = model.conclusions.iter().filter(|found| found.definition == "fairness");
    found.map(|found| found.text.as_str()).collect()
}

#[test]
fn the_label_that_waits_longer_is_named_and_every_journey_counted() {
    let (model, seen) = loaded(Duration::from_millis(80));
    let labels = model.journeys[0].labels.as_ref().unwrap();
    let counted: BTreeMap<String, u64> =
        labels.rows.iter().map(|row| (row.label.clone(), row.started)).collect();
    assert_eq!(counted, seen);
    assert!(labels.rows.iter().all(|row| row.completed == row.started));
    assert_eq!(labels.rows[0].label, "globex");
    let slow_ms = labels.rows[0].duration_ns.as_ref().unwrap().min as f64 / 1e6;
    assert!((80.0..160.0).contains(&slow_ms), "{slow_ms} ms");
    let fairness = labels.fairness.as_ref().unwrap();
    assert_eq!(fairness.service_index, Some(1.0));
    assert!(fairness.speed_index.unwrap() < 0.95, "{fairness:?}");
    let accused = accused(&model);
    assert_eq!(accused.len(), 1, "{accused:?}");
    assert!(accused[0].starts_with("globex waits longer than the others"), "{accused:?}");
}

#[test]
fn equals_are_not_accused() {
    let (model, seen) = loaded(QUICK);
    assert_eq!(seen.values().sum::<u64>(), 400);
    assert_eq!(accused(&model), Vec::<&str>::new());
    let fairness = model.journeys[0].labels.as_ref().unwrap().fairness.clone().unwrap();
    assert_eq!(fairness.service_index, Some(1.0));
}
