//! The two Jobs.

use serde_json::{Value, json};

use super::pod::{self, Container};
use super::{Part, metadata};
use crate::wanted::{COORDINATOR_PORT, Size};
use crate::{Coordinating, Wanted};

/// Where results are, in both containers of the coordinator's pod.
pub(crate) const RESULTS: &str = "/results";
/// The container that keeps them.
pub(crate) const KEEPER: &str = "results";
/// The run file, there.
pub(crate) const RUN_FILE: &str = "/results/run.sojourn";
/// The records of an attack's hits, there.
pub(crate) const RECORDS_FILE: &str = "/results/records.bin";
/// What the coordinator prints, there.
pub(crate) const PRINTED_FILE: &str = "/results/report.txt";
/// The folder of what a script's test writes, there.
const FILES: &str = "/results/files";
/// The same as one file.
pub(crate) const FILES_FILE: &str = "/results/files.tar";
/// Until a coordinator begins, until generators are heard of again after a cut, and until an end of
/// pods, whatever else happens: beyond what the run itself may take, seconds.
const SLACK_S: u64 = 300;

/// The coordinator's Job: one pod, never replaced, since a second coordinator could not go on where
/// the first one ended.
pub(super) fn coordinator(wanted: &Wanted) -> Value {
    let times = wanted.times;
    let volumes = vec![
        pod::plan_volume(wanted),
        pod::key_volume(wanted, Part::Coordinator),
        json!({ "name": "results", "emptyDir": {} }),
        json!({ "name": "tmp", "emptyDir": {} }),
    ];
    let results = json!({ "name": "results", "mountPath": RESULTS });
    let tmp = json!({ "name": "tmp", "mountPath": "/tmp" });
    let coordinator = Container {
        name: Part::Coordinator.word(),
        words: coordinator_words(wanted),
        size: wanted.coordinator.clone(),
        mounts: vec![pod::plan_mount(), pod::key_mount(), results.clone(), tmp],
        ports: ports(wanted),
        has_plan: true,
    };
    let keeper = Container {
        name: KEEPER,
        words: keeper_words(wanted),
        size: Size { cpu: "10m".to_owned(), memory: "64Mi".to_owned() },
        mounts: vec![results],
        ports: Vec::new(),
        has_plan: false,
    };
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(wanted, wanted.name.as_str(), Part::Coordinator),
        "spec": {
            "backoffLimit": 0,
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": times.run_s + times.linger_s + SLACK_S,
            "ttlSecondsAfterFinished": times.keep_s,
            "template": pod::template(wanted, Part::Coordinator, &[coordinator, keeper], volumes),
        },
    })
}

/// The generators' Job. A pod that is lost is not replaced (`backoffLimitPerIndex: 0`): it would
/// come too late for its share. Nor does its loss end the others (no `maxFailedIndexes`): what
/// follows of it is the coordinator's decision.
pub(super) fn generators(wanted: &Wanted) -> Value {
    let volumes = vec![
        pod::plan_volume(wanted),
        pod::key_volume(wanted, Part::Generator),
        json!({ "name": "tmp", "emptyDir": {} }),
    ];
    let tmp = json!({ "name": "tmp", "mountPath": "/tmp" });
    let join = format!("{}:{COORDINATOR_PORT}", wanted.name);
    // The coordinator's image may come long after theirs, and it waits for them from then on.
    let within = format!("{}s", wanted.times.ready_s + SLACK_S);
    let generator = Container {
        name: Part::Generator.word(),
        words: words(&[
            "generator",
            "--join",
            &join,
            "--key-file",
            pod::KEY_FILE,
            // So that generator 3 is the pod of index 3.
            "--number",
            "$(JOB_COMPLETION_INDEX)",
            "--join-within",
            &within,
        ]),
        size: wanted.generator.clone(),
        mounts: vec![pod::plan_mount(), pod::key_mount(), tmp],
        ports: Vec::new(),
        has_plan: true,
    };
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(wanted, &wanted.name.generators(), Part::Generator),
        "spec": {
            "completionMode": "Indexed",
            "completions": wanted.generators,
            "parallelism": wanted.generators,
            "backoffLimitPerIndex": 0,
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": wanted.times.run_s + SLACK_S,
            "ttlSecondsAfterFinished": wanted.times.keep_s,
            "template": pod::template(wanted, Part::Generator, &[generator], volumes),
        },
    })
}

/// `sojourn coordinator …` or the like, started so that a lock tells whether it lives.
fn coordinator_words(wanted: &Wanted) -> Vec<String> {
    let listen = format!("0.0.0.0:{COORDINATOR_PORT}");
    let generators = wanted.generators.to_string();
    let ready = format!("{}s", wanted.times.ready_s);
    let mut all = words(&["fleet", "locked"]);
    if !wanted.secret_words.is_empty() {
        all.extend(words(&["--words-from", pod::WORDS_FILE]));
    }
    all.push(RESULTS.to_owned());
    all.extend(words(match wanted.command {
        Coordinating::Journeys => &["coordinator"],
        Coordinating::Sessions => &["session", "coordinator"],
        Coordinating::Scripts => &["k6", "coordinator"],
        Coordinating::Attack { .. } => &["attack"],
    }));
    // What a pod's words have behind `$` is its cluster's to replace, unless it is doubled.
    all.extend(wanted.words.iter().map(|word| word.replace('$', "$$")));
    all.extend(words(&[
        "--listen",
        &listen,
        "--key-file",
        pod::KEY_FILE,
        "--generators",
        &generators,
        "--ready-timeout",
        &ready,
    ]));
    all.extend(words(match wanted.command {
        Coordinating::Journeys | Coordinating::Sessions => {
            &["--output", RUN_FILE, "--report", "/results/report.html"]
        }
        Coordinating::Scripts => &["--write-into", FILES],
        Coordinating::Attack { has_records: false } => &["--run-file", RUN_FILE],
        Coordinating::Attack { has_records: true } => {
            &["--run-file", RUN_FILE, "--output", RECORDS_FILE]
        }
    }));
    all
}

/// What keeps the results until they have been fetched.
fn keeper_words(wanted: &Wanted) -> Vec<String> {
    let (linger, at_most) = (wanted.times.linger_s, wanted.times.run_s + wanted.times.linger_s);
    let (linger, at_most) = (format!("{linger}s"), format!("{at_most}s"));
    words(&["fleet", "keep", RESULTS, "--linger", &linger, "--at-most", &at_most])
}

fn ports(wanted: &Wanted) -> Vec<Value> {
    let mut ports = vec![json!({ "name": "generators", "containerPort": COORDINATOR_PORT })];
    ports.extend(
        wanted
            .webhook_ports
            .iter()
            .map(|port| json!({ "name": webhook_name(*port), "containerPort": port })),
    );
    ports
}

/// A port's name.
pub(super) fn webhook_name(port: u16) -> String {
    format!("webhook-{port}")
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
