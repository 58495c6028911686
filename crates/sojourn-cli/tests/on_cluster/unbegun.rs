//! Runs whose pods can't begin: that ends in bounded time, with the reason, and leaves nothing.

use std::time::Duration;

use sojourn_clock::{SECOND_NS, now_ns};

use super::cluster::Fault;
use super::*;

/// Makes a run that can't begin, within so many seconds; what it said.
fn fails_within(namespace: &Namespace, line: &str, seconds: u64) -> String {
    let began_ns = now_ns();
    let program = namespace.sojourn(line).timeout(Duration::from_secs(180));
    let output = program.run().unwrap();
    let took_ns = now_ns() - began_ns;
    assert_eq!(output.code, Some(2), "{output}");
    assert!(took_ns < seconds * SECOND_NS, "{took_ns} ns: {output}");
    nothing_is_left(namespace);
    output.stderr
}

/// Long before the two minutes that pods may take.
#[test]
fn an_image_that_is_not_there_is_named_and_nothing_is_left() {
    let namespace = Namespace::new("image", &plan(50, "2s"));
    let said = fails_within(&namespace, &format!("{RUN} --image localhost/no-such:1"), 60);
    assert!(said.contains(" of shop never began: "), "{said}");
    assert!(said.contains("localhost/no-such:1"), "{said}");
}

#[test]
fn a_name_that_is_no_image_is_named_too() {
    let namespace = Namespace::new("name", &plan(50, "2s"));
    let said = fails_within(&namespace, &format!("{RUN} --image localhost/No:1"), 60);
    assert!(said.contains("InvalidImageName"), "{said}");
}

#[test]
fn generators_that_fit_on_no_node_are_named_with_the_reason() {
    let namespace = Namespace::new("large", &plan(50, "2s"));
    let line = RUN.replace("--generator-cpu 10m", "--generator-cpu 64 --ready-timeout 8s");
    let said = fails_within(&namespace, &line, 60);
    assert!(said.contains("0 of 4 generators came within 8 s"), "{said}");
    for number in 0..GENERATORS {
        let words = format!("generator {number} of shop never began: Unschedulable: 0/2 nodes");
        assert!(said.contains(&words), "{said}");
    }
    assert!(said.contains("Insufficient cpu"), "{said}");
}

#[test]
fn a_coordinator_that_no_node_takes_is_waited_for_as_long_as_was_said() {
    let namespace = Namespace::new("cordoned", &plan(50, "2s"));
    let cordoned = Fault::cordoned();
    let began_ns = now_ns();
    let said = fails_within(&namespace, &format!("{RUN} --ready-timeout 8s"), 30);
    assert!(now_ns() - began_ns > 8 * SECOND_NS);
    drop(cordoned);
    assert!(said.contains("the coordinator of shop never began: Unschedulable: 0/2"), "{said}");
}

#[test]
fn a_quota_is_named() {
    let namespace = Namespace::new("quota", &plan(50, "2s"));
    namespace.kubectl("create quota small --hard=pods=2");
    until("it is reckoned with", || {
        !namespace.kubectl("get quota small -o jsonpath={.status.hard}").is_empty()
    });
    let said = fails_within(&namespace, &format!("{RUN} --ready-timeout 10s"), 60);
    assert!(said.contains(" of 4 generators of shop never began: "), "{said}");
    assert!(said.contains("exceeded quota: small"), "{said}");
}
