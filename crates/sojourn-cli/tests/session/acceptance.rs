//! What scripts of others rely on, end to end: the reference script, targets, what is rejected,
//! random numbers.

use serde_json::Value;
use sojourn_testkit::{Output, TempDir, temp_dir};

use super::{Played, run};
use crate::mock::Mocked;

const REFERENCE: &str = include_str!("../../../sojourn-session/tests/scripts/heartbeat.js");
const STATIONS: &str = include_str!("../../../sojourn-session/tests/data/stations.csv");

/// The reference script against a mock: as it is but for the target and its lengths, or it would
/// take ten minutes.
fn reference(mock: &Mocked, flags: &[&str]) -> (TempDir, Output) {
    let changes = [
        ("http://testapp.example:9000", format!("http://{}", mock.address)),
        ("5 * 60, rate: 1.5", "1, rate: 8".to_owned()),
        ("delay=100", "delay=1".to_owned()),
        ("waitExp(1)", "waitExp(0.001)".to_owned()),
    ];
    let mut script = REFERENCE.to_owned();
    for (from, to) in changes {
        assert!(script.contains(from), "{from}");
        script = script.replace(from, &to);
    }
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    std::fs::write(folder.path().join("stations.csv"), STATIONS).unwrap();
    let arguments = ["run", "test.js", "--quiet", "--format", "json", "--report", "r.json"];
    let output = run(folder.path(), arguments.iter().chain(flags));
    (folder, output)
}

#[test]
fn the_reference_script_runs_and_its_slip_is_told() {
    let mock = Mocked::start(&[], &[]);
    let (_folder, output) = reference(&mock, &["--strict"]);
    assert_eq!(output.code, Some(2), "{output}");
    let (_folder, output) = reference(&mock, &[]);
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    for warning in [
        "warning: test.js:14:11: the parameter `id` is not in the URL",
        "warning: test.js:14:11: `:token` in the URL has no parameter",
    ] {
        assert!(output.stderr.contains(warning), "{output}");
    }
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let tags = report["traffic"]["tags"].as_array().unwrap();
    let requests = |tag: &str| {
        let row = tags.iter().find(|row| row["tag"] == tag).unwrap();
        assert_eq!(row["failed"].as_u64(), Some(0), "{row:#}");
        row["requests"].as_u64().unwrap()
    };
    let (tokens, pings) = (requests("token"), requests("ping"));
    assert!(tokens >= 2, "{tokens}");
    assert!((280 * tokens..=320 * tokens).contains(&pings), "{pings} of {tokens}");
    let line = &report["ledger"]["journeys"][0]["whole_run"];
    assert_eq!(
        (line["started"].as_u64(), line["completed"].as_u64()),
        (Some(tokens), Some(tokens))
    );
    assert_eq!(report["checks"][0]["held"].as_u64(), Some(tokens));
    let one_each = report["traffic"]["connections_opened"].as_u64();
    assert_eq!(one_each, Some(tokens), "a connection for each client");
}

#[test]
fn one_target_is_left_and_numbers_are_drawn_evenly() {
    let script = r#"
definition.addTarget("one.example");
definition.addTarget("localhost:PORT");
definition.setTarget("BASE/some/path");
definition.setArrivalPhases([{ duration: 1, rate: 20, max_clients: 1 }]);
definition.session("s", function (session) {
  session.get("/here");
  session.get("http://localhost:PORT/denied", { tag: "denied" });
  session.times(3000, function (ctx) {
    ctx.setVar("n", session.ds.generate("random_number", { range: [1, 3] }));
    ctx.check("1", session.getVar("n"), "=", 1);
    ctx.check("2", session.getVar("n"), "=", 2);
    ctx.check("3", session.getVar("n"), "=", 3);
  });
});
"#;
    let played = Played::of(script, &[], &[]);
    played.assert_ran();
    assert_eq!(played.paths(), ["/here"]);
    let errors = played.errors("denied");
    assert!(errors.len() == 1 && errors[0].0.starts_with("denied") && errors[0].1 == 1);
    let checks = played.report["checks"].as_array().unwrap();
    let held: Vec<u64> = checks.iter().map(|row| row["held"].as_u64().unwrap()).collect();
    assert_eq!(held.iter().sum::<u64>(), 3_000, "nothing but 1, 2 and 3");
    // Binomial: four deviations of 3,000 draws of one third.
    assert!(held.iter().all(|held| held.abs_diff(1_000) < 104), "{held:?}");
}

#[test]
fn what_makes_no_sense_is_rejected_with_its_line() {
    let body = "function (session) { session.get('/'); }";
    let phases = "definition.setArrivalPhases([{ duration: 1, rate: 1 }]);";
    for (rest, said) in [
        (
            format!("definition.addTarget('other.example');\ndefinition.session('s', {body});"),
            "relative",
        ),
        (
            format!(
                "definition.session('s', {body});\n\
                 definition.setSessionProbabilities({{ s: 99.9 }});"
            ),
            "99.9",
        ),
        (
            format!("definition.session('s', {body});\ndefinition.session('s', {body});"),
            "test.js:4",
        ),
        (
            "definition.session('s', function (session) {\n session.times(3, function () {});\n});"
                .to_owned(),
            "test.js:4",
        ),
        (
            "definition.session('s', function (session) {\n session.forEver(() => {});\n});"
                .to_owned(),
            "test.js:4",
        ),
        (
            "definition.session('s', (session) => {\n session.if('a', '=', 'b', () => {});\n});"
                .to_owned(),
            "test.js:4",
        ),
        (
            format!("definition.setSessionWeights({{ s: 0 }});\ndefinition.session('s', {body});"),
            "weight",
        ),
    ] {
        let script = format!("definition.addTarget('BASE');\n{phases}\n{rest}\n");
        let played = Played::of(&script, &[], &[]);
        assert_eq!(played.output.code, Some(2), "{rest}\n{}", played.output);
        assert!(played.output.stderr.contains(said), "{rest}\n{}", played.output);
        assert!(played.seen.is_empty());
    }
}
