//! `sojourn run --rehearse`: shares of the load, up to the first that fails.

use sojourn_record::RunFile;
use sojourn_testkit::temp_dir;

use super::{plan, run};
use crate::mock::Mocked;

fn started(path: &std::path::Path) -> u64 {
    let run = RunFile::open(path).unwrap();
    run.store.sum("journeys.started", &[], sojourn_metrics::SeriesPhase::Steady)
}

#[test]
fn shares_grow_until_one_fails() {
    let mock = Mocked::start(&[], &["--latency", "1ms"]);
    let folder = temp_dir().unwrap();
    // 40 journeys at 10 %, 200 at 50 %: the second share breaks it, the third is not run.
    let more = "thresholds: [ 'started < 100' ]\n";
    let text = plan(&mock.address, "constant", more).replace("400/s", "200/s");
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let arguments =
        ["run", "plan.yaml", "--quiet", "--output", "out.sojourn", "--report", "out.json"];
    let rehearse = ["--rehearse", "10%,50%,100%"];
    let output = run(folder.path(), &[&arguments[..], &rehearse].concat());
    assert_eq!(output.code, Some(99), "{output}");
    for said in ["rehearsal 1 of 3: 10%", "rehearsal 2 of 3: 50%", "nothing more is tried"] {
        assert!(output.stderr.contains(said), "{said}: {output}");
    }
    assert!(!output.stderr.contains("rehearsal 3"), "{output}");
    let path = |name: &str| folder.path().join(name);
    assert_eq!(started(&path("out-10.sojourn")), 40);
    assert_eq!(started(&path("out-50.sojourn")), 200);
    assert!(path("out-50.json").exists() && !path("out.sojourn").exists());
    let labels = RunFile::open(&path("out-10.sojourn")).unwrap().identity.labels;
    assert_eq!(labels, [("rehearsal".to_owned(), "10%".to_owned())]);
}

#[test]
fn the_whole_is_the_last_and_has_the_names_that_were_asked_for() {
    let mock = Mocked::start(&[], &["--latency", "1ms"]);
    let folder = temp_dir().unwrap();
    let text = plan(&mock.address, "constant", "").replace("400/s", "50/s");
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let arguments = ["run", "plan.yaml", "--quiet", "--output", "out.sojourn"];
    let output = run(folder.path(), &[&arguments[..], &["--rehearse", "20%,100%"]].concat());
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(started(&folder.path().join("out-20.sojourn")), 20);
    assert_eq!(started(&folder.path().join("out.sojourn")), 100);
}

#[test]
fn shares_that_make_no_sense_are_refused() {
    let folder = temp_dir().unwrap();
    let address = "127.0.0.1:9".parse().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), plan(&address, "constant", "")).unwrap();
    for (shares, said) in [
        ("10%,ten", "such as 10%,50%,100%"),
        ("0%", "such as 10%,50%,100%"),
        ("50%,10%", "10% does not come after 50%"),
    ] {
        let output = run(folder.path(), &["run", "plan.yaml", "--rehearse", shares]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(said), "{said}: {output}");
    }
    let output = run(folder.path(), &["run", "plan.yaml", "--rehearse", "10%", "--once"]);
    assert_eq!(output.code, Some(2), "{output}");
}
