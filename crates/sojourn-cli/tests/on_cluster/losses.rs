//! Generators that are lost, and coordinators.

use std::time::Duration;

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_record::RunFile;

use super::cluster::{Fault, cluster};
use super::*;

#[test]
fn a_generator_that_is_killed_makes_the_run_void_and_is_not_replaced() {
    let namespace = Namespace::new("killed", &plan(40, "20s"));
    namespace.start_target();
    let line = format!("{RUN} --reconnect-within 5s --format json");
    let running = namespace.sojourn(&line).start().unwrap();
    await_load(&namespace);
    let pod = namespace.generator(2);
    kill(&namespace, &pod, "generator");
    let output = running.wait().unwrap();
    the_third_is_lost(&output);
    // It is the same pod still, and nothing was started in it again.
    assert_eq!(namespace.generator(2), pod);
    let restarts = "jsonpath={.status.containerStatuses[*].restartCount}";
    assert_eq!(namespace.kubectl(&format!("get pod {pod} -o {restarts}")), "0");
    delete(&namespace);
}

/// As whoever empties a node for its maintenance does. It says that it goes, so nobody waits for
/// it, and the others go on to the end.
#[test]
fn an_evicted_generator_is_lost_at_once_and_named() {
    let namespace = Namespace::new("evicted", &plan(40, "20s"));
    namespace.start_target();
    let running = namespace.sojourn(&format!("{RUN} --format json")).start().unwrap();
    await_load(&namespace);
    let pod = namespace.generator(2);
    let node = namespace.kubectl(&format!("get pod {pod} -o jsonpath={{.spec.nodeName}}"));
    let began_ns = now_ns();
    let drained = Fault::drained(&node, 2);
    let output = running.wait().unwrap();
    let took_ns = now_ns() - began_ns;
    drop(drained);
    let detail = the_third_is_lost(&output);
    assert!(detail.contains("it was asked to end (SIGTERM or Ctrl-C)"), "{detail}");
    // Nobody waited for it as for one that is only cut off.
    assert!(took_ns < 50 * SECOND_NS, "{took_ns}");
    delete(&namespace);
}

/// Killed at once, as for its memory: what it had written is fetched, and its generators end.
#[test]
fn of_a_coordinator_that_is_killed_what_it_had_measured_is_fetched() {
    let namespace = Namespace::new("coordinator", &plan(50, "60s"));
    namespace.start_target();
    let line = format!("{RUN} --reconnect-within 5s");
    let running = namespace.sojourn(&line).start().unwrap();
    await_load(&namespace);
    std::thread::sleep(Duration::from_secs(3));
    kill(&namespace, &namespace.coordinator(), "coordinator");
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("void: the coordinator ended with 137"), "{output}");
    let file = RunFile::open(&namespace.path("reports/shop.sojourn")).unwrap();
    assert!(file.summary.is_none() && file.intervals.len() >= 2, "{}", file.intervals.len());
    until("its generators have ended", || namespace.codes().len() as u64 == GENERATORS);
    assert_eq!(namespace.codes(), ["3"; GENERATORS as usize]);
    delete(&namespace);
}

/// Of 40 a second for 20 s by four generators; why it was lost.
fn the_third_is_lost(output: &Output) -> String {
    assert_eq!(output.code, Some(3), "{output}");
    let report = report(output);
    let causes = causes(&report);
    assert_eq!(causes.len(), 1, "{causes:?}");
    let (name, detail) = &causes[0];
    assert_eq!(name, "generator lost");
    assert!(detail.starts_with("generator process 2 (host shop-generators-2"), "{detail}");
    assert_eq!(report["ledger"]["balanced"], true, "{output}");
    // Three of four shares to the end, and something of the fourth.
    let started = report["ledger"]["journeys_total"]["whole_run"]["started"].as_u64().unwrap();
    assert!((600..800).contains(&started), "{started}: {output}");
    detail.clone()
}

/// Ends the first process of a pod's container, as the kernel does for its memory.
fn kill(namespace: &Namespace, pod: &str, container: &str) {
    let status = format!("{{.status.containerStatuses[?(@.name==\"{container}\")].containerID}}");
    let id = namespace.kubectl(&format!("get pod {pod} -o jsonpath={status}"));
    cluster(&["kill", id.trim_start_matches("containerd://")]);
}

#[test]
fn a_coordinator_whose_pod_is_deleted_leaves_no_results_and_that_is_said() {
    let namespace = Namespace::new("gone", &plan(50, "60s"));
    namespace.start_target();
    let line = format!("{RUN} --reconnect-within 5s");
    let running = namespace.sojourn(&line).start().unwrap();
    await_load(&namespace);
    let pod = namespace.coordinator();
    namespace.kubectl(&format!("delete pod {pod} --grace-period=0 --force"));
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("void: the coordinator's pod is gone"), "{output}");
    assert!(output.stderr.contains("sojourn fleet delete shop"), "{output}");
    delete(&namespace);
}

/// The run does not depend on it, and who watches goes on when it is back.
#[test]
fn a_restart_of_the_api_server_does_not_touch_the_run() {
    let namespace = Namespace::new("api", &plan(50, "20s"));
    namespace.start_target();
    let running = namespace.sojourn(&format!("{RUN} --format json")).start().unwrap();
    await_load(&namespace);
    let fault = Fault::no_api_server();
    std::thread::sleep(Duration::from_secs(5));
    drop(fault);
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("the cluster does not answer, asked again"), "{output}");
    assert!(output.stderr.contains("the cluster answers again"), "{output}");
    let report = report(&output);
    let total = &report["ledger"]["journeys_total"]["whole_run"];
    assert_eq!(total["completed"], 1_000, "{output}");
    nothing_is_left(&namespace);
}
