//! A real Prometheus, written to and scraping.

use serde_json::Value;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_metrics::{Store, names};
use sojourn_outputs::{Counts, SECONDS_NS};
use sojourn_services::{Prometheus, free_port};

use crate::book::{POINTS, Played, SECONDS, assert_whole, hop, steady};

/// The values of an expression now, one for each series.
fn values_of(server: &Prometheus, expression: &str) -> Vec<f64> {
    let text = server.query(expression).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    let result = answer["data"]["result"].as_array();
    let result = result.unwrap_or_else(|| panic!("{expression} yields {text}"));
    result.iter().map(|series| series["value"][1].as_str().unwrap().parse().unwrap()).collect()
}

/// Compares what Prometheus holds with the run's own store.
fn assert_equal(server: &Prometheus, store: &Store) {
    // Played runs lie in the past: their samples are looked for in the last minutes.
    let value = |metric: &str| -> f64 {
        let query = format!("sum(last_over_time({metric}[10m]))");
        let values = values_of(server, &query);
        assert_eq!(values.len(), 1, "{query}");
        values[0]
    };
    let started = store.counter(&steady(names::JOURNEYS_STARTED, &[("journey", "order")]));
    assert_eq!(value("sojourn_journeys_started_total{run=\"run-1\"}"), started as f64);
    let requests = "sojourn_step_requests_total{step=\"a,b c\",plan=\"a \\\"plan\\\", x=1\"}";
    assert_eq!(value(requests), SECONDS as f64);
    assert_eq!(value("sojourn_health_stall_seconds"), 1.5 + (SECONDS - 1) as f64 / 1e3);
    let hops = store.trend(&hop()).unwrap();
    assert_eq!(value("sojourn_stage_hop_seconds_count"), hops.count() as f64);
    let sum_s = hops.totals().sum as f64 / 1e9;
    assert!((value("sojourn_stage_hop_seconds_sum") - sum_s).abs() <= 1e-9 * sum_s);
    for bound_ns in [SECONDS_NS[0], SECONDS_NS[19], 100_000_000, SECONDS_NS[42]] {
        let le = bound_ns as f64 / 1e9;
        let got = value(&format!("sojourn_stage_hop_seconds_bucket{{le=\"{le:?}\"}}"));
        let at_most = hops.count_at_most(bound_ns) as f64;
        assert_eq!(got, at_most, "le {le}");
    }
    assert_eq!(value("sojourn_stage_hop_seconds_bucket{le=\"+Inf\"}"), hops.count() as f64);
    assert_eq!(value("sojourn_step_received_bytes_count"), SECONDS as f64);
}

#[test]
fn remote_write_brings_every_figure() {
    let server = Prometheus::start("").unwrap();
    let target = format!("prometheus-rw={}/api/v1/write", server.url());
    let (accounts, store) = Played::to(&[target]).whole();
    assert_whole(&accounts[0], false);
    assert_equal(&server, &store);
    // Every second of it, by its time.
    let query = "count_over_time(sojourn_journeys_started_total[10m])";
    assert_eq!(values_of(&server, query), [SECONDS as f64]);
}

#[test]
fn a_scrape_finds_the_last_figures() {
    let port = free_port().unwrap();
    let config = format!(
        "scrape_configs:\n- job_name: sojourn\n  scrape_interval: 200ms\n  \
         scrape_timeout: 200ms\n  honor_timestamps: true\n  static_configs:\n  \
         - targets: ['127.0.0.1:{port}']\n"
    );
    let server = Prometheus::start(&config).unwrap();
    let target = format!("prometheus=:{port}?linger=60s");
    // It ends when the last page has been read.
    let began_ns = now_ns();
    let (accounts, store) = Played::to(&[target]).whole();
    assert!(now_ns() - began_ns < 60 * SECOND_NS);
    let given = Counts { frames: SECONDS, points: SECONDS * POINTS, journeys: 0 };
    assert_eq!((accounts[0].given, accounts[0].sent), (given, given), "{:?}", accounts[0]);
    // What was read is stored a moment later.
    let patience_ns = now_ns() + 20 * SECOND_NS;
    let count = "sum(last_over_time(sojourn_stage_hop_seconds_count[10m]))";
    let whole = store.trend(&hop()).unwrap().count() as f64;
    while values_of(&server, count) != [whole] {
        assert!(now_ns() < patience_ns, "{:?}", values_of(&server, count));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_equal(&server, &store);
}

#[test]
fn the_next_run_may_listen_at_the_same_address() {
    let port = free_port().unwrap();
    for _ in 0..3 {
        let (accounts, _) = Played::to(&[format!("prometheus=:{port}")]).whole();
        assert_whole(&accounts[0], false);
    }
}

#[test]
fn one_that_nobody_scrapes_says_so() {
    let port = free_port().unwrap();
    let (accounts, _) = Played::to(&[format!("prometheus=127.0.0.1:{port}?linger=1s")]).whole();
    assert_eq!(accounts[0].last_failure.as_deref(), Some("nobody read the last page"));
}

#[test]
fn a_remote_writer_finds_its_server_again() {
    use sojourn_services::Service;

    let mut server = Prometheus::start("").unwrap();
    let target = format!("prometheus-rw={}/api/v1/write", server.url());
    let mut played = Played::to(&[target]);
    played.second(false);
    server.kill();
    for _ in 1..SECONDS - 1 {
        played.second(false);
    }
    server.restart().unwrap();
    played.second(true);
    let (accounts, store) = played.end();
    let account = &accounts[0];
    assert!(account.last_failure.is_some(), "{account:?}");
    assert_eq!(account.sent.frames + account.dropped.frames, SECONDS);
    // Totals are since the start: seconds that were dropped are in the later ones.
    assert_eq!(account.dropped.frames, 0, "{account:?}");
    assert_equal(&server, &store);
}
