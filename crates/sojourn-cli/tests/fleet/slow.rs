//! A generator that can't keep its schedule.

use std::time::Duration;

use super::*;
use crate::generators::signal;

/// It gets no processor for a second and a half. Of all arrivals a few are late for that, of its own
/// many: it is named, and the other one is not.
#[test]
fn a_late_generator_makes_the_run_void_and_is_named() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let load = "rate: 100/s, steady: 5s, drain: 10s";
    let plan = plan(&server.url(""), load).replace("lag_p99_max: 60s", "lag_p99_max: 500ms");
    let mut fleet = Fleet::start(folder(&plan), "plan.yaml", &["--generators", "2"]);
    for number in ["0", "1"] {
        let generator = fleet.generator(fleet.port).args(["--number", number]);
        fleet.generators.push(generator.start().unwrap());
    }
    until("the load has begun", || target.0.lock().unwrap().len() > 100);
    let slow = fleet.generators[1].pid();
    signal("-STOP", slow);
    std::thread::sleep(Duration::from_millis(1_500));
    signal("-CONT", slow);
    let ended = fleet.end();
    assert_eq!(ended.output.code, Some(3), "{}", ended.output);
    let causes = ended.report["verdict"]["causes"].as_array().unwrap();
    let lag: Vec<_> = causes.iter().filter(|cause| cause["name"] == "generator lag").collect();
    assert_eq!(lag.len(), 1, "{causes:?}");
    let detail = lag[0]["detail"].as_str().unwrap();
    assert!(detail.starts_with("generator process 1 (host "), "{detail}");
    assert!(!detail.contains("generator process 0"), "{detail}");
}
