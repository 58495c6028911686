//! How requests are bundled, and what is served about them meanwhile.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use sojourn_clock::MILLISECOND_NS;
use sojourn_testkit::{closed_port, free_port, sojourn, temp_dir};

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

/// Arrivals of a pace in a second, by tenths of it.
fn arrivals(words: &[&str]) -> [usize; 10] {
    let server = Server::start();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let made = attack_to("out.bin", &[words, &[&url]].concat(), "");
    assert_eq!(made.output.code, Some(0), "{}", made.output);
    // By the records, which a busy machine makes late as little as may be.
    let hits = made.hits();
    assert_eq!(hits.len(), server.take().len());
    let first_ns = hits.iter().map(|hit| hit.unix_ns).min().unwrap();
    let mut tenths = [0; 10];
    for hit in hits {
        tenths[((hit.unix_ns - first_ns) / 100_000_000).clamp(0, 9) as usize] += 1;
    }
    tenths
}

#[test]
fn paces_are_what_the_server_sees() {
    let sine = "sine:mean=100,amplitude=90,period=1s";
    let paces = [
        (vec!["-pace", "500ms@20,500ms@180"], 100, 10),
        (vec!["-pace", "0..200", "-duration", "1s"], 100, 25),
        (vec!["-pace", sine, "-duration", "1s"], 100, 80),
    ];
    // At the same time: each takes a second.
    std::thread::scope(|scope| {
        let runs = paces.map(|(words, whole, before)| {
            scope.spawn(move || {
                let tenths = arrivals(&words);
                let halves = [&tenths[..5], &tenths[5..]].map(|half| half.iter().sum::<usize>());
                assert!(halves[0] + halves[1] <= whole + 2, "{words:?}: {tenths:?}");
                assert!(halves[0] + halves[1] >= whole - 2, "{words:?}: {tenths:?}");
                assert!(halves[0].abs_diff(before) <= 10, "{words:?}: {tenths:?}");
            })
        });
        let poisson = scope.spawn(|| {
            let [even, random] = [vec![], vec!["-poisson"]].map(|more| {
                let rate = ["-rate", "300", "-duration", "1s"];
                let tenths = arrivals(&[&rate[..], &more].concat());
                tenths.iter().max().unwrap() - tenths.iter().min().unwrap()
            });
            // Of 30 in a tenth on the average, some tenths have far more than others.
            assert!(random > 3 && random > even, "{random} and {even}");
        });
        runs.into_iter().for_each(|run| run.join().unwrap());
        poisson.join().unwrap();
    });
}

#[test]
fn words_without_a_number_mean_what_they_say() {
    let server = Server::start();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let words = ["-rate", "20", "-duration", "200ms", "-timeout", "0", "-workers", "3", &url];
    assert_eq!(attack_to("out.bin", &words, "").hits().len(), 4);
    server.take();
    let words = ["-rate=infinity", "-max-workers", "2", "-duration", "200ms", &url];
    let hits = attack_to("out.bin", &words, "").hits();
    assert!(hits.len() > 20 && hits.len() == server.take().len(), "{}", hits.len());
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
    let good = format!("http://{}/path", echo::serve(echo::echo));
    let bad = format!("http://127.0.0.1:{}/", closed_port().unwrap());
    let (folder, port) = (temp_dir().unwrap(), free_port().unwrap());
    let address = format!("127.0.0.1:{port}");
    let words = ["attack", "-output", "out.bin", "-rate", "50", "-duration", "0"];
    let words = [&words[..], &["-prometheus-addr", &address]].concat();
    let targets = format!("GET {good}\n\nGET {bad}\n");
    let running = sojourn(words).in_dir(folder.path()).input(targets.as_str()).start().unwrap();
    // Labels are by target, with what came of it.
    let value = |text: &str, series: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(series))?;
        rest.trim().parse::<f64>().ok()
    };
    let answered = format!("request_count_total{{target=\"GET {good}\",status=\"200\"}}");
    let failed = format!("request_fail_count_total{{target=\"GET {bad}\",message=\"connect\"}}");
    let mut text = String::new();
    until("figures are served", || {
        text = page(port).unwrap_or_default();
        [&answered, &failed].iter().all(|series| value(&text, series) > Some(0.0))
    });
    for series in [
        format!("request_seconds_count{{target=\"GET {good}\"}}"),
        format!("request_seconds_bucket{{target=\"GET {good}\",le=\"+Inf\"}}"),
        format!("request_bytes_in_total{{target=\"GET {good}\"}}"),
        format!("request_count_total{{target=\"GET {bad}\",status=\"connect\"}}"),
    ] {
        assert!(value(&text, &series) > Some(0.0), "{series}: {text}");
    }
    let unfailed = format!("request_fail_count_total{{target=\"GET {good}\"");
    assert!(!text.contains(&unfailed), "{text}");
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(page(port), None, "it is served still");
}
