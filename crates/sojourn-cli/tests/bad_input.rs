//! Input that cannot work: a clear error, a non-zero exit, nothing lost.

use std::net::TcpListener;

use rdkafka::mocking::MockCluster;
use sojourn_metrics::{SeriesKey, SeriesPhase};
use sojourn_record::Verdict;
use sojourn_testkit::{MisbehavingServer, Misbehaviour, Output, closed_port, sojourn, temp_dir};

use crate::common;

/// Runs `sojourn run` on a plan's text, in a folder of its own.
fn run_plan(text: &str, arguments: &[&str]) -> Output {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let mut all = vec!["run", "plan.yaml", "--quiet"];
    all.extend(arguments);
    sojourn(all).in_dir(folder.path()).run().unwrap()
}

/// Checks the exit code and that each of these is said on standard error, and that nothing was
/// written to standard output.
fn refused(output: &Output, said: &[&str]) {
    assert_eq!(output.code, Some(2), "{output}");
    for words in said {
        assert!(output.stderr.contains(words), "`{words}` is not in\n{output}");
    }
    assert_eq!(output.stdout, "", "{output}");
}

/// An API test of one request a tenth of a second, for a second.
fn api_plan(target: &str, root: &str) -> String {
    format!(
        "name: bad\ntarget: {target}\njourneys:\n  get:\n    root: {{ http: GET /, {root} }}\nload:\n  \
         - {{ rate: 10/s, steady: 1s }}\nhealth: {{ lag_p99_max: 60s }}\n"
    )
}

/// Events on a Kafka, root at `target`.
fn kafka_plan(target: &str, brokers: &str, topic: &str) -> String {
    format!(
        "name: bad\ntarget: {target}\nchannels:\n  events: {{ kafka: {{ brokers: \"{brokers}\", \
         topics: [{topic}] }} }}\njourneys:\n  order:\n    root: {{ http: GET /, key: \"{{{{ uuid() \
         }}}}\" }}\n    stages: [{{ name: done, on: events, key: $.id }}]\n    within: 5s\nload:\n  - \
         {{ rate: 10/s, steady: 20s }}\nhealth: {{ lag_p99_max: 60s }}\n"
    )
}

#[test]
fn malformed_yaml_names_its_place() {
    refused(&run_plan("name: x\njourneys: [\n", &[]), &["plan.yaml:"]);
}

#[test]
fn an_unknown_field_has_a_place_and_a_suggestion() {
    let text = "name: x\ntarget: http://127.0.0.1:1\njourneys:\n  j:\n    root: { http: GET / }\n    \
                stages:\n      - { name: a, on: c, matchh: { type: X }, key: $.k }\n    within: 1s\n";
    refused(&run_plan(text, &[]), &["plan.yaml:7:", "unknown field `matchh`", "`match`"]);
}

#[test]
fn a_missing_variable_is_named() {
    let text = api_plan("${NOWHERE_TO_BE_FOUND}", "expect: { status: 200 }");
    refused(&run_plan(&text, &[]), &["plan.yaml:2:", "NOWHERE_TO_BE_FOUND"]);
}

#[test]
fn a_run_of_zero_length_is_no_run() {
    let text = api_plan("http://127.0.0.1:1", "expect: { status: 200 }");
    refused(&run_plan(&text.replace("steady: 1s", "steady: 0s"), &[]), &["plan.yaml:7:"]);
}

#[test]
fn a_missing_plan_and_an_unknown_command_are_wrong_usage() {
    refused(&sojourn(["run", "no-such-plan.yaml"]).run().unwrap(), &["no-such-plan.yaml"]);
    assert_eq!(sojourn(["no-such-command"]).run().unwrap().code, Some(2));
}

#[test]
fn an_unreachable_target_is_said_before_any_load() {
    let target = format!("http://127.0.0.1:{}", closed_port().unwrap());
    let output = run_plan(&api_plan(&target, "expect: { status: 200 }"), &[]);
    refused(&output, &["cannot reach target 127.0.0.1", "hint:"]);
}

#[test]
fn a_broker_that_is_down_is_said_before_any_load() {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Status(200)]).unwrap();
    let brokers = format!("127.0.0.1:{}", closed_port().unwrap());
    let output = run_plan(&kafka_plan(&server.url(""), &brokers, "events"), &[]);
    refused(&output, &["kafka", &brokers]);
    assert_eq!(server.server().requests(), 0, "load was made all the same");
}

#[test]
fn a_missing_topic_is_said_before_any_load() {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Status(200)]).unwrap();
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("orders.events", 1, 1).unwrap();
    let plan = kafka_plan(&server.url(""), &cluster.bootstrap_servers(), "order.events");
    refused(&run_plan(&plan, &[]), &["order.events"]);
    assert_eq!(server.server().requests(), 0, "load was made all the same");
}

#[test]
fn a_broker_lost_in_the_middle_makes_the_run_void() {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Status(200)]).unwrap();
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("events", 1, 1).unwrap();
    let plan =
        common::plan(&kafka_plan(&server.url(""), &cluster.bootstrap_servers(), "events"), &[]);
    let started = std::thread::spawn(move || common::run(&plan, |_| {}));
    while server.server().requests() < 5 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(cluster);
    let run = started.join().unwrap();
    assert_eq!(run.summary.verdict, Verdict::Void, "{:?}", run.summary);
    assert_eq!(sojourn_engine::exit_code(&run.summary), 3);
    let causes = format!("{:?}", run.summary.causes);
    assert!(causes.contains("tap events was lost"), "{causes}");
}

#[test]
fn a_port_in_use_is_named() {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Status(200)]).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let kafka = "kafka: { brokers: \"127.0.0.1:1\", topics: [t] }";
    let hook = format!("webhook: {{ listen: \"{address}\", path: /hooks }}");
    let plan = kafka_plan(&server.url(""), "127.0.0.1:1", "t").replace(kafka, &hook);
    refused(&run_plan(&plan, &[]), &[&address]);
    refused(&sojourn(["demo", "--listen", &address]).run().unwrap(), &[&address]);
}

#[test]
fn an_output_that_cannot_be_written_is_said_before_any_load() {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Status(200)]).unwrap();
    let plan = api_plan(&server.url(""), "expect: { status: 200 }");
    let folder = temp_dir().unwrap();
    let folder = folder.path().to_str().unwrap();
    refused(&run_plan(&plan, &["--output", folder]), &[folder, "--output"]);
    let under_a_file = format!("{folder}/file/run.sojourn");
    std::fs::write(format!("{folder}/file"), "").unwrap();
    refused(&run_plan(&plan, &["--output", &under_a_file]), &["--output"]);
    refused(&run_plan(&plan, &["--report", "x.docx"]), &["x.docx", ".html"]);
    assert_eq!(server.server().requests(), 0, "load was made all the same");
}

#[test]
fn a_body_that_is_not_json_fails_the_root_and_says_so() {
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::NotJson]).unwrap();
    let run = common::run(&common::plan(&api_plan(&server.url(""), "key: body.id"), &[]), |_| {});
    let of = |metric: &str, tags: &[(&str, &str)]| {
        run.file.store.counter(&SeriesKey::new(metric, tags, SeriesPhase::Steady))
    };
    assert_eq!(of("journeys.root_failed", &[("journey", "get")]), 10);
    assert_eq!(of("journeys.completed", &[("journey", "get")]), 0);
    let reasons: Vec<_> = run
        .file
        .store
        .series()
        .filter(|(key, _)| key.metric == "step.failed")
        .filter_map(|(key, _)| key.tag("reason"))
        .collect();
    assert_eq!(reasons, ["no key: the body is not JSON (status 200)"]);
}

#[test]
fn fifty_megabytes_are_discarded_or_refused() {
    const BYTES: u64 = 50 << 20;
    let server = MisbehavingServer::in_sequence(&[Misbehaviour::Huge(BYTES)]).unwrap();
    let few = |root: &str| api_plan(&server.url(""), root).replace("10/s", "2/s");
    let run = common::run(&common::plan(&few("expect: { status: 200 }"), &[]), |_| {});
    let tags = [("journey", "get"), ("step", "root")];
    let key = SeriesKey::new("step.received_bytes", &tags, SeriesPhase::Steady);
    let bytes = run.file.store.trend(&key).unwrap().totals();
    assert_eq!(bytes.count, 2);
    assert!(bytes.min >= BYTES, "{bytes:?}");
    assert_eq!(run.summary.verdict, Verdict::Pass, "{:?}", run.summary);

    let run = common::run(&common::plan(&few("key: body.id"), &[]), |_| {});
    let tags = [("journey", "get"), ("step", "root"), ("status", "body too large")];
    let key = SeriesKey::new("step.requests", &tags, SeriesPhase::Steady);
    assert_eq!(run.file.store.counter(&key), 2);
}

#[test]
fn report_refuses_what_is_no_run_file() {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("x.sojourn"), "not a run file").unwrap();
    let report = |name: &str| sojourn(["report", name]).in_dir(folder.path()).run().unwrap();
    refused(&report("x.sojourn"), &["x.sojourn"]);
    refused(&report("missing.sojourn"), &["missing.sojourn"]);
}
