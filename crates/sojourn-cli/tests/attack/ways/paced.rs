//! How requests are bundled, and what is served about them meanwhile.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use sojourn_clock::MILLISECOND_NS;
use sojourn_testkit::{free_port, sojourn, temp_dir};

use super::seen::Server;
use crate::{
    attack::{attack_to, echo},
    common::until,
};

/// A request every 5 ms, which begins up to 200 ms late so that others begin with it.
#[test]
fn with_a_lag_budget_requests_come_in_bunches() {
    const APART_NS: u64 = 40 * MILLISECOND_NS;
    let server = Server::start();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let words = ["-rate", "200", "-duration", "2s", "-lag-budget", "200ms", &url];
    let made = attack_to("out.sojourn", &words, "");
    let seen = server.take();
    assert_eq!(seen.len(), 400, "{}", made.output);
    let mut at_ns: Vec<u64> = seen.iter().map(|seen| seen.at_ns).collect();
    at_ns.sort_unstable();
    let gaps = at_ns.windows(2).filter(|pair| pair[1] - pair[0] > APART_NS).count();
    // Evenly they would be 5 ms apart; of a gap's requests 8 or more come together.
    assert!((5..=50).contains(&gaps), "{gaps} gaps");
    let report = sojourn(["report", "--format", "json", "out.sojourn"]);
    let report = report.in_dir(made.folder.path()).run().unwrap();
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["health"]["lag_budget_ns"].as_f64(), Some(2e8), "{}", report["health"]);
}

/// What an OpenMetrics page has, if it is there.
fn page(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

#[test]
fn figures_are_served_while_the_attack_lasts() {
    let target = format!("http://{}/path", echo::serve(echo::echo));
    let (folder, port) = (temp_dir().unwrap(), free_port().unwrap());
    let address = format!("127.0.0.1:{port}");
    let words = ["attack", "-output", "out.bin", "-rate", "50", "-duration", "0"];
    let words = [&words[..], &["-prometheus-addr", &address, &target]].concat();
    let running = sojourn(words).in_dir(folder.path()).start().unwrap();
    // Labels are by target, with what came of it.
    let is_it = |line: &&str| line.starts_with("request_seconds_count{") && line.contains("200");
    let mut text = String::new();
    until("figures are served", || {
        text = page(port).unwrap_or_default();
        text.lines().any(|line| is_it(&line))
    });
    let count = text.lines().find(is_it).and_then(|line| line.rsplit(' ').next());
    let count: f64 = count.unwrap().parse().unwrap();
    assert!(count >= 1.0, "{text}");
    for name in ["request_seconds_bucket{", "request_bytes_in", "request_bytes_out"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(page(port), None, "it is served still");
}
