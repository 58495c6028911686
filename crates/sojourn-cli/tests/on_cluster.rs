//! Runs on a real Kubernetes of two nodes, which `cargo xtask test fleet --cluster` starts. Each
//! test has a namespace of its own, which forbids all that is not `restricted`.

mod attacks;
mod cluster;
mod losses;
mod namespace;
mod partitions;
mod payments;
mod percentiles;
#[cfg(feature = "script")]
mod scripts;
#[cfg(feature = "script")]
mod sessions;
mod slow;
mod unbegun;

use namespace::Namespace;
use serde_json::Value;
use sojourn_testkit::Output;

use crate::common::{until, until_or};
use crate::guide::block;

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

/// Waits until the load of the run has begun.
fn await_load(namespace: &Namespace) {
    let has_begun = || namespace.log("shop").contains("steady");
    until_or(has_begun, || {
        let (pods, log) = (namespace.kubectl("get pods -o wide"), namespace.log("shop"));
        format!("the load has begun; there are\n{pods}\nand the log\n{log}")
    });
}

/// The report that was printed as JSON.
fn report(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// What made a run void: name and detail of each cause.
fn causes(report: &Value) -> Vec<(String, String)> {
    let causes = report["verdict"]["causes"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    causes.iter().map(|cause| (text(&cause["name"]), text(&cause["detail"]))).collect()
}

/// Deletes the run, which must leave nothing.
fn delete(namespace: &Namespace) {
    let deleted = namespace.sojourn("fleet delete shop").run().unwrap();
    assert_eq!(deleted.code, Some(0), "{deleted}");
    nothing_is_left(namespace);
}

fn nothing_is_left(namespace: &Namespace) {
    until("nothing is left", || namespace.objects().is_empty());
}

#[test]
fn four_generators_send_what_one_would_have_sent() {
    let namespace = Namespace::new("same", &plan(200, "5s"));
    namespace.start_target();
    let output = namespace.sojourn(&format!("{RUN} --format json")).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let report = report(&output);
    let total = &report["ledger"]["journeys_total"]["whole_run"];
    assert_eq!(
        (&total["started"], &total["completed"]),
        (&1_000.into(), &1_000.into()),
        "{output}"
    );
    // One kernel's clock.
    let spread_ns = report["fleet"]["start_spread_ns"].as_u64().unwrap();
    assert!(spread_ns <= 2_000_000, "{spread_ns}: {output}");
    for number in 0..GENERATORS {
        assert!(
            output.stderr.contains(&format!("generator {number}   running on node")),
            "{output}"
        );
    }
    nothing_is_left(&namespace);
}

#[test]
fn the_first_interrupt_ends_it_gracefully_with_a_report() {
    let namespace = Namespace::new("interrupt", &plan(50, "60s"));
    namespace.start_target();
    let running = namespace.sojourn(RUN).start().unwrap();
    await_load(&namespace);
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert!(output.stdout.contains("interrupted"), "{output}");
    nothing_is_left(&namespace);
}

#[test]
fn whoever_has_the_printed_role_alone_can_make_a_run() {
    let namespace = Namespace::new("role", &plan(50, "2s"));
    namespace.start_target();
    namespace.kubectl("create serviceaccount ci");
    let line = format!("fleet role --service-account ci --namespace {}", namespace.name());
    let role = namespace.words(&line).run().unwrap();
    let denied = namespace.as_account("ci", RUN).run().unwrap();
    assert_eq!(denied.code, Some(2), "{denied}");
    assert!(denied.stderr.contains("create pods/exec"), "{denied}");
    namespace.apply(&role.stdout);
    let output = namespace.as_account("ci", RUN).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
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

/// As the guide has it: what no flag says is patched in.
#[test]
fn a_kustomization_of_printed_manifests_is_a_run_with_its_patches() {
    let namespace = Namespace::new("kustomized", &plan(50, "2s"));
    namespace.start_target();
    let class = "load-tests";
    namespace.kubectl(&format!("delete priorityclass {class} --ignore-not-found"));
    namespace.kubectl(&format!("create priorityclass {class} --value=1"));
    let shown = block("docs/fleet.md", "kind: Kustomization");
    let here = shown.replace("namespace: load\n", &format!("namespace: {}\n", namespace.name()));
    assert_ne!(here, shown);
    std::fs::write(namespace.path("kustomization.yaml"), here).unwrap();
    let line = "fleet manifests plan.yaml --generators 2 --generator-cpu 10m --run-name nightly";
    let printed = namespace.words(line).run().unwrap();
    assert_eq!(printed.code, Some(0), "{printed}");
    std::fs::write(namespace.path("run.yaml"), printed.stdout).unwrap();
    namespace.kubectl(&format!("create -k {}", namespace.path("").display()));
    let output = namespace.sojourn("fleet attach nightly").run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("100 started"), "{output}");
    let of_pods = |field: &str| {
        let label = "app.kubernetes.io/instance=nightly";
        namespace.kubectl(&format!("get pods -l {label} -o jsonpath={{.items[*]{field}}}"))
    };
    assert_eq!(of_pods(".spec.priorityClassName"), [class; 3].join(" "));
    let team = r".metadata.annotations.billing\.example\.com/team";
    assert_eq!(of_pods(team), ["payments"; 3].join(" "));
    namespace.kubectl(&format!("delete priorityclass {class}"));
}

#[test]
fn a_run_without_a_terminal_is_seen_stopped_fetched_and_deleted() {
    let namespace = Namespace::new("detached", &plan(50, "60s"));
    namespace.start_target();
    let words = |line: &str, code: u8| {
        let output = namespace.sojourn(line).run().unwrap();
        assert_eq!(output.code, Some(code.into()), "{line}: {output}");
        output
    };
    let created = words(&format!("{RUN} --detach"), 0);
    assert_eq!(created.stdout, "shop\n");
    await_load(&namespace);
    assert!(words("fleet status", 0).stdout.contains("goes on"));
    let status = words("fleet status shop", 0).stdout;
    assert_eq!(status.matches("running").count() as u64, 1 + GENERATORS, "{status}");
    words("fleet stop shop", 0);
    // The pod stays until its results are fetched.
    let ended = || words("fleet status shop", 0).stdout.contains("ended with 105");
    until("it has ended", ended);
    let report = words("fleet report shop", 105);
    assert!(report.stdout.contains("interrupted"), "{report}");
    delete(&namespace);
}
