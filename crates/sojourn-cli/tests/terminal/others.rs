//! Commands that make more than one run, or a script's: on a screen, and in a browser beside it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::free_port;

use super::Charges;
use crate::common::until;

/// The frames that a dashboard sends, from now on.
fn frames(port: u16) -> impl Iterator<Item = Value> {
    let mut stream = None;
    until("the dashboard is there", || {
        stream = TcpStream::connect(("127.0.0.1", port)).ok();
        stream.is_some()
    });
    let mut stream = stream.unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.filter_map(|line| {
        let message: Value = serde_json::from_str(line.strip_prefix("data: ")?).unwrap();
        Some(message["frame"].clone())
    })
}

/// A load of a few seconds, which may be asked for at other rates.
fn short(charges: &Charges) {
    let plan = "
name: short
target: TARGET
journeys: { look: { root: { http: GET /, expect: { status: 404 } } } }
load: { rate: \"${RATE:-20/s}\", steady: 4s }
health: { lag_p99_max: 10s, silent_max: 60s }
";
    let plan = plan.replace("TARGET", &charges.target());
    std::fs::write(charges.path().join("short.yaml"), plan).unwrap();
}

/// Which of several runs each frame was of, those that follow one another once.
fn named(frames: impl Iterator<Item = Value>) -> Vec<String> {
    let mut names: Vec<_> = frames.map(|it| it["of"].as_str().unwrap().to_owned()).collect();
    names.dedup();
    names
}

#[test]
fn of_several_runs_the_screen_and_the_browser_say_which_one_it_is() {
    let charges = Charges::start();
    short(&charges);
    let port = free_port().unwrap();
    let sweep = format!(
        "sweep short.yaml --vary RATE=20/s,30/s --report sweep.json --web=127.0.0.1:{port}"
    );
    let tmux = charges.terminal(120, 30, "", &sweep);
    let names = std::thread::spawn(move || named(frames(port)));
    tmux.shows(&["short run 1 of 2: RATE=20/s", "look"]);
    tmux.keys(&["+"]);
    tmux.shows(&["each run has the rate that it is there for"]);
    tmux.shows(&["short run 2 of 2: RATE=30/s", "look"]);
    assert_eq!(charges.ended(&tmux), "0");
    assert_eq!(names.join().unwrap(), ["run 1 of 2: RATE=20/s", "run 2 of 2: RATE=30/s"]);
    let printed = tmux.history();
    assert!(printed.contains("run 2  ") && printed.contains("report    sweep.json"), "{printed}");
}

#[test]
fn of_a_search_the_screen_and_the_browser_say_which_step_it_is() {
    let charges = Charges::start();
    short(&charges);
    let port = free_port().unwrap();
    let search = format!(
        "search short.yaml --from 20/s --to 30/s --step 5s --report search.json --live screen \
         --web=127.0.0.1:{port}"
    );
    let tmux = charges.terminal(120, 30, "", &search);
    let names = std::thread::spawn(move || named(frames(port)));
    tmux.shows(&["short step 1, 20/s", "asked 20", "look"]);
    tmux.keys(&["+"]);
    tmux.shows(&["each run has the rate that it is there for"]);
    tmux.shows(&["short step 2, 30/s", "asked 30", "look"]);
    // The highest that held is held once more.
    tmux.shows(&["short step 3, 30/s", "look"]);
    assert_eq!(charges.ended(&tmux), "0");
    assert_eq!(names.join().unwrap(), ["step 1, 20/s", "step 2, 30/s", "step 3, 30/s"]);
    let printed = tmux.history();
    for words in ["step 3  30/s  held", "report    search.json", "CAPACITY"] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

#[cfg(feature = "script")]
#[test]
fn a_script_has_a_screen_and_a_dashboard_and_what_it_prints_is_not_lost() {
    let charges = Charges::start();
    let script = "
import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = {
    vus: 2, duration: '6s',
    thresholds: { http_reqs: ['count>0'], http_req_duration: ['p(99)<0.001'] },
};
export default function () {
    const answer = http.get('TARGET/');
    check(answer, { 'nothing there': (it) => it.status === 404 });
    if (__VU === 1 && __ITER === 3) console.log('the fourth of the first');
    sleep(0.1);
}
";
    let script = script.replace("TARGET", &charges.target());
    std::fs::write(charges.path().join("look.js"), script).unwrap();
    let port = free_port().unwrap();
    let run = format!("run look.js --live screen --web=127.0.0.1:{port}");
    let tmux = charges.terminal(120, 30, "", &run);
    let seen = std::thread::spawn(move || frames(port).collect::<Vec<_>>());
    tmux.shows(&[
        "look steady ",
        "clients 2",
        "iterations ─",
        "http ",
        "✘ http_req_duration: p(99)<0.001",
        "✔ http_reqs: count>0",
    ]);
    assert_eq!(charges.ended(&tmux), "99");
    let printed = tmux.history();
    assert_eq!(printed.matches("the fourth of the first").count(), 1, "{printed}");
    assert!(printed.contains("http_req_duration"), "{printed}");
    let seen = seen.join().unwrap();
    let last = seen.last().unwrap();
    assert_eq!(last["stretch"], "over");
    let (completed, held) = (&last["counts"]["completed"], &last["checks"][0]["held"]);
    assert!(completed.as_u64() >= Some(20) && completed == held, "{last}");
    assert_eq!(last["journeys"][0]["steps"][0]["requests"], *completed, "{last}");
    // Each threshold has what it was held against, as the summary writes it.
    let threshold = |start: &str| {
        let all = last["thresholds"].as_array().unwrap();
        let is_it = |it: &&serde_json::Value| it["text"].as_str().unwrap().starts_with(start);
        all.iter().find(is_it).unwrap_or_else(|| panic!("{last}"))
    };
    let (count, duration) = (threshold("http_reqs"), threshold("http_req_duration"));
    assert_eq!(count["measured"].as_f64(), completed.as_u64().map(|count| count as f64));
    assert_eq!(count["measured_text"], completed.to_string(), "{last}");
    let p99 = duration["measured_text"].as_str().unwrap();
    assert!(duration["measured"].as_f64() > Some(0.001) && p99.ends_with('s'), "{p99}");
}
