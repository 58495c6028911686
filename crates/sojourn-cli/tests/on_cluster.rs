//! Runs on a real Kubernetes of two nodes, which `cargo xtask test fleet --cluster` starts. Each
//! test has a namespace of its own, which forbids all that is not `restricted`.

mod namespace;

use std::time::Duration;

use namespace::Namespace;
use serde_json::Value;

use crate::common::until;

const GENERATORS: u64 = 4;

/// A plan of so many requests a second for some seconds.
fn plan(rate: u64, steady: &str) -> String {
    format!(
        "name: shop\ntarget: http://target:8080\njourneys:\n  get:\n    root: {{ http: {{ url: / }}, \
         expect: {{ status: 200 }} }}\nload:\n  - {{ rate: {rate}/s, steady: {steady}, drain: 5s }}\n\
         health: {{ lag_p99_max: 60s, delivered_min: 0, missed_max: 1 }}\n"
    )
}

const RUN: &str = "run plan.yaml --on kubernetes --generators 4 --generator-cpu 10m \
                   --coordinator-cpu 10m --run-name shop";

#[test]
fn four_generators_send_what_one_would_have_sent() {
    let namespace = Namespace::new("same", &plan(200, "5s"));
    namespace.start_target();
    let output = namespace.sojourn(&format!("{RUN} --format json")).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let total = &report["ledger"]["journeys_total"]["whole_run"];
    assert_eq!(
        (&total["started"], &total["completed"]),
        (&1_000.into(), &1_000.into()),
        "{output}"
    );
    for number in 0..GENERATORS {
        assert!(
            output.stderr.contains(&format!("generator {number}   running on node")),
            "{output}"
        );
    }
    until("nothing is left", || namespace.objects() == "");
}

#[test]
fn a_generator_that_is_killed_makes_the_run_void_and_is_not_replaced() {
    let namespace = Namespace::new("killed", &plan(50, "15s"));
    namespace.start_target();
    let running = namespace.sojourn(RUN).start().unwrap();
    until("the coordinator runs", || namespace.log("shop").contains("steady"));
    let pod = namespace.kubectl(
        "get pods -l batch.kubernetes.io/job-completion-index=2 -o jsonpath={.items[0].metadata.name}",
    );
    namespace.kubectl(&format!("delete pod {pod} --grace-period=0 --force"));
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stdout.contains("VOID"), "{output}");
    assert!(namespace.objects().contains("job.batch/shop"), "{}", namespace.objects());
    let deleted = namespace.sojourn("fleet delete shop").run().unwrap();
    assert_eq!(deleted.code, Some(0), "{deleted}");
    until("nothing is left", || namespace.objects() == "");
}

#[test]
fn the_first_interrupt_ends_it_gracefully_with_a_report() {
    let namespace = Namespace::new("interrupt", &plan(50, "60s"));
    namespace.start_target();
    let running = namespace.sojourn(RUN).start().unwrap();
    until("the coordinator runs", || namespace.log("shop").contains("steady"));
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert!(output.stdout.contains("interrupted"), "{output}");
    until("nothing is left", || namespace.objects() == "");
}

#[test]
fn whoever_has_the_printed_role_alone_can_make_a_run() {
    let namespace = Namespace::new("role", &plan(50, "2s"));
    namespace.start_target();
    namespace.kubectl("create serviceaccount ci");
    let role = namespace.words("fleet role --service-account ci").run().unwrap();
    let denied = namespace.as_account("ci", RUN).run().unwrap();
    assert_eq!(denied.code, Some(2), "{denied}");
    assert!(denied.stderr.contains("create pods/exec"), "{denied}");
    namespace.apply(&role.stdout);
    let output = namespace.as_account("ci", RUN).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn an_image_that_is_not_there_is_named_and_nothing_is_left() {
    let namespace = Namespace::new("image", &plan(50, "2s"));
    let line = format!("{RUN} --image localhost/no-such:1 --ready-timeout 5s");
    let output = namespace.sojourn(&line).timeout(Duration::from_secs(180)).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("never began: "), "{output}");
    assert!(output.stderr.contains("localhost/no-such:1"), "{output}");
    until("nothing is left", || namespace.objects() == "");
}

#[test]
fn a_quota_is_named() {
    let namespace = Namespace::new("quota", &plan(50, "2s"));
    namespace.kubectl("create quota small --hard=pods=2");
    let output = namespace.sojourn(&format!("{RUN} --ready-timeout 10s")).run().unwrap();
    assert_ne!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("exceeded quota: small"), "{output}");
}

#[test]
fn printed_manifests_are_a_run_too() {
    let namespace = Namespace::new("printed", &plan(50, "2s"));
    namespace.start_target();
    let line = "fleet manifests plan.yaml --generators 2 --generator-cpu 10m --run-name nightly";
    let printed = namespace.words(line).run().unwrap();
    assert_eq!(printed.code, Some(0), "{printed}");
    namespace.apply(&printed.stdout);
    let output = namespace.sojourn("fleet attach nightly").run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("100 started"), "{output}");
}
