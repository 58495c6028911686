//! `sojourn sweep`: a run for each value, and the command before it.

use sojourn_testkit::temp_dir;

use super::{json, plan, run};
use crate::mock::Mocked;

#[test]
fn every_value_is_run_and_the_command_gets_it() {
    let mock = Mocked::start(&[], &["--latency", "1ms"]);
    let folder = temp_dir().unwrap();
    let text = plan(&mock.address, "constant", "thresholds: [ 'started < 150' ]\n");
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let script = "#!/bin/sh\necho \"$# $1 $RATE\" >> told.txt\n";
    std::fs::write(folder.path().join("before.sh"), script).unwrap();
    let arguments = ["sweep", "plan.yaml", "--vary", "RATE=20/s,50/s,100/s", "--format", "json"];
    let before = ["--before", "sh before.sh 'to {RATE}'", "--quiet", "--report", "page.html"];
    let output = run(folder.path(), &[&arguments[..], &before].concat());
    // The third breaks the threshold: the sweep says so, and goes on to its end.
    assert_eq!(output.code, Some(99), "{output}");
    let report = json(&output);
    let rows = report["rows"].as_array().unwrap();
    let started: Vec<u64> =
        rows.iter().map(|row| row["run"]["started"].as_u64().unwrap()).collect();
    assert_eq!(started, [40, 100, 200], "{output}");
    assert_eq!(rows[2]["run"]["outcome"], "fail", "{output}");
    let told = std::fs::read_to_string(folder.path().join("told.txt")).unwrap();
    assert_eq!(told, "1 to 20/s 20/s\n1 to 50/s 50/s\n1 to 100/s 100/s\n");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("Throughput by RATE"));
}

#[test]
fn a_command_that_fails_ends_the_sweep_with_its_output() {
    let mock = Mocked::start(&[], &["--latency", "1ms"]);
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), plan(&mock.address, "constant", "")).unwrap();
    let before = "sh -c 'echo scaling to $RATE; test $RATE = 10/s'";
    let arguments = ["sweep", "plan.yaml", "--vary", "RATE=10/s,30/s", "--before", before];
    let output = run(folder.path(), &[&arguments[..], &["--quiet"]].concat());
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("scaling to 30/s"), "{output}");
    assert!(output.stderr.contains("exit status: 1"), "{output}");
    // What ran before is reported all the same.
    for words in ["1 passed (10/s); 1 not made", "✓ pass"] {
        assert!(output.stdout.contains(words), "{words}: {output}");
    }
}

#[test]
fn what_cannot_be_swept_is_wrong_usage() {
    let folder = temp_dir().unwrap();
    let address = "127.0.0.1:9".parse().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), plan(&address, "constant", "")).unwrap();
    for (arguments, said) in [
        (&["--vary", "RATE"][..], "NAME=A,B,C"),
        (&["--vary", "RATE=1/s,,2/s"], "empty value"),
        (&["--vary", "RATE=1/s", "--vary", "RATE=2/s"], "given twice"),
        (&["--vary", "RATE=1/s", "--before", "scale {REPLICAS}"], "{REPLICAS} is not varied"),
        (&["--vary", "RATE=1/s", "--before", "scale 'x"], "without its end"),
        (&["--vary", "RATE=1/s,fast"], "RATE=fast: plan.yaml:5:"),
        (&[], "--vary"),
    ] {
        let output = run(folder.path(), &[&["sweep", "plan.yaml"], arguments].concat());
        assert_eq!(output.code, Some(2), "{arguments:?}: {output}");
        assert!(output.stderr.contains(said), "{said}: {output}");
        assert_eq!(output.stdout, "", "{output}");
    }
}
