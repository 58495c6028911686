//! A node that is cut off for a while, with its generators. The target has a pod on each node and
//! answers from there, so that only the run itself is cut in two.

use std::time::Duration;

use super::cluster::Fault;
use super::*;

/// A pod of the target.
const POD: &str = "
---
apiVersion: v1
kind: Pod
metadata: { name: target-NODE, labels: { app: near } }
spec:
  nodeName: NODE
  automountServiceAccountToken: false
  securityContext: { runAsNonRoot: true, seccompProfile: { type: RuntimeDefault } }
  containers:
  - name: target
    image: localhost/sojourn:VERSION
    command: [sojourn, mock, --listen, '0.0.0.0:8080', --status, '200', --quiet]
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
";
/// Its address, which leads to the pod on the same node.
const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: { name: near }
spec: { selector: { app: near }, internalTrafficPolicy: Local, ports: [{ port: 8080 }] }
";

const RATE: u64 = 60;

/// A namespace with such a target, and a run's plan for it.
fn namespace(name: &str, steady: &str) -> Namespace {
    let namespace = Namespace::new(name, "");
    namespace.apply(SERVICE);
    for node in ["node1", "node2"] {
        namespace.start(&POD.replace("NODE", node), &format!("target-{node}"));
    }
    // Names are looked up on the first node.
    let address = namespace.kubectl("get service near -o jsonpath={.spec.clusterIP}");
    let plan = plan(RATE, steady).replace("//target:", &format!("//{address}:"));
    std::fs::write(namespace.path("plan.yaml"), plan).unwrap();
    namespace
}

/// How many generators are where the coordinator is not.
fn far(namespace: &Namespace) -> usize {
    let node =
        |pod: &str| namespace.kubectl(&format!("get pod {pod} -o jsonpath={{.spec.nodeName}}"));
    let here = node(&namespace.coordinator());
    (0..GENERATORS as u32).filter(|number| node(&namespace.generator(*number)) != here).count()
}

/// Makes a run that is cut in two for so long.
fn run_cut(namespace: &Namespace, flags: &str, cut_s: u64) -> (Output, usize) {
    let running = namespace.sojourn(&format!("{RUN} --format json {flags}"));
    let running = running.timeout(Duration::from_secs(180)).start().unwrap();
    await_load(namespace);
    let far = far(namespace);
    assert!(far > 0);
    let fault = Fault::second_node_is_cut_off();
    std::thread::sleep(Duration::from_secs(cut_s));
    drop(fault);
    (running.wait().unwrap(), far)
}

/// Shorter than generators may be without a connection: they go on meanwhile, and nothing is lost.
#[test]
fn a_partition_of_25_s_costs_nothing() {
    let namespace = namespace("partition", "40s");
    let (output, far) = run_cut(&namespace, "", 25);
    assert_eq!(output.code, Some(0), "{output}");
    let report = report(&output);
    let total = &report["ledger"]["journeys_total"]["whole_run"];
    for class in ["scheduled", "started", "completed"] {
        assert_eq!(total[class], 40 * RATE, "{class}: {output}");
    }
    assert_eq!(report["ledger"]["balanced"], true);
    let cuts = report["notes"].to_string().matches("was cut off 1 ×, for ").count();
    assert_eq!(cuts, far, "{}", report["notes"]);
    nothing_is_left(&namespace);
}

/// Longer than they may: they are lost and named, and the rest goes on to the end.
#[test]
fn a_partition_for_longer_than_allowed_makes_the_run_void() {
    let namespace = namespace("parted", "20s");
    let (output, far) = run_cut(&namespace, "--reconnect-within 5s", 17);
    assert_eq!(output.code, Some(3), "{output}");
    let report = report(&output);
    let causes = causes(&report);
    assert_eq!(causes.len(), far, "{causes:?}");
    for (name, detail) in &causes {
        assert_eq!(name, "generator lost", "{causes:?}");
        assert!(detail.contains("(host shop-generators-"), "{detail}");
        assert!(detail.contains("no connection for 5 s"), "{detail}");
    }
    assert_eq!(report["ledger"]["balanced"], true, "{output}");
    let started = report["ledger"]["journeys_total"]["whole_run"]["started"].as_u64().unwrap();
    let share = 20 * RATE / GENERATORS;
    assert!(started >= (GENERATORS - far as u64) * share, "{started}: {output}");
    delete(&namespace);
}
