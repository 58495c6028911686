//! `sojourn doctor`: what is well passes, and each thing that is wrong is named with what to do.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rdkafka::{
    ClientConfig, Offset, TopicPartitionList,
    consumer::{BaseConsumer, CommitMode, Consumer},
    mocking::MockCluster,
};
use serde_json::Value;
use sojourn_demo::{Demo, DemoConfig};
use sojourn_mock::{Mock, MockOptions, TlsIdentity, test_target};
use sojourn_testkit::{Output, closed_port, free_port, sojourn, temp_dir};

use crate::common::alone;

/// A system that answers each POST with a key and posts a webhook of it, if it is told where.
struct System {
    address: SocketAddr,
    requests: Arc<AtomicU64>,
}

impl System {
    fn start(webhook: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&requests);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = Arc::clone(&count);
                std::thread::spawn(move || serve(stream, &count, webhook));
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, count: &AtomicU64, webhook: Option<u16>) {
    let mut buffer = [0; 4_096];
    while stream.read(&mut buffer).is_ok_and(|length| length > 0) {
        let key = format!("p-{}", count.fetch_add(1, Ordering::SeqCst));
        let body = format!(r#"{{"paymentId":"{key}"}}"#);
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
        if let Some(port) = webhook {
            let event = format!(r#"{{"type":"Settled","paymentId":"{key}"}}"#);
            let mut hook = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let head = "POST /hooks HTTP/1.1\r\nhost: hooks\r\nconnection: close\r\n";
            let kind = "content-type: application/json";
            let post = format!("{head}{kind}\r\ncontent-length: {}\r\n\r\n{event}", event.len());
            hook.write_all(post.as_bytes()).unwrap();
            // Its answer is not looked at.
            hook.read_to_end(&mut Vec::new()).unwrap();
        }
    }
}

/// A journey with one webhook.
fn webhook_plan(target: &str, port: u16) -> String {
    format!(
        "name: hooked\ntarget: {target}\nchannels:\n  hooks: {{ webhook: {{ listen: \"127.0.0.1:{port}\", path: \
         /hooks }} }}\njourneys:\n  payment:\n    root:\n      http: {{ method: POST, url: /pay, timeout: 2s }}\n      \
         key: body.paymentId\n    stages: [{{ name: settled, on: hooks, match: {{ type: Settled }}, key: $.paymentId \
         }}]\n    within: 2s\nload: {{ rate: 10/s, steady: 1s }}\nhealth: {{ lag_p99_max: 60s }}\n"
    )
}

/// A journey whose event comes over Kafka.
fn kafka_plan(target: &str, brokers: &str, topic: &str) -> String {
    let kafka = format!("kafka: {{ brokers: \"{brokers}\", topics: [{topic}] }}");
    let plan = webhook_plan(target, 1);
    plan.replace("webhook: { listen: \"127.0.0.1:1\", path: /hooks }", &kafka)
}

/// Looks at a plan in a folder of its own; further files lie beside it.
fn doctor(text: &str, arguments: &[&str]) -> Output {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let mut all = vec!["doctor", "plan.yaml"];
    all.extend(arguments);
    sojourn(all).in_dir(folder.path()).run().unwrap()
}

/// The checks of an output in JSON.
fn checks(output: &Output) -> Vec<Value> {
    let report: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"));
    report["checks"].as_array().unwrap().clone()
}

/// The only check of this name and subject.
fn check(checks: &[Value], name: &str, subject: &str) -> Value {
    let mut found =
        checks.iter().filter(|check| check["name"] == name && check["subject"] == subject);
    let only = found.next().unwrap_or_else(|| panic!("no {name} {subject} in {checks:#?}"));
    assert!(found.next().is_none(), "{checks:#?}");
    only.clone()
}

fn failed(checks: &[Value]) -> Vec<&str> {
    let failed = checks.iter().filter(|check| check["outcome"] == "failed");
    failed.map(|check| check["name"].as_str().unwrap()).collect()
}

#[test]
fn a_healthy_plan_passes_and_nothing_is_sent() {
    let port = free_port().unwrap();
    let system = System::start(Some(port));
    let target = format!("http://{}", system.address);
    let text = webhook_plan(&target, port);
    let output = doctor(&text, &["--format", "json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let all = checks(&output);
    let one = |name: &str, subject: &str| check(&all, name, subject);
    for (name, subject) in [
        ("plan", "hooked"),
        ("memory", ""),
        ("descriptors", ""),
        ("ports", &*system.address.to_string()),
        ("target", &*system.address.to_string()),
        ("channel", "hooks"),
    ] {
        assert_eq!(one(name, subject)["outcome"], "passed", "{name}: {output}");
    }
    assert!(
        one("target", &system.address.to_string())["found"]
            .as_str()
            .unwrap()
            .contains("nothing was requested")
    );
    assert_eq!(one("probe", "")["outcome"], "skipped");
    assert_eq!(one("name", "")["outcome"], "skipped");
    assert_eq!(system.requests(), 0, "a request was sent without --probe");
    // The tap has been closed: its address is free again.
    TcpListener::bind(("127.0.0.1", port)).unwrap();
}

#[test]
fn a_probe_sends_one_journey_and_every_tap_sees_it() {
    let port = free_port().unwrap();
    let system = System::start(Some(port));
    let text = webhook_plan(&format!("http://{}", system.address), port);
    let output = doctor(&text, &["--probe", "--format", "json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let probe = check(&checks(&output), "probe", "payment");
    assert_eq!(probe["outcome"], "passed", "{output}");
    let found = probe["found"].as_str().unwrap();
    assert!(found.contains("root ") && found.contains("settled "), "{output}");
    assert_eq!(system.requests(), 1);
    // As text: a mark and a name for each, and a sentence at the end.
    let output = doctor(&text, &["--probe"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("\n✓ probe        payment: "), "{output}");
    assert!(output.stdout.lines().last().unwrap().starts_with("ready: "), "{output}");
    assert!(output.stdout.lines().all(|line| line.chars().count() <= 100), "{output}");
    assert!(!output.stdout.contains('\u{1b}') && output.stderr.is_empty(), "{output}");
}

#[test]
fn a_tap_that_never_sees_its_stage_is_named_by_the_probe() {
    let port = free_port().unwrap();
    let system = System::start(None);
    let text = webhook_plan(&format!("http://{}", system.address), port);
    let output = doctor(&text, &["--probe"]);
    assert_eq!(output.code, Some(2), "{output}");
    let probe: Vec<&str> =
        output.stdout.lines().skip_while(|line| !line.starts_with("✗ probe")).collect();
    assert!(
        probe[0].contains("payment: not seen: stage settled within 2.00 s; seen: root"),
        "{output}"
    );
    assert!(probe[1].contains("→") && probe[1].contains("settled"), "{output}");
    assert!(output.stdout.contains("`sojourn watch FILE hooks`"), "{output}");
    assert!(output.stdout.contains("\nnot ready: 1 failed"), "{output}");
    assert_eq!(system.requests(), 1);
}

#[test]
fn a_root_that_is_refused_says_what_was_answered() {
    let port = free_port().unwrap();
    let system = System::start(Some(port));
    let text = webhook_plan(&format!("http://{}", system.address), port);
    let text = text.replace("      key:", "      expect: { status: 201 }\n      key:");
    let output = doctor(&text, &["--probe", "--format", "json"]);
    assert_eq!(output.code, Some(2), "{output}");
    let probe = check(&checks(&output), "probe", "payment");
    let found = probe["found"].as_str().unwrap();
    assert_eq!(probe["outcome"], "failed", "{output}");
    assert!(found.contains("200"), "{output}");
}

#[test]
fn the_demo_is_well_and_its_journeys_are_seen_on_kafka() {
    let _turn = alone();
    let demo = Demo::start(DemoConfig::default()).unwrap();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/payments.yaml");
    let (target, kafka) =
        (format!("TARGET={}", demo.api_url()), format!("KAFKA={}", demo.brokers()));
    let arguments = ["doctor", plan, "-e", &target, "-e", &kafka, "--probe", "--format", "json"];
    let output = sojourn(arguments).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let all = checks(&output);
    for channel in ["events", "dead-letters"] {
        let channel = check(&all, "channel", channel);
        assert_eq!(channel["outcome"], "passed", "{output}");
        assert!(channel["found"].as_str().unwrap().contains("ready in"), "{output}");
    }
    let payment = check(&all, "probe", "payment");
    let found = payment["found"].as_str().unwrap();
    for stage in ["root", "initiated", "created", "settled", "completed"] {
        assert!(found.contains(&format!("{stage} ")), "{output}");
    }
    assert_eq!(check(&all, "probe", "rejected")["outcome"], "passed", "{output}");
    demo.stop().unwrap();
}

#[test]
fn a_target_that_refuses_and_a_name_that_nobody_knows_are_failures() {
    let port = free_port().unwrap();
    let nobody = format!("127.0.0.1:{}", closed_port().unwrap());
    let output =
        doctor(&webhook_plan(&format!("http://{nobody}"), port), &["--probe", "--format", "json"]);
    assert_eq!(output.code, Some(2), "{output}");
    let all = checks(&output);
    assert_eq!(failed(&all), ["target"]);
    let target = check(&all, "target", &nobody);
    assert!(target["found"].as_str().unwrap().contains("refused"), "{output}");
    assert!(target["advice"].as_str().unwrap().contains("--target"), "{output}");
    // The others were looked at all the same; what needs the target was not.
    assert_eq!(check(&all, "channel", "hooks")["outcome"], "passed", "{output}");
    assert_eq!(check(&all, "probe", "")["outcome"], "skipped", "{output}");

    // Longer than a label may be: the system refuses it without asking anybody.
    let name = format!("{}.test", "x".repeat(64));
    let output = doctor(&webhook_plan(&format!("http://{name}:1"), port), &["--format", "json"]);
    assert_eq!(output.code, Some(2), "{output}");
    let all = checks(&output);
    assert_eq!(failed(&all), ["name"], "{output}");
    assert_eq!(check(&all, "target", &format!("{name}:1"))["outcome"], "skipped", "{output}");
}

#[test]
fn a_broker_that_is_not_there_and_a_missing_topic_are_failures() {
    let system = System::start(None);
    let target = format!("http://{}", system.address);
    let nobody = format!("127.0.0.1:{}", closed_port().unwrap());
    let output = doctor(&kafka_plan(&target, &nobody, "payments"), &["--format", "json"]);
    assert_eq!(output.code, Some(2), "{output}");
    let all = checks(&output);
    assert_eq!(failed(&all), ["channel"], "{output}");
    let channel = check(&all, "channel", "hooks");
    assert!(channel["found"].as_str().unwrap().contains(&nobody), "{output}");
    assert_eq!(check(&all, "target", &system.address.to_string())["outcome"], "passed");

    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("payments.events", 1, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    let output = doctor(&kafka_plan(&target, &brokers, "payment.events"), &["--format", "json"]);
    assert_eq!(output.code, Some(2), "{output}");
    let channel = check(&checks(&output), "channel", "hooks");
    assert!(channel["found"].as_str().unwrap().contains("payment.events"), "{output}");
    assert!(channel["advice"].is_string(), "{output}");
    let output = doctor(&kafka_plan(&target, &brokers, "payments.events"), &[]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(system.requests(), 0);
}

#[test]
fn a_backlog_is_read_once_and_a_group_that_nobody_knows_is_a_failure() {
    let system = System::start(None);
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("payments.events", 1, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    let text = kafka_plan(&format!("http://{}", system.address), &brokers, "payments.events");
    let with = |group: &str| {
        let backlog = format!("topics: [payments.events] }}, backlog: [{group}]");
        text.replace("topics: [payments.events] }", &backlog)
    };
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", &brokers)
        .set("group.id", "billing")
        .create()
        .unwrap();
    let mut offsets = TopicPartitionList::new();
    offsets.add_partition_offset("payments.events", 0, Offset::Offset(0)).unwrap();
    consumer.commit(&offsets, CommitMode::Sync).unwrap();
    let output = doctor(&with("billing"), &["--format", "json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let backlog = check(&checks(&output), "backlog", "hooks");
    assert!(backlog["found"].as_str().unwrap().contains("0 waiting"), "{output}");
    let output = doctor(&with("nobody"), &["--probe", "--format", "json"]);
    assert_eq!(output.code, Some(2), "{output}");
    let all = checks(&output);
    assert_eq!(failed(&all), ["backlog"], "{output}");
    assert_eq!(check(&all, "probe", "")["outcome"], "skipped", "{output}");
    assert_eq!(system.requests(), 0);
}

#[test]
fn an_interruption_skips_the_rest() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let brokers = silent.local_addr().unwrap().to_string();
    let system = System::start(None);
    let text = kafka_plan(&format!("http://{}", system.address), &brokers, "payments");
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let arguments = ["doctor", "plan.yaml", "--probe", "--format", "json"];
    let running = sojourn(arguments).in_dir(folder.path()).start().unwrap();
    // It waits for a broker's answer now.
    let _connection = silent.accept().unwrap();
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    let probe = check(&checks(&output), "probe", "");
    assert_eq!((&probe["outcome"], &probe["found"]), (&"skipped".into(), &"interrupted".into()));
    assert_eq!(system.requests(), 0);
}

#[test]
fn an_address_in_use_is_said_of_the_channel() {
    let system = System::start(None);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = doctor(&webhook_plan(&format!("http://{}", system.address), port), &[]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stdout.contains("✗ channel      hooks: "), "{output}");
    assert!(output.stdout.contains("in use"), "{output}");
}

#[test]
fn a_file_that_is_no_plan_is_said_with_its_place_and_the_rest_is_skipped() {
    let text = webhook_plan("http://127.0.0.1:1", 1)
        .replace("channels:", "data: { users: { csv: users.csv } }\nchannels:");
    let output = doctor(&text, &["--format", "json"]);
    assert_eq!(output.code, Some(2), "{output}");
    let all = checks(&output);
    let (plan, rest) = all.split_first().unwrap();
    let found = plan["found"].as_str().unwrap();
    assert!(found.starts_with("plan.yaml:3:") && found.contains("users.csv"), "{output}");
    assert!(!rest.is_empty() && rest.iter().all(|check| check["outcome"] == "skipped"), "{output}");

    let missing = doctor(&text.replace("127.0.0.1:1\n", "${NOT_SET_ANYWHERE}\n"), &[]);
    assert_eq!(missing.code, Some(2), "{missing}");
    assert!(
        missing.stdout.contains("plan.yaml:2:") && missing.stdout.contains("NOT_SET_ANYWHERE"),
        "{missing}"
    );
    let nothing = sojourn(["doctor", "no-such-plan.yaml"]).run().unwrap();
    assert_eq!(nothing.code, Some(2), "{nothing}");
    assert!(
        nothing.stdout.contains("no-such-plan.yaml") && nothing.stdout.contains("sojourn init"),
        "{nothing}"
    );
    let script = sojourn(["doctor", "script.js"]).run().unwrap();
    assert_eq!(script.code, Some(2), "{script}");
    assert!(script.stdout.contains("k6 script") && script.stdout.contains("not yet"), "{script}");
}

#[test]
fn a_certificate_of_another_name_is_a_failure() {
    let identity = TlsIdentity::self_signed(&[]).unwrap();
    let folder = temp_dir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, identity.certificate_pem().unwrap()).unwrap();
    let options = MockOptions {
        listen: ([127, 0, 0, 2], 0).into(),
        threads: std::num::NonZeroUsize::MIN,
        connections_max: 100,
        truth: None,
        run_id: "doctor".to_owned(),
        connectors: Arc::default(),
        tls: Some(Arc::new(identity)),
        spin: false,
    };
    let mock = Mock::start(test_target(1), &options).unwrap();
    let port = mock.address().port();
    let plan = |host: &str| {
        format!(
            "name: tls\ntarget: https://{host}:{port}\njourneys: {{ a: {{ root: {{ http: GET / }} }} }}\nload: {{ \
             rate: 10/s, steady: 1s }}\n"
        )
    };
    let ca = ca.to_str().unwrap();
    let output = doctor(&plan("127.0.0.2"), &["--ca", ca, "--format", "json"]);
    assert_eq!(output.code, Some(2), "{output}");
    let all = checks(&output);
    assert_eq!(failed(&all), ["target"], "{output}");
    let target = check(&all, "target", &format!("127.0.0.2:{port}"));
    let found = target["found"].as_str().unwrap();
    assert!(found.contains("TLS") && found.contains("certificate"), "{output}");
    assert!(target["advice"].as_str().unwrap().contains("--ca"), "{output}");
    // Where nobody verifies it, that is worth a word.
    let output = doctor(&plan("127.0.0.2"), &["--insecure", "--format", "json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let target = check(&checks(&output), "target", &format!("127.0.0.2:{port}"));
    assert_eq!(target["outcome"], "warned", "{output}");
    assert!(target["found"].as_str().unwrap().contains("valid until"), "{output}");
}

#[test]
fn users_without_a_connection_are_a_failure_and_the_limit_is_named() {
    let system = System::start(None);
    let plan = format!(
        "name: many\ntarget: http://{}\njourneys: {{ a: {{ root: {{ http: GET / }} }} }}\nload: {{ users: 5000, \
         steady: 1s }}\n",
        system.address
    );
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
    let limited = format!(
        "ulimit -n 1000 && exec {} doctor plan.yaml --format json",
        env!("CARGO_BIN_EXE_sojourn")
    );
    let output = sojourn_testkit::Program::new("/bin/sh")
        .args(["-c", &limited])
        .in_dir(folder.path())
        .run()
        .unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    let all = checks(&output);
    assert_eq!(failed(&all), ["descriptors"], "{output}");
    let descriptors = check(&all, "descriptors", "");
    assert!(descriptors["found"].as_str().unwrap().contains("1,000 files"), "{output}");
    assert!(descriptors["advice"].as_str().unwrap().contains("ulimit -n"), "{output}");
}
