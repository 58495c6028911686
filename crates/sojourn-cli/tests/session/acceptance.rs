//! What scripts of others rely on, end to end against the mock's test target, whose own counts and
//! instants say what came: the reference script, targets, phases, weights, texts that go out as
//! they are, values that are missing, loops, random numbers, validations, requirements.
//!
//! Every expression over the target's files is `fixtures`.

use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::{Output, TempDir, sojourn, temp_dir};

use super::run;
use crate::common::assert_exponential;
use crate::mock::Mocked;
use crate::several::is_full;

const REFERENCE: &str = include_str!("../../../sojourn-session/tests/scripts/heartbeat.js");
const STATIONS: &str = include_str!("../../../sojourn-session/tests/data/stations.csv");

/// A script's run against a mock, or its validation.
struct Tried {
    mock: Mocked,
    folder: TempDir,
    output: Output,
    report: Value,
}

impl Tried {
    /// `BASE` in the script is the mock's URL, `PORT` its port.
    fn of(mock: Mocked, script: &str, flags: &[&str]) -> Self {
        let base = format!("http://{}", mock.address);
        let script =
            script.replace("BASE", &base).replace("PORT", &mock.address.port().to_string());
        let folder = temp_dir().unwrap();
        std::fs::write(folder.path().join("test.js"), script).unwrap();
        std::fs::write(folder.path().join("stations.csv"), STATIONS).unwrap();
        let arguments = ["run", "test.js", "--quiet"];
        let patience = Duration::from_secs(if is_full() { 900 } else { 120 });
        let program = sojourn(arguments.iter().chain(flags)).in_dir(folder.path());
        let output = program.timeout(patience).run().unwrap();
        let report = serde_json::from_str(&output.stdout).unwrap_or_default();
        Self { mock, folder, output, report }
    }

    /// Under load. A busy machine may make a run void; what was sent and counted is true all the
    /// same.
    fn loaded(script: &str) -> Self {
        Self::loaded_on(Mocked::start(&[], &[]), script)
    }

    fn loaded_on(mock: Mocked, script: &str) -> Self {
        let tried = Self::of(mock, script, &["--format", "json", "--report", "r.json"]);
        assert!(matches!(tried.output.code, Some(0 | 3)), "{}", tried.output);
        tried
    }

    /// Requests that the mock's route of this name got.
    fn came(&self, route: &str) -> u64 {
        self.mock.metric(&format!("route_requests_total{{route=\"{route}\"}}"))
    }

    /// Of a session's clients, over the whole run.
    fn clients(&self, session: &str, class: &str) -> u64 {
        let lines = self.report["ledger"]["journeys"].as_array().expect("journeys");
        let line = lines.iter().find(|line| line["name"] == session).expect("the session");
        line["whole_run"][class].as_u64().unwrap()
    }

    /// How often a check held, and how often not.
    fn check(&self, name: &str) -> (u64, u64) {
        let rows = self.report["checks"].as_array().expect("checks");
        let row = rows.iter().find(|row| row["name"] == name).expect("the check");
        (row["held"].as_u64().unwrap(), row["failed"].as_u64().unwrap())
    }

    /// Requests by tag, and those of them that failed.
    fn tag(&self, tag: &str) -> (u64, u64) {
        let rows = self.report["traffic"]["tags"].as_array().expect("tags");
        let row = rows.iter().find(|row| row["tag"] == tag).expect("the tag");
        (row["requests"].as_u64().unwrap(), row["failed"].as_u64().unwrap())
    }
}

/// The script that users know, with these changes and no others.
fn reference(changes: &[(&str, &str)]) -> String {
    let mut script = REFERENCE.to_owned();
    for (from, to) in [("http://testapp.example:9000", "BASE")].iter().chain(changes) {
        assert!(script.contains(from), "{from}");
        script = script.replace(from, to);
    }
    script
}

/// As it is but for its lengths, or it would take ten minutes; among the slow tests it does.
#[test]
fn the_reference_script_runs_and_its_slip_is_told() {
    let shorter = [
        ("5 * 60, rate: 1.5", "1, rate: 8"),
        ("delay=100", "delay=1"),
        ("waitExp(1)", "waitExp(0.001)"),
    ];
    let script = reference(if is_full() { &[] } else { &shorter });
    let strict = Tried::of(Mocked::start(&[], &[]), &script, &["--strict"]);
    assert_eq!(strict.output.code, Some(2), "{}", strict.output);
    assert_eq!(strict.came("*") + strict.came("/data/token.json"), 0);
    let tried = Tried::loaded(&script);
    for warning in [
        "warning: test.js:14:11: the parameter `id` is not in the URL",
        "warning: test.js:14:11: `:token` in the URL has no parameter",
    ] {
        assert!(tried.output.stderr.contains(warning), "{}", tried.output);
    }
    let ((tokens, no_token), (pings, no_ping)) = (tried.tag("token"), tried.tag("ping"));
    assert_eq!((no_token, no_ping), (0, 0));
    assert_eq!((tried.came("/data/token.json"), tried.came("*")), (tokens, pings));
    assert!(tokens >= 2, "{tokens}");
    assert!((280 * tokens..=320 * tokens).contains(&pings), "{pings} of {tokens}");
    let clients = ["started", "completed"].map(|class| tried.clients("television", class));
    assert_eq!(clients, [tokens, tokens]);
    assert_eq!(tried.check("token"), (tokens, 0));
    let one_each = tried.report["traffic"]["connections_opened"].as_u64();
    assert_eq!(one_each, Some(tokens), "a connection for each client");
}

#[test]
fn one_target_is_left_and_other_hosts_are_denied_also_through_redirects() {
    let script = r#"
definition.addTarget("one.example");
definition.addTarget("localhost:PORT");
definition.setTarget("BASE/some/path");
definition.setArrivalPhases([{ duration: 1, rate: 20 }]);
definition.session("s", function (session) {
  session.get("/demo/search");
  session.get("/to?status=302&location=BASE/random/get_token", { tag: "followed" });
  session.check("there", session.lastHttpStatus(), "=", "200");
  session.get("/to?status=302&location=http://localhost:PORT/cookie/set", { tag: "led away" });
  session.get("http://localhost:PORT/cookie/set", { tag: "denied" });
});
"#;
    let tried = Tried::loaded(script);
    let clients = tried.clients("s", "completed");
    assert!(clients > 5 && clients == tried.clients("s", "started"), "{}", tried.output);
    assert_eq!((tried.came("/demo/search"), tried.came("/random/get_token")), (clients, clients));
    assert_eq!((tried.came("*"), tried.came("/cookie/set")), (2 * clients, 0));
    assert_eq!(tried.check("there"), (clients, 0));
    assert_eq!((tried.tag("denied").1, tried.tag("led away").1), (clients, clients));
}

/// Six thousand clients in a minute take a minute, which only the slow tests have.
#[test]
fn clients_arrive_by_phases_as_a_poisson_process() {
    // Some 4 ms apart: a machine that holds up a few by half a millisecond changes no law.
    let (seconds, rate) = if is_full() { (60, 100) } else { (15, 250) };
    let script = format!(
        r#"
definition.setTarget("BASE");
definition.setArrivalPhases([
  {{ duration: {seconds}, rate: {rate} }},
  {{ duration: 2, rate: 0 }},
  {{ duration: 1, rate: 300, max_clients: 5 }},
]);
definition.session("s", function (session) {{ session.get("/"); }});
"#
    );
    let queue = ["--queue", "mdc:servers=100,rate=10000", "--truth", "truth.ndjson"];
    let tried = Tried::loaded_on(Mocked::start(&[], &queue), &script);
    let started = tried.clients("s", "started");
    let mut instants: Vec<u64> = tried.mock.truth().iter().map(|it| it.arrival_ns).collect();
    instants.sort_unstable();
    assert_eq!(instants.len() as u64, started);
    let last = instants.split_off(instants.len() - 5);
    // A busy machine may hand over the last of one phase late, or the first of the next.
    let silence_ns = last[0] - instants[instants.len() - 1];
    assert!((1_500_000_000..4_000_000_000).contains(&silence_ns), "{silence_ns}");
    let (count, mean) = (instants.len() as f64, f64::from(seconds * rate));
    assert!((count - mean).abs() < 3.0 * mean.sqrt(), "{count}");
    let gaps: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    assert_exponential(&gaps, 0.04);
}

#[test]
fn weights_of_three_to_one_hold_over_ten_thousand_clients_and_a_phase_has_its_own() {
    let script = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([
  { duration: 20, rate: 2000, max_clients: 10000 },
  { duration: 1, rate: 200, max_clients: 50, session_weights: { b: 0, own: 1, a: 0 } },
]);
definition.setSessionWeights({ a: 3, b: 1, own: 0, never: 0 });
definition.session("a", function (session) { session.get("/demo/search"); });
definition.session("b", function (session) { session.get("/random/get_token"); });
definition.session("own", function (session) { session.get("/cookie/set"); });
definition.session("never", function (session) { session.get("/x509/inspect"); });
"#;
    let tried = Tried::loaded(script);
    let (a, b) = (tried.came("/demo/search"), tried.came("/random/get_token"));
    assert_eq!(a + b, 10_000, "{}", tried.output);
    // Three deviations of a binomial distribution.
    let spread = 3.0 * (10_000.0f64 * 0.75 * 0.25).sqrt();
    assert!((a as f64 - 7_500.0).abs() < spread, "{a} to {b}");
    assert_eq!((tried.came("/cookie/set"), tried.came("/x509/inspect")), (50, 0));
}

#[test]
fn texts_go_out_as_they_are() {
    let script = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 1, rate: 20, max_clients: 1 }]);
definition.session("s", function (session) {
  var body = { regexp: { line: "^([^\r]+)", kind: "(?i)content-type: ([^\r\n]+)",
    accepts: "(?i)accept-encoding: ([^\r\n]+)", body: "\r\n\r\n(?s)(.*)" } };
  session.post("/:a/:x?q=:a&left=:x", { params: { a: "a+b%2f%/&c" }, payload: "1 2&:a\n", gzip: false,
    extraction: body });
  session.check("path", session.getVar("line"), "=", "POST /a+b%2f%/&c/:x?q=a+b%2f%/&c&left=:x HTTP/1.1");
  session.check("text", session.getVar("body"), "=", "1 2&:a\n");
  session.check("no gzip", session.getVar("accepts"), "=", "");
  session.post("/form", { payload: { a: "1 2", b: "x&y" }, gzip: true, extraction: body });
  session.check("form", session.getVar("body"), "=", "a=1+2&b=x%26y");
  session.check("kind", session.getVar("kind"), "=", "application/x-www-form-urlencoded");
  session.check("gzip", session.getVar("accepts"), "=", "gzip");
});
"#;
    let tried = Tried::loaded(script);
    for name in ["path", "text", "no gzip", "form", "kind", "gzip"] {
        assert_eq!(tried.check(name), (1, 0), "{name}: {}", tried.output);
    }
}

#[test]
fn who_misses_a_value_ends_alone_and_counts_are_drawn_for_each_client() {
    let script = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 2, rate: 150 }]);
definition.session("s", function (session) {
  session.setVar("n", session.ds.generate("random_number", { range: [1, 3] }));
  session.get("/echo?n=:n", { params: { n: session.getVar("n") },
    extraction: { regexp: { more: "n=([23])" } } });
  session.check("nothing", session.getVar("more"), "=", "");
  session.assert("more", session.getVar("more"), "!=", "");
  session.check("two", session.getVar("n"), "=", 2);
  session.times(session.getVar("n"), function (ctx) { ctx.get("/demo/search"); });
});
"#;
    let tried = Tried::loaded(script);
    let (went_on, ended) = tried.check("more");
    assert!(went_on > 50 && ended > 20, "{went_on}, {ended}");
    assert_eq!(tried.check("nothing"), (ended, went_on), "what is not found is empty");
    let clients = ["failed", "completed"].map(|class| tried.clients("s", class));
    assert_eq!(clients, [ended, went_on]);
    assert_eq!(tried.came("*"), went_on + ended);
    let (twos, threes) = tried.check("two");
    assert_eq!(tried.came("/demo/search"), 2 * twos + 3 * threes);
}

#[test]
fn numbers_are_drawn_evenly_between_both_ends() {
    let script = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 1, rate: 20, max_clients: 1 }]);
definition.session("s", function (session) {
  session.get("/demo/search");
  session.times(3000, function (ctx) {
    ctx.setVar("n", session.ds.generate("random_number", { range: [1, 3] }));
    ctx.check("1", session.getVar("n"), "=", 1);
    ctx.check("2", session.getVar("n"), "=", 2);
    ctx.check("3", session.getVar("n"), "=", 3);
  });
});
"#;
    let tried = Tried::loaded(script);
    let held = ["1", "2", "3"].map(|name| tried.check(name).0);
    assert_eq!(held.iter().sum::<u64>(), 3_000, "nothing but 1, 2 and 3");
    // Binomial: four deviations of 3,000 draws of one third.
    assert!(held.iter().all(|held| held.abs_diff(1_000) < 104), "{held:?}");
}

const VALIDATED: &str = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 3600, rate: 1000 }]);
definition.setSessionWeights({ b: 0 });
definition.session("a", function (session) {
  session.get("/demo/search", { extraction: { jsonpath: { none: "$.none" } } });
  session.check("CHECK", session.lastHttpStatus(), "=", 200);
});
definition.session("b", function (session) { session.get("/random/get_token?status=STATUS"); });
"#;

#[test]
fn a_validation_is_one_client_of_each_session_with_its_traffic() {
    let script = VALIDATED.replace("STATUS", "200");
    let tried = Tried::of(Mocked::start(&[], &[]), &script, &["--validate"]);
    assert_eq!(tried.output.code, Some(0), "{}", tried.output);
    assert_eq!((tried.came("/demo/search"), tried.came("/random/get_token")), (1, 1));
    let told = &tried.output.stdout;
    for part in ["> GET /demo/search HTTP/1.1\n", "> GET /random/get_token", "  ✓ check CHECK\n"]
    {
        assert!(told.contains(part), "{part}\n{}", tried.output);
    }
    assert!(told.contains("✓ test.completed") && told.contains("✓ http.error_ratio: 0"), "{told}");
    let script = VALIDATED.replace("STATUS", "503");
    let tried = Tried::of(Mocked::start(&[], &[]), &script, &["--validate"]);
    assert_eq!(tried.output.code, Some(99), "{}", tried.output);
    assert!(tried.output.stdout.contains("✗ http.error_ratio: 0.5"), "{}", tried.output);
}

#[test]
fn the_usual_requirements_are_met_or_missed_and_one_may_be_switched_off() {
    let usual = "requirements:\n  - test.completed: true\n  - checks: { select: success_rate, \
                 test: [\"=\", 1] }\n  - http.error_ratio: 0\n  - http.latency: { select: maximum, \
                 test: [\"<\", 0], enabled: false }\n";
    for (status, code, ratio) in [("200", 0, "✓ http.error_ratio: 0,"), ("500", 99, "✗ http.err")]
    {
        let script = VALIDATED
            .replace("STATUS", status)
            .replace("3600, rate: 1000", "1, rate: 30")
            .replace("b: 0", "b: 1, a: 1");
        let mock = Mocked::start(&[("nfr.yaml", usual)], &[]);
        let nfr = mock.path("nfr.yaml");
        let tried = Tried::of(mock, &script, &["--nfr", &nfr, "--report", "r.json"]);
        assert!([Some(code), Some(3)].contains(&tried.output.code), "{}", tried.output);
        let lines = ["✓ test.completed: true", ratio, "DISABLED http.latency maximum"];
        for line in lines {
            assert!(tried.output.stdout.contains(line), "{line}\n{}", tried.output);
        }
        assert!(tried.folder.path().join("r.json").is_file());
    }
}

#[test]
fn what_makes_no_sense_is_rejected_with_its_line() {
    let body = "function (session) { session.get('/'); }";
    let phases = "definition.setArrivalPhases([{ duration: 1, rate: 1 }]);";
    let session = format!("definition.session('s', {body});");
    let probabilities = "definition.setSessionProbabilities({ s: 99.9 });";
    let mock = Mocked::start(&[], &[]);
    let base = format!("http://{}", mock.address);
    for (rest, said) in [
        (format!("definition.addTarget('other.example');\n{session}"), "relative"),
        (format!("{session}\n{probabilities}"), "99.9"),
        (format!("{session}\n{session}"), "test.js:4"),
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
        (format!("definition.setSessionWeights({{ s: 0 }});\n{session}"), "weight"),
    ] {
        let folder = temp_dir().unwrap();
        let script = format!("definition.addTarget('{base}');\n{phases}\n{rest}\n");
        std::fs::write(folder.path().join("test.js"), script).unwrap();
        let output = run(folder.path(), ["run", "test.js", "--quiet"].iter());
        assert_eq!(output.code, Some(2), "{rest}\n{output}");
        assert!(output.stderr.contains(said), "{rest}\n{output}");
    }
    assert_eq!(mock.metric("requests_total"), 0);
}
