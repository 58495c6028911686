//! The payments demo in the cluster, on a real NATS: the ledger of a fleet's run against the demo's
//! own log of what happened. No difference is accepted.

use std::path::{Path, PathBuf};

use sojourn_demo::{Truth, TruthLog};
use sojourn_kubernetes::image::{self, Contents};
use sojourn_record::RunFile;

use super::cluster::{cluster, state};
use super::*;
use crate::common;
use crate::truth::{SEED, brokers::Channels, compare};

/// The broker; its image is made as ours is, of the server's own program.
const NATS: &str = "
apiVersion: v1
kind: Pod
metadata: { name: nats, labels: { app: nats } }
spec:
  automountServiceAccountToken: false
  securityContext: { runAsNonRoot: true, seccompProfile: { type: RuntimeDefault } }
  containers:
  - name: nats
    image: localhost/nats-server:test
    args: [--addr, 0.0.0.0, --port, '4222', --jetstream, --store_dir, /tmp/jetstream]
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
---
apiVersion: v1
kind: Service
metadata: { name: nats }
spec: { selector: { app: nats }, ports: [{ port: 4222 }] }
";
/// The system under test, with all faults that befall messages. It is tried again where the broker is
/// not reached yet. Its log is in a folder of the pod, which a node clears away with the pod's last
/// process: a second one stays.
const DEMO: &str = "
apiVersion: v1
kind: Pod
metadata: { name: demo, labels: { app: demo } }
spec:
  restartPolicy: OnFailure
  automountServiceAccountToken: false
  securityContext: { runAsNonRoot: true, seccompProfile: { type: RuntimeDefault } }
  containers:
  - name: demo
    image: localhost/sojourn:VERSION
    command: [sojourn, demo, --serve, --listen, '0.0.0.0:8080', --broker, nats, --url,
      'nats://nats:4222', --relay-poll-ms, '20', --seed, 'SEED', --truth, /truth/truth.ndjson,
      --drop, '2', --poison, '3', --redeliver, '5', --republish, '5', --reorder, '5']
    volumeMounts: [{ name: truth, mountPath: /truth }]
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
  - name: stays
    image: localhost/sojourn:VERSION
    command: [sojourn, mock, --listen, '127.0.0.1:8081', --quiet]
    volumeMounts: [{ name: truth, mountPath: /truth }]
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
  volumes: [{ name: truth, emptyDir: {} }]
---
apiVersion: v1
kind: Service
metadata: { name: demo }
spec: { selector: { app: demo }, ports: [{ port: 8080 }] }
";
/// What `${NAME}` stands for in the plan.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("TARGET", "http://demo:8080"),
    ("WITHIN", "3000"),
    ("LINGER", "1000"),
    ("RATE", "50"),
    ("WARMUP", "1"),
    ("STEADY", "5"),
];
/// The least delivery that is reckoned with: how late two processors with two nodes on them may
/// wake a tap.
const WAKING_NS: u64 = 5_000_000;

#[test]
fn the_ledger_of_a_fleet_is_the_demos_own_log() {
    let of = |name: &str| {
        format!("{{ url: nats://nats:4222, subjects: [payments.{name}], stream: payments-{name} }}")
    };
    let channels = Channels { broker: "nats", events: of("events"), dead_letters: of("dead") };
    let text = channels.plan();
    let namespace = Namespace::new("payments", &text);
    start_nats(&namespace);
    namespace.start(&DEMO.replace("SEED", &SEED.to_string()), "demo");
    until("the demo serves", || namespace.log_of("demo -c demo").contains("TARGET="));
    let values = ENVIRONMENT.map(|(name, value)| format!("-e {name}={value}")).join(" ");
    let line = format!("{RUN} --keep all --seed {SEED} {values}");
    let output = namespace.sojourn(&line).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");

    namespace.kubectl("exec demo -c demo -- sojourn fleet interrupt");
    let code = "{.status.containerStatuses[?(@.name==\"demo\")].state.terminated.exitCode}";
    let code = format!("get pod demo -o jsonpath={code}");
    until("the demo has ended", || namespace.kubectl(&code) == "0");
    let file = RunFile::open(&namespace.path("reports/shop.sojourn")).unwrap();
    let plan = common::plan(&text, &ENVIRONMENT);
    let (examination, _, told) = compare(&file, &truth(&namespace), &plan.journeys[0], WAKING_NS);
    println!("{told}");
    for what in ["completed", "lost", "failed", "redelivery", "republication", "out of order"] {
        assert!(examination.happened(what), "it shows nothing: no {what}");
    }
    let members = file.summary.unwrap().fleet.unwrap().members;
    assert_eq!(members.len() as u64, GENERATORS);
}

fn start_nats(namespace: &Namespace) {
    let contents = Contents {
        program: on_path("nats-server"),
        authorities: None,
        name: "localhost/nats-server:test".to_owned(),
        version: "test".to_owned(),
    };
    let archive = namespace.path("nats.tar");
    std::fs::write(&archive, image::make(&contents).unwrap().bytes).unwrap();
    cluster(&["import", archive.to_str().unwrap()]);
    namespace.start(NATS, "nats");
    until("the broker listens", || namespace.log_of("nats").contains("Server is ready"));
}

fn on_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.map(|folder| folder.join(program)).find(|file| file.exists());
    found.unwrap_or_else(|| panic!("there is no {program}: `cargo xtask services install`"))
}

/// The demo's log, where its node keeps the pod's folders.
fn truth(namespace: &Namespace) -> Truth {
    let node = namespace.kubectl("get pod demo -o jsonpath={.spec.nodeName}");
    let uid = namespace.kubectl("get pod demo -o jsonpath={.metadata.uid}");
    let file = Path::new("kubelet/pods")
        .join(uid)
        .join("volumes/kubernetes.io~empty-dir/truth/truth.ndjson");
    TruthLog::read(state().join(node).join(file)).unwrap()
}
