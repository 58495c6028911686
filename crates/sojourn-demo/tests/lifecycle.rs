//! Starting and stopping, and what can go wrong there.

use crate::support::{Client, Tap, quick, until};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_demo::{Demo, DemoConfig, DemoError, KafkaChoice, ServiceTime, TruthLog};
use std::net::TcpListener;

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let config = DemoConfig { api_listen: taken.local_addr().unwrap(), ..DemoConfig::default() };
    let error = Demo::start(config).err().unwrap();
    assert!(matches!(error, DemoError::Listen { .. }));
    let port = taken.local_addr().unwrap().port().to_string();
    assert!(error.to_string().contains(&port), "{error}");
}

#[test]
fn an_unreachable_kafka_is_named_in_time() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let begun_ns = now_ns();
    let config =
        DemoConfig { kafka: KafkaChoice::External(address.clone()), ..DemoConfig::default() };
    let error = Demo::start(config).err().unwrap();
    assert!(matches!(error, DemoError::KafkaUnreachable { .. }), "{error}");
    assert!(error.to_string().contains(&address), "{error}");
    assert!(now_ns() - begun_ns < 20 * SECOND_NS);
}

#[test]
fn an_external_kafka_is_used_from_its_end_on() {
    // One demo's embedded broker is the other's external one.
    let folder = tempfile::tempdir().unwrap();
    let host = Demo::start(quick(folder.path())).unwrap();
    let mut client = Client::connect(&host);
    let old = client.pay();
    until(|| host.counts().consumed == 4);

    let other = tempfile::tempdir().unwrap();
    let mut config = quick(other.path());
    config.kafka = KafkaChoice::External(host.brokers().to_owned());
    let truth_path = config.truth_path.clone().unwrap();
    let guest = Demo::start(config).unwrap();
    let key = Client::connect(&guest).pay();
    let mut tap = Tap::open(host.brokers(), "payments.events", 4);
    tap.read(8);
    until(|| guest.counts().consumed == 4);
    guest.stop().unwrap();
    // The host sees the guest's events too and leaves them alone.
    until(|| host.counts().consumed == 8);
    let mut dead_letters = Tap::open(host.brokers(), "payments.dead-letter", 4);
    dead_letters.read(0);
    assert_eq!(dead_letters.seen, []);
    assert_eq!(tap.types_of(&key).len(), 4);
    assert_eq!(tap.types_of(&old).len(), 4);
    let truth = TruthLog::read(truth_path).unwrap();
    assert_eq!(truth.journeys.keys().collect::<Vec<_>>(), [&key]);
    drop(host);
}

#[test]
fn a_stop_in_the_middle_is_quick_and_leaves_a_whole_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.settled.service = ServiceTime::fixed_ms(3_000_000);
    let truth_path = config.truth_path.clone().unwrap();
    let demo = Demo::start(config).unwrap();
    let mut client = Client::connect(&demo);
    for _ in 0..50 {
        client.pay();
    }
    until(|| demo.counts().published_first == 100);
    let begun_ns = now_ns();
    demo.stop().unwrap();
    assert!(now_ns() - begun_ns < 20 * SECOND_NS);
    let truth = TruthLog::read(truth_path).unwrap();
    assert!(truth.complete);
    assert_eq!(truth.totals().unfinished, 50);
}

#[test]
fn a_nearly_full_embedded_broker_refuses_payments_and_forgets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.partitions = 1;
    let demo = Demo::start(config).unwrap();
    let mut client = Client::connect(&demo);
    let body = r#"{"amount": 1, "currency": "GBP"}"#;
    let mut send = || client.send("POST", "/api/payment/create", body);
    // Five mebibytes are 20,000 events of some 250 bytes.
    let refused = (0..20_000).map(|_| send()).find(|(status, _)| *status != 200);
    let (status, answer) = refused.unwrap();
    assert_eq!(status, 503);
    assert!(answer.contains("more partitions"), "{answer}");
    let accepted = demo.counts().accepted;
    assert!(accepted > 1_000, "{accepted}");
    // Journeys in flight end, and `read` checks that the oldest message is still there.
    let mut tap = Tap::open(demo.brokers(), "payments.events", 1);
    tap.read(4 * accepted as usize);
    let counts = demo.stop().unwrap();
    assert!(counts.refused > 0);
    assert!(counts.problems[0].contains("more partitions"));
}

#[test]
fn a_demo_may_change_threads() {
    fn movable<T: Send + Sync>() {}
    movable::<Demo>();
}

#[test]
fn a_log_cut_off_in_a_line_is_read_up_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = quick(folder.path());
    let truth_path = config.truth_path.clone().unwrap();
    let demo = Demo::start(config).unwrap();
    Client::connect(&demo).pay();
    until(|| demo.counts().consumed == 4);
    demo.stop().unwrap();
    let whole = std::fs::read(&truth_path).unwrap();
    std::fs::write(&truth_path, &whole[..whole.len() - 5]).unwrap();
    let truth = TruthLog::read(&truth_path).unwrap();
    assert!(!truth.complete);
    assert_eq!(truth.totals().completed, 1);
    std::fs::write(&truth_path, "{}\n").unwrap();
    let error = TruthLog::read(&truth_path).unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
}

#[test]
fn a_store_that_was_there_before_is_taken_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.store_path = Some(folder.path().join("events.db"));
    for round in 0..2 {
        let demo = Demo::start(config.clone()).unwrap();
        Client::connect(&demo).pay();
        until(|| demo.counts().consumed == 4);
        let counts = demo.stop().unwrap();
        assert_eq!(counts.published_first, 4, "round {round}");
    }
}
