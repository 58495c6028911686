//! Connections that are cut and come back.

use std::time::Duration;

use sojourn_testkit::services::CutProxy;

use super::*;

/// For two seconds one of two generators has no connection, and cannot make one. Both go on all the
/// while, and nothing is lost or told twice.
#[test]
fn a_cut_of_two_seconds_costs_nothing() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let plan = plan(&server.url(""), "rate: 100/s, steady: 7s, drain: 20s");
    let fleet = Fleet::start(folder(&plan), "plan.yaml", &["--generators", "2"]);
    let proxy = CutProxy::start(([127, 0, 0, 1], fleet.port).into()).unwrap();
    let fleet = fleet.join(1).join_at(proxy.port());
    until("the load has begun", || target.0.lock().unwrap().len() > 100);
    proxy.refuse();
    assert_eq!(proxy.cut(), 1);
    let before = target.0.lock().unwrap().len();
    std::thread::sleep(Duration::from_secs(2));
    // Neither has stopped: together they make a hundred a second.
    assert!(target.0.lock().unwrap().len() > before + 150);
    proxy.admit().unwrap();
    let ended = fleet.end();
    let asked = target.sorted().len() - 1;
    assert_eq!(asked, 700, "{}", ended.output);
    for class in ["scheduled", "started", "completed"] {
        assert_eq!(whole_run(&ended.report, class), 700, "{class}: {}", ended.output);
    }
    assert_eq!(ended.report["ledger"]["balanced"], true);
    assert_eq!(ended.causes(), Vec::<String>::new(), "{}", ended.output);
    let notes = ended.notes();
    assert!(notes.contains("was cut off 1 ×, for "), "{notes}");
    for generator in &ended.generators {
        assert_eq!(generator.code, Some(0), "{generator}");
    }
}
