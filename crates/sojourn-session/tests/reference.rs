//! The reference script: televisions that tell that they are on.

use sojourn_session::Ended;

use crate::util::{Reply, defined, play, program};

const SCRIPT: &str = include_str!("scripts/heartbeat.js");

fn target(line: &str) -> Option<Reply> {
    match line.contains("/data/token.json") {
        true => Some(Reply::ok("{\"authorization\":{\"token\":\"5ojourn0mock0token\"}}")),
        false => Some(Reply::ok("pong")),
    }
}

#[test]
fn it_runs_as_it_is_and_its_slip_is_told() {
    let definition = defined(SCRIPT).unwrap();
    let warnings: Vec<_> = definition.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "script.js:14:11: the parameter `id` is not in the URL\n  hint: the URL has `:token`",
            "script.js:14:11: `:token` in the URL has no parameter and is sent as it stands",
        ]
    );
    assert_eq!(definition.options.sizing.as_deref(), Some("preflight"));
    let phase = &definition.phases[0];
    assert_eq!((phase.duration_s, phase.rate_per_s), (300.0, 1.5));
    assert_eq!(phase.name.as_deref(), Some("evening"));
}

#[test]
fn every_client_pings_280_to_320_times_with_its_token() {
    let program = program(SCRIPT);
    let (mut counts, mut waited_s, mut waits) = (Vec::new(), 0.0, 0);
    for client in 0..400 {
        let story = play(&program, 0, client, 10_000, target);
        assert_eq!(story.ended, Some(Ended::Completed));
        let first = &story.lines[0];
        let station = ["Channel Seven", "Twelve, the other", "100 %"]
            .iter()
            .position(|name| first.ends_with(&format!("{{\"station\":\"{name}\"}}")));
        assert!(station.is_some(), "{first}");
        assert!(
            first.starts_with("POST http://testapp.example:9000/data/token.json?station=:token ")
        );
        assert_eq!(story.lines[1], "check token ok");
        let ping = "GET http://testapp.example:9000/ping?token=5ojourn0mock0token&delay=100";
        let pings = story.lines.iter().filter(|line| *line == ping).count();
        assert!((280..=320).contains(&pings), "{pings}");
        assert_eq!(story.lines.len(), 2 + 2 * pings);
        counts.push(pings);
        waited_s += story.waited_s;
        waits += pings;
    }
    counts.sort_unstable();
    assert!(counts[0] < 284 && counts[399] > 316, "both ends are met");
    // The mean of exponential pauses of mean 1 s, within five deviations.
    let mean = waited_s / waits as f64;
    assert!((mean - 1.0).abs() < 5.0 / (waits as f64).sqrt(), "{mean}");
}

#[test]
fn a_client_without_token_ends_and_others_go_on() {
    let program = program(SCRIPT);
    let story = play(&program, 0, 1, 10_000, |_| Some(Reply::ok("{}")));
    assert_eq!(story.ended, Some(Ended::AssertionFailed));
    assert_eq!(story.lines.len(), 2);
    assert_eq!(story.lines[1], "check token KO");
    let story = play(&program, 0, 1, 10_000, |_| None);
    assert_eq!(story.lines[1], "check token KO");
    assert_eq!(play(&program, 0, 2, 10_000, target).ended, Some(Ended::Completed));
}

#[test]
fn the_same_seed_and_number_do_the_same() {
    let program = program(SCRIPT);
    let story = |number| play(&program, 0, number, 10_000, target).lines;
    assert_eq!(story(5), story(5));
    assert_ne!(story(5), story(6));
}

#[test]
fn a_client_is_small() {
    let program = program(SCRIPT);
    // Itself, a loop's counter, a row and a variable, which docs/session-dsl.md tells.
    assert_eq!(program.client_bytes(0), 56 + 2 * 4 + 16);
}
