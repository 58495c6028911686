//! StatsD: the original server, and a socket that adds up as others do.

use std::{collections::BTreeMap, net::UdpSocket, time::Duration};

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_services::{Service, Statsd};

use crate::book::{Played, SECONDS, assert_whole};

/// Samples of the trend of times in each second, and how many of them are sent.
const SAMPLES: u64 = 200;
const SENT: u64 = 50;

/// Names and numbers of an object as Node shows it: `'name': 12,` a line, or all in one.
fn numbers(shown: &str) -> BTreeMap<String, f64> {
    let number = |entry: &str| {
        let (name, value) = entry.rsplit_once(": ")?;
        let is_around = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',' | '\'');
        let value = value.trim_matches(is_around).parse().ok()?;
        Some((name.trim_matches(is_around).to_owned(), value))
    };
    shown.lines().flat_map(|line| line.split(", '")).filter_map(number).collect()
}

/// What the server has by now, when it has read so many lines.
fn counters_after(server: &Statsd, lines: f64) -> BTreeMap<String, f64> {
    let end_ns = now_ns() + 20 * SECOND_NS;
    loop {
        let counters = numbers(&server.list("counters").unwrap());
        if counters["statsd.metrics_received"] >= lines {
            return counters;
        }
        assert!(now_ns() < end_ns, "{counters:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_original_server_has_what_there_was() {
    let mut server = Statsd::start().unwrap();
    let (accounts, _) = Played::to(&[format!("statsd={}", server.address())]).whole();
    assert_whole(&accounts[0], false);
    // Two counters, a gauge, a time and a size.
    let lines = SECONDS * (2 + 1 + SENT + 1);
    let counters = counters_after(&server, lines as f64);
    assert_eq!(counters["statsd.metrics_received"], lines as f64, "{counters:?}");
    assert_eq!(counters["statsd.bad_lines_seen"], 0.0, "{counters:?}");
    // Tags are part of its names.
    let started: u64 = (0..SECONDS).map(|second| 100 + second).sum();
    assert_eq!(counters["sojourn.journeys.started;journey=order;phase=steady"], started as f64);
    let requests = "sojourn.step.requests;journey=order;phase=steady;status=201;step=a_b_c";
    assert_eq!(counters[requests], SECONDS as f64, "{counters:?}");
    // It knows no histograms: it adds sizes up.
    let sizes: u64 = (0..SECONDS).map(|second| 1_000 + second).sum();
    let received = "sojourn.step.received;journey=order;phase=steady";
    assert_eq!(counters[received], sizes as f64, "{counters:?}");
    let gauges = numbers(&server.list("gauges").unwrap());
    let stall = gauges.iter().find(|(name, _)| name.starts_with("sojourn.health.stall;"));
    assert_eq!(*stall.unwrap().1, 1.5 + (SECONDS - 1) as f64 / 1e3, "{gauges:?}");

    // Stopped, it writes what it makes of its timers.
    server.stop();
    let log = std::fs::read_to_string(server.instance().log()).unwrap();
    let (_, data) = log.split_once("timer_data: {").unwrap_or_else(|| panic!("{log}"));
    let of_hop = "'sojourn.stage.hop;journey=order;phase=steady;stage=shipped': {";
    let (_, hop) = data.split_once(of_hop).unwrap_or_else(|| panic!("{log}"));
    let hop = numbers(hop.split_once('}').unwrap().0);
    assert_eq!(hop["count"], (SECONDS * SAMPLES) as f64, "{hop:?}");
    // In milliseconds, 1 to 200 in each second and up to a millisecond more: each value stands for
    // four.
    for (percentile, expected) in [("upper_50", 100.5), ("upper_90", 180.5), ("upper", 200.5)] {
        assert!((hop[percentile] - expected).abs() <= 5.0, "{percentile}: {hop:?}");
    }
}

#[test]
fn a_server_counts_what_there_was() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let target = format!("statsd={}", socket.local_addr().unwrap());
    let mut played = Played::to(&[target]);
    let (mut counters, mut gauges) = (BTreeMap::new(), BTreeMap::new());
    let (mut timers, mut timed) = (0.0, Vec::new());
    let mut buffer = [0; 2_000];
    for second in 0..SECONDS {
        // One after the other: a socket's own buffer is bounded.
        played.second(second + 1 == SECONDS);
        while let Ok(read) = socket.recv(&mut buffer) {
            for line in std::str::from_utf8(&buffer[..read]).unwrap().lines() {
                let (name, rest) = line.split_once(':').unwrap();
                let mut parts = rest.split('|');
                let value: f64 = parts.next().unwrap().parse().unwrap();
                match parts.next().unwrap() {
                    "c" => *counters.entry(name.to_owned()).or_insert(0.0) += value,
                    "g" => drop(gauges.insert(name.to_owned(), value)),
                    "ms" => {
                        let rate = parts.next().unwrap().strip_prefix('@').unwrap();
                        timers += 1.0 / rate.parse::<f64>().unwrap();
                        timed.push(value);
                        let tags = parts.next().unwrap();
                        assert_eq!(tags, "#journey:order,phase:steady,stage:shipped");
                    }
                    "h" => assert_eq!(name, "sojourn.step.received"),
                    other => panic!("{other}"),
                }
            }
        }
    }
    let (accounts, _) = played.end();
    assert_whole(&accounts[0], false);
    let started: u64 = (0..SECONDS).map(|second| 100 + second).sum();
    assert_eq!(counters["sojourn.journeys.started"], started as f64);
    assert_eq!(counters["sojourn.step.requests"], SECONDS as f64);
    assert_eq!(gauges["sojourn.health.stall"], 1.5 + (SECONDS - 1) as f64 / 1e3);
    assert_eq!(timers.round(), (SECONDS * SAMPLES) as f64);
    // Two hundred samples a second, 1 to 200 ms, by fifty: half of those are below 100.5 ms.
    assert_eq!(timed.len() as u64, SECONDS * SENT);
    let below = timed.iter().filter(|value| **value < 101.5).count() as f64;
    assert!((below / timed.len() as f64 - 0.5).abs() <= 0.02, "{below}");
}
