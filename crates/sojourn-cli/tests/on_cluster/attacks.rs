//! Attacks by pods.

use super::*;

const TARGETS: &str = "GET http://target:8080/a\n\nPOST http://target:8080/b\n@body.json\n";

const ATTACK: &str = "attack -rate 200 -duration 5s -on kubernetes -generators 4 -generator-cpu \
                      10m -coordinator-cpu 10m -run-name shop";

/// By one flag what one process would send, with its records: each hit once.
#[test]
fn an_attack_by_pods_hits_what_one_process_would() {
    let namespace = Namespace::new("attack", &plan(1, "1s"));
    namespace.start_target();
    std::fs::write(namespace.path("body.json"), r#"{"amount":7}"#).unwrap();
    let attack = namespace.sojourn(&format!("{ATTACK} -output out.bin")).input(TARGETS);
    let output = attack.run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let lines = namespace.words("encode -to json out.bin").run().unwrap();
    let hits = lines.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let hits: Vec<Value> = hits.collect();
    let mut numbers: Vec<_> = hits.iter().map(|hit| hit["seq"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..1_000), "{numbers:?}: {output}");
    assert!(hits.iter().all(|hit| hit["code"] == 200), "{output}");
    let posts = hits.iter().filter(|hit| hit["method"] == "POST").count();
    assert_eq!(posts, 500, "{output}");
    nothing_is_left(&namespace);
}

#[test]
fn an_attack_that_fails_its_condition_says_so_here() {
    let namespace = Namespace::new("fail-if", &plan(1, "1s"));
    namespace.start_target();
    let line = format!("{ATTACK} -output out.sojourn -fail-if p50<10s");
    let output = namespace.sojourn(&line).input(TARGETS.lines().next().unwrap()).run().unwrap();
    assert_eq!(output.code, Some(99), "{output}");
    let report = namespace.words("report out.sojourn --format json").run().unwrap();
    let report = self::report(&report);
    assert_eq!(report["ledger"]["journeys_total"]["whole_run"]["completed"], 1_000, "{output}");
    assert_eq!(report["fleet"]["members"].as_array().unwrap().len() as u64, GENERATORS);
    nothing_is_left(&namespace);
}
