//! StatsD: a socket that adds up as a server of StatsD does.

use std::{collections::BTreeMap, net::UdpSocket, time::Duration};

use crate::book::{Played, SECONDS, assert_whole};

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
    assert_eq!(timers.round(), (SECONDS * 200) as f64);
    // Two hundred samples a second, 1 to 200 ms, by fifty: half of those are below 100.5 ms.
    assert_eq!(timed.len() as u64, SECONDS * 50);
    let below = timed.iter().filter(|value| **value < 101.5).count() as f64;
    assert!((below / timed.len() as f64 - 0.5).abs() <= 0.02, "{below}");
}
