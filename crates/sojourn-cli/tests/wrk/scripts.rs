//! Each hook of a script, seen from the server.

use std::collections::BTreeMap;

use sojourn_testkit::{Reply, Request, Responder, Server, response};

use super::{
    book::{Keeper, answer, body, header, target},
    script, wrk,
};

#[test]
fn the_table_alone_makes_the_same_post_every_time() {
    let keeper = Keeper::pleased();
    let script = script("post.lua");
    let url = keeper.url("/");
    let words = ["-d", "1", "-c", "4", "-s", &script, "-H", "X-Run: 7", "-H", "Host: h", &url];
    let printed = wrk(&words);
    let requests = keeper.book.all();
    assert_eq!(printed.requests(), requests.len() as u64);
    assert!(!requests.is_empty());
    for request in requests {
        assert_eq!(target(&request), ("POST", "/payments?from=wrk"));
        assert_eq!(header(&request, "Content-Type"), Some("application/json"));
        assert_eq!(header(&request, "Content-Length"), Some("14"));
        assert_eq!((header(&request, "X-Run"), header(&request, "Host")), (Some("7"), Some("h")));
        assert_eq!(body(&request), r#"{"amount": 12}"#);
    }
}

#[test]
fn request_is_asked_once_for_each_request_of_its_thread() {
    let keeper = Keeper::pleased();
    let script = script("counter.lua");
    let printed = wrk(&["-d", "1", "-c", "5", "-t", "3", "-s", &script, &keeper.url("/")]);
    let requests = keeper.book.all();
    assert_eq!(printed.requests(), requests.len() as u64);
    let mut numbers: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for request in &requests {
        let mut parts = target(request).1.split('/').skip(1);
        let thread = parts.next().unwrap().parse().unwrap();
        numbers.entry(thread).or_default().push(parts.next().unwrap().parse().unwrap());
    }
    assert_eq!(numbers.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    for (thread, mut numbers) in numbers {
        numbers.sort_unstable();
        // No number is left out and none comes twice: none was asked for in vain.
        assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "thread {thread}");
    }
}

#[test]
fn an_answer_can_change_what_is_asked_next() {
    let keeper = Keeper::start(|request| match target(request) {
        ("POST", "/login") if body(request) == "password" => {
            answer(200, &[("X-Token", "abc123")], "welcome")
        }
        ("GET", "/private") if header(request, "Authorization") == Some("Bearer abc123") => {
            answer(200, &[], "secret")
        }
        _ => answer(401, &[], "who?"),
    });
    let script = script("auth.lua");
    let printed = wrk(&["-d", "1", "-c", "1", "-t", "1", "-s", &script, &keeper.url("/")]);
    let requests = keeper.book.all();
    assert_eq!((printed.requests(), printed.bad_statuses()), (requests.len() as u64, 0));
    assert_eq!(target(&requests[0]), ("POST", "/login"));
    assert!(requests.len() > 2);
    assert!(requests[1..].iter().all(|request| target(request) == ("GET", "/private")));
}

/// Keeps when requests came.
struct Diary(crossbeam_channel::Sender<u64>);

impl Responder for Diary {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        self.0.send(request.arrival_ns).unwrap();
        Reply::now(response(200, "text/plain", b"ok"))
    }
}

#[test]
fn delay_keeps_requests_of_a_connection_apart() {
    const DELAY_NS: u64 = 100_000_000;
    let (sender, arrivals) = crossbeam_channel::bounded(10_000);
    let server = Server::start(Diary(sender)).unwrap();
    let script = script("delay.lua");
    let printed = wrk(&["-d", "1", "-c", "1", "-t", "1", "-s", &script, &server.url("/")]);
    let instants: Vec<u64> = arrivals.try_iter().collect();
    assert_eq!(printed.requests(), instants.len() as u64);
    // The first waits as well, and one begun in time is waited for.
    assert!((2..=9).contains(&instants.len()), "{}", printed.0);
    assert!(instants.windows(2).all(|pair| pair[1] - pair[0] >= DELAY_NS), "{instants:?}");
    // The wait before a request is none of its latency.
    assert!(printed.max_ms() < 100.0, "{}", printed.0);
}

#[test]
fn several_requests_at_once_are_counted_one_by_one() {
    let keeper = Keeper::pleased();
    let script = script("pipeline.lua");
    let words = ["-d", "1", "-c", "1", "-t", "1", "-s", &script, "-L", &keeper.url("/")];
    let printed = wrk(&words);
    let requests = keeper.book.all();
    assert_eq!(printed.requests(), requests.len() as u64);
    assert!(requests.len() >= 3 && requests.len().is_multiple_of(3));
    for three in requests.chunks(3) {
        let targets: Vec<_> = three.iter().map(|request| target(request)).collect();
        assert_eq!(targets, [("GET", "/first"), ("POST", "/second"), ("GET", "/third")]);
        assert_eq!(body(&three[1]), "a body");
    }
}

#[test]
fn a_rate_counts_the_requests_of_a_batch() {
    let keeper = Keeper::pleased();
    let script = script("pipeline.lua");
    let words = ["-d", "2", "-c", "4", "-t", "2", "-R", "300", "-s", &script, &keeper.url("/")];
    let printed = wrk(&words);
    let requests = keeper.book.all();
    assert_eq!(printed.requests(), requests.len() as u64, "{}", printed.0);
    // 600 arrivals in threes, of each thread's own: at most one batch over on either.
    assert!((600..=604).contains(&requests.len()), "{}", requests.len());
}

#[test]
fn setup_and_done_see_every_thread() {
    let keeper = Keeper::pleased();
    let script = script("threads.lua");
    let words =
        ["-d", "1", "-c", "6", "-t", "3", "-s", &script, &keeper.url("/"), "--", "good", "day"];
    let printed = wrk(&words);
    let requests = keeper.book.all().len() as u64;
    assert_eq!(printed.requests(), requests);
    for thread in 1..=3 {
        assert_eq!(printed.line(&format!("thread {thread}: ")), "good day");
    }
    assert_eq!(printed.line("threads "), "3");
    for what in ["sent ", "answered ", "fine ", "reported "] {
        assert_eq!(printed.line(what), requests.to_string(), "{what}");
    }
}

#[test]
fn done_can_write_its_own_report() {
    let keeper = Keeper::start(|request| match target(request) {
        (_, "/bad") => answer(503, &[], ""),
        _ => answer(200, &[], "ok"),
    });
    let script = script("report.lua");
    for (path, is_bad) in [("/", false), ("/bad", true)] {
        let before = keeper.book.all().len();
        let printed = wrk(&["-d", "1", "-c", "3", "-t", "1", "-s", &script, &keeper.url(path)]);
        let requests = (keeper.book.all().len() - before) as u64;
        let lines: Vec<&str> = printed.0.stdout.lines().collect();
        let [.., names, values] = lines.as_slice() else { panic!("{}", printed.0) };
        let figures: BTreeMap<&str, f64> =
            names.split(',').zip(values.split(',').map(|value| value.parse().unwrap())).collect();
        let figure = |name: &str| figures[name];
        assert_eq!(figure("requests"), requests as f64);
        assert_eq!(figure("samples"), requests as f64);
        assert_eq!(figure("status"), if is_bad { requests as f64 } else { 0.0 });
        assert_eq!(printed.bad_statuses() as f64, figure("status"));
        let answer_bytes = if is_bad { answer(503, &[], "") } else { answer(200, &[], "ok") };
        assert_eq!(figure("bytes"), (requests * answer_bytes.len() as u64) as f64);
        assert!(figure("duration_us") >= 1e6);
        let ladder = ["min", "p50", "p99", "max"].map(figure);
        assert!(ladder.is_sorted() && ladder[0] > 0.0, "{}", printed.0);
        assert!(figure("min") <= figure("mean") && figure("mean") <= figure("max"));
        // One whole second of one thread is one sample.
        assert!(figure("rate_max") <= requests as f64);
        assert!((printed.max_ms() * 1e3 - figure("max")).abs() <= 0.01 * figure("max"));
    }
}

#[test]
fn a_thread_can_stop_itself() {
    let keeper = Keeper::pleased();
    let script = script("stop.lua");
    let printed = wrk(&["-d", "30", "-c", "2", "-t", "2", "-s", &script, &keeper.url("/")]);
    // One connection each.
    assert_eq!((printed.requests(), keeper.book.all().len()), (20, 20));
}

#[test]
fn a_thread_goes_to_the_address_it_was_given() {
    let named = Keeper::pleased();
    let real = Keeper::pleased();
    let script = script("address.lua");
    let elsewhere = real.address.to_string();
    let words = ["-d", "1", "-c", "2", "-t", "2", "-s", &script, &named.url("/")];
    let output = super::program(&words).env("ELSEWHERE", &elsewhere).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let printed = super::Printed(output);
    assert_eq!(printed.lines("goes to "), [elsewhere.clone(), elsewhere]);
    assert!(named.book.all().is_empty());
    let requests = real.book.all();
    assert_eq!(printed.requests(), requests.len() as u64);
    // The request itself still names the host of the URL.
    let host = named.address.to_string();
    assert!(requests.iter().all(|request| header(request, "Host") == Some(host.as_str())));
}

#[test]
fn an_answer_is_shown_whole() {
    let long = "x".repeat(100_000);
    let keeper = Keeper::start(move |_| answer(200, &[("X-A", "b")], &long));
    let script = script("rest.lua");
    let printed = wrk(&["-d", "1", "-c", "2", "-t", "1", "-s", &script, &keeper.url("/")]);
    assert_eq!(printed.requests(), keeper.book.all().len() as u64);
    assert_eq!(printed.socket_errors(), [0; 4]);
}
