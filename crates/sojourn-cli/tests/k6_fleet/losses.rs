//! Generators that are lost, and tests that end early.

use sojourn_testkit::services::CutProxy;

use super::*;
use crate::generators::kill;

const LONG: &str = r#"
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 6, duration: 'TIME' };
export default function () { http.get('BASE/x'); sleep(0.03); }
export function teardown() { http.get('BASE/teardown'); }
"#;

/// Two generators, of which the one that came second is killed once the load has begun.
fn one_is_killed(time: &str, flags: &[&str]) -> (Desk, Output) {
    let desk = Desk::new(&LONG.replace("TIME", time));
    let flags = [&["--reconnect-within", "2s"], flags].concat();
    let (coordinator, mut generators) = desk.begin(2, &flags);
    let killed = generators.remove(1);
    kill(killed.pid());
    drop(killed);
    let output = coordinator.wait().unwrap();
    let other = generators.remove(0).wait().unwrap();
    assert_eq!(other.code, Some(0), "{other}");
    assert_eq!(desk.here.book.count("/teardown"), 1, "{output}");
    // What was told until then counts, and nothing that nobody has seen.
    let seen = desk.here.book.paths().len();
    assert!((1..=seen).contains(&desk.count("http_reqs")), "{output}");
    (desk, output)
}

const NAMED: &str = "ended early (there was no connection for 2 s)";

#[test]
fn a_killed_generator_is_named_and_the_rest_goes_on_to_the_end() {
    let (desk, output) = one_is_killed("8s", &[]);
    assert_eq!(output.code, Some(109), "{output}");
    assert!(output.stderr.contains("generator process "), "{output}");
    let goes_on = format!("{NAMED}; the test goes on without its users");
    assert!(output.stderr.contains(&goes_on), "{output}");
    assert!(output.stderr.contains("lack what was lost"), "{output}");
    // The other one had its three users to the end: some 33 iterations a second each.
    assert!(desk.count("iterations") > 200, "{output}");
}

#[test]
fn a_test_may_go_on_without_one_and_pass() {
    let (_, output) = one_is_killed("7s", &["--on-loss", "continue"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains(NAMED), "{output}");
}

#[test]
fn a_test_may_end_with_the_first_loss() {
    let (desk, output) = one_is_killed("100s", &["--on-loss", "abort"]);
    assert_eq!(output.code, Some(109), "{output}");
    assert!(output.stderr.contains(&format!("{NAMED}: the test has ended early")), "{output}");
    assert!(desk.here.book.paths().len() < 5_000, "{output}");
}

/// Nobody waits for one that says it goes.
#[test]
fn a_generator_that_is_asked_to_end_leaves_at_once_with_all_it_had() {
    let desk = Desk::new(&LONG.replace("TIME", "4s"));
    let (coordinator, generators) = desk.begin(2, &["--reconnect-within", "10m"]);
    generators[0].terminate().unwrap();
    let output = coordinator.wait().unwrap();
    assert_eq!(output.code, Some(109), "{output}");
    assert!(output.stderr.contains("was asked to end (SIGTERM or Ctrl-C)"), "{output}");
    // A request of its users that is cut off leaves no sample.
    let (seen, counted) = (desk.here.book.paths().len(), desk.count("http_reqs"));
    assert!(counted <= seen && seen <= counted + 3, "{counted} of {seen}: {output}");
    let codes: Vec<_> = generators.into_iter().map(|it| it.wait().unwrap().code).collect();
    assert_eq!(codes, [Some(105), Some(0)], "{output}");
}

#[test]
fn ctrl_c_ends_all_of_them_once_and_their_figures_are_whole() {
    let desk = Desk::new(&LONG.replace("TIME", "100s"));
    let (coordinator, generators) = desk.begin(2, &[]);
    coordinator.interrupt().unwrap();
    let output = coordinator.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert_eq!(desk.here.book.count("/teardown"), 1);
    let (seen, counted) = (desk.here.book.paths().len(), desk.count("http_reqs"));
    // A request that is cut off leaves no sample; each user has one at most.
    assert!(counted <= seen && seen <= counted + 6, "{counted} of {seen}: {output}");
    for generator in generators {
        let generator = generator.wait().unwrap();
        assert_eq!(generator.code, Some(0), "{generator}");
    }
}

#[test]
fn generators_end_when_their_coordinator_is_lost() {
    let desk = Desk::new(&LONG.replace("TIME", "100s"));
    let (coordinator, generators) = desk.begin(2, &["--reconnect-within", "2s"]);
    kill(coordinator.pid());
    for generator in generators {
        let output = generator.wait().unwrap();
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.stderr.contains("the coordinator was lost"), "{output}");
    }
}

/// What a user's top level throws on a generator is told, and nobody waits.
#[test]
fn a_top_level_that_throws_for_a_user_ends_the_test() {
    let script = "if (__VU === 5) throw new Error('not me');\nexport const options = { vus: 6, \
                  duration: '100s' };\nexport default function () {}\n";
    let desk = Desk::new(script);
    let (output, generators) = desk.run("test.js", 2, &[]);
    assert_eq!(output.code, Some(107), "{output}");
    assert!(output.stderr.contains("not me"), "{output}");
    for generator in generators {
        assert_eq!(generator.code, Some(2), "{generator}");
        assert!(generator.stderr.contains("the test ended before it began"), "{generator}");
    }
}

/// Making the users may not take for ever.
#[test]
fn a_generator_that_is_not_ready_in_time_is_named() {
    let script = "if (__VU === 1) {\n  const begun = Date.now();\n  while (Date.now() - begun < 9000) \
                  {}\n}\nexport const options = { vus: 2, duration: '100s' };\nexport default \
                  function () {}\n";
    let desk = Desk::new(script);
    let (output, _) = desk.run("test.js", 2, &["--ready-timeout", "4s"]);
    assert_eq!(output.code, Some(109), "{output}");
    assert!(output.stderr.contains("generator process 0 (host "), "{output}");
    assert!(output.stderr.contains("was not ready within 4 s"), "{output}");
}

/// For two seconds one of two generators has no connection, and cannot make one. Both go on all the
/// while, thresholds are looked at, and nothing is lost or told twice.
#[test]
fn a_cut_of_two_seconds_costs_nothing() {
    let script = r#"
import http from 'k6/http';
export const options = { scenarios: {
  arriving: { executor: 'constant-arrival-rate', rate: 100, duration: '6995ms',
    preAllocatedVUs: 60 },
}, thresholds: { http_reqs: [{ threshold: 'count<=700', abortOnFail: true }] } };
export default function () { http.get('BASE/x'); }
"#;
    let desk = Desk::new(script);
    let coordinator = desk.start(desk.coordinator("test.js", 2, &[]));
    let proxy = CutProxy::start(([127, 0, 0, 1], desk.port).into()).unwrap();
    let generators = [desk.port, proxy.port()].map(|port| desk.generator_at(port).start().unwrap());
    until("the load has begun", || desk.here.book.paths().len() > 100);
    proxy.refuse();
    assert_eq!(proxy.cut(), 1);
    let before = desk.here.book.paths().len();
    std::thread::sleep(Duration::from_secs(2));
    // Neither has stopped: together they make a hundred a second.
    assert!(desk.here.book.paths().len() > before + 150);
    proxy.admit().unwrap();
    let output = coordinator.wait().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let seen = desk.here.book.paths().len();
    assert_eq!((desk.count("http_reqs"), desk.count("iterations")), (seen, seen), "{output}");
    assert_eq!(seen + desk.count("dropped_iterations"), 700, "{output}");
    for generator in generators {
        let generator = generator.wait().unwrap();
        assert_eq!(generator.code, Some(0), "{generator}");
    }
}
