//! What a mock file says is what clients meet.

use std::io::ErrorKind;

use serde_json::json;
use sojourn_clock::{MILLISECOND_NS, now_ns};

use crate::client::{Client, mock};

#[test]
fn the_first_route_that_fits_answers() {
    let mock = mock(
        "
routes:
  - { route: 'POST /payments/{id}', when: { body.amount: { greater: 100 } }, status: 402,
      json: { error: too much } }
  - { route: 'POST /payments/{id}', when: { header.x-tenant: acme, query.dry: [1, yes] }, status: 202 }
  - { route: 'POST /payments/{id}', status: 201, headers: { location: '/payments/{{ path.id }}' },
      json: { id: '{{ path.id }}', amount: '{{ number(body.amount) }}', by: '{{ header.x-user }}',
              n: '{{ seq(1) }}' } }
  - { route: GET /payments/*, when: { cookie.session: { present: true } },
      body: 'hello {{ cookie.session }}, {{ query.q }}' }
  - { route: GET /payments/*, status: 401 }
  - { route: /static, file: null, body: plain }
",
    );
    let mut client = Client::connect(mock.address());
    let answer = client.post("/payments/p%201", "", r#"{"amount": 101}"#);
    assert_eq!((answer.status, answer.json()), (402, json!({"error": "too much"})));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let answer = client.post("/payments/1?dry=yes", "X-Tenant: acme\r\n", "{}");
    assert_eq!((answer.status, answer.body.len()), (202, 0));
    for number in 1..=2 {
        let answer =
            client.post("/payments/p%201?dry=no", "X-User: Ann \"A\"\r\n", r#"{"amount": 5.5}"#);
        let expected = json!({"id": "p 1", "amount": 5.5, "by": "Ann \"A\"", "n": number});
        assert_eq!((answer.status, answer.json()), (201, expected));
        assert_eq!(answer.header("location"), Some("/payments/p 1"));
    }
    client.send("GET /payments/x/y?q=a+b HTTP/1.1\r\ncookie: a=1; session=s7\r\n\r\n");
    assert_eq!(client.answer().unwrap().text(), "hello s7, a b");
    assert_eq!(client.get("/payments/x").status, 401);
    let answer = client.get("/static");
    assert_eq!(
        (answer.text().as_str(), answer.header("content-type")),
        ("plain", Some("text/plain; charset=utf-8"))
    );
    let answer = client.get("/nothing/like/it");
    assert_eq!((answer.status, answer.json()["error"].is_string()), (404, true));
}

#[test]
fn answers_are_held_and_say_for_how_long() {
    let mock = mock(
        "
latency: 30ms
routes:
  - { route: /usual }
  - { route: /quick, latency: 0s }
  - { route: /drawn, latency: 'uniform(5ms, 15ms)' }
",
    );
    let mut client = Client::connect(mock.address());
    let mut held = |path: &str| {
        let begin_ns = now_ns();
        let [intended, real, over] = client.get(path).timing();
        let seen = (now_ns() - begin_ns) as f64 / MILLISECOND_NS as f64;
        // Each is cut to the microsecond.
        assert!((real - intended - over).abs() < 0.003, "{real} {intended} {over}");
        assert!(real >= intended && seen >= real, "{path}: {seen} {real} {intended}");
        intended
    };
    assert_eq!(held("/usual"), 30.0);
    assert_eq!(held("/quick"), 0.0);
    let drawn: Vec<f64> = (0..20).map(|_| held("/drawn")).collect();
    assert!(drawn.iter().all(|ms| (5.0..=15.0).contains(ms)), "{drawn:?}");
    assert!(drawn.windows(2).any(|pair| pair[0] != pair[1]));
}

const RANDOM: &str = "
seed: 7
routes:
  - route: /mixed
    answers:
      - { share: 15%, status: 503, body: busy }
      - { status: 200, json: { id: '{{ int(1, 1000000) }}' } }
      - { share: 5%, status: 404, latency: 1ms }
    size: { 10B: 20% }
  - { route: /other }
";

/// Status and body of the first answers on a route, other requests between them or not.
fn sequence(seed: &str, count: usize, disturbed: bool) -> Vec<(u16, Vec<u8>)> {
    let mock = mock(&RANDOM.replace("seed: 7", &format!("seed: {seed}")));
    let mut client = Client::connect(mock.address());
    let answers = (0..count).map(|number| {
        if disturbed && number % 3 == 0 {
            client.get("/other");
        }
        let answer = client.get("/mixed");
        (answer.status, answer.body)
    });
    answers.collect()
}

#[test]
fn what_is_random_is_a_function_of_the_seed_and_keeps_its_shares() {
    let count = 2000;
    let first = sequence("7", count, false);
    assert_eq!(first, sequence("7", count, true));
    assert_ne!(first, sequence("8", count, false));
    // Binomial: four deviations of √(n·p·q).
    let check = |share: f64, found: usize| {
        let (expected, n) = (share * count as f64, count as f64);
        let deviation = (n * share * (1.0 - share)).sqrt();
        assert!((found as f64 - expected).abs() < 4.0 * deviation, "{found} of {expected}");
    };
    for (status, share) in [(503, 0.15), (404, 0.05), (200, 0.8)] {
        check(share, first.iter().filter(|(it, _)| *it == status).count());
    }
    check(0.2, first.iter().filter(|(_, body)| body.len() == 10).count());
}

#[test]
fn faults_as_clients_meet_them() {
    let mock = mock(
        "
routes:
  - { route: /close, faults: { close: 100% } }
  - { route: /reset, latency: 5ms, faults: { reset: 1 } }
  - { route: /silence, faults: { silence: 100% } }
  - { route: /truncate, faults: { truncate: 100% }, body: 0123456789 }
  - { route: /malformed, faults: { malformed: 100% } }
  - { route: /dribble, faults: { dribble: 100%, dribble_over: 100ms }, body: 0123456789abcde }
  - { route: /last, close: 100%, body: bye }
",
    );
    let meet = |path: &str| {
        let mut client = Client::connect(mock.address());
        client.send(&format!("GET {path} HTTP/1.1\r\n\r\n"));
        client
    };
    assert!(matches!(meet("/close").rest(), (bytes, Ok(())) if bytes.is_empty()));
    let (bytes, end) = meet("/reset").rest();
    assert_eq!((bytes.len(), end.unwrap_err().kind()), (0, ErrorKind::ConnectionReset));
    let mut silent = meet("/silence");
    silent.stream.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    let end = silent.rest().1.unwrap_err().kind();
    assert!(matches!(end, ErrorKind::WouldBlock | ErrorKind::TimedOut));
    let (bytes, end) = meet("/truncate").rest();
    let text = String::from_utf8(bytes).unwrap();
    assert!(
        end.is_ok() && text.contains("content-length: 10\r\n") && text.ends_with("\r\n\r\n01234")
    );
    let (bytes, _end) = meet("/malformed").rest();
    assert!(String::from_utf8(bytes).unwrap().ends_with("no length\r\n"));
    let begin_ns = now_ns();
    assert_eq!(meet("/dribble").answer().unwrap().body, b"0123456789abcde");
    assert!(now_ns() - begin_ns >= 100 * MILLISECOND_NS, "the last piece came early");
    // Nor do faults give HEAD a body.
    for (path, count) in [("/truncate", 1), ("/dribble", 2)] {
        let mut client = Client::connect(mock.address());
        client.send(&format!("HEAD {path} HTTP/1.1\r\n\r\nHEAD /last HTTP/1.1\r\n\r\n"));
        let text = String::from_utf8(client.rest().0).unwrap();
        assert_eq!(text.matches("\r\n\r\n").count(), count, "{text}");
        assert!(text.ends_with("\r\n\r\n") && !text.contains("0123"), "{text}");
    }
    let mut last = meet("/last");
    let answer = last.answer().unwrap();
    assert_eq!((answer.text().as_str(), answer.header("connection")), ("bye", Some("close")));
    assert!(matches!(last.rest(), (bytes, Ok(())) if bytes.is_empty()));
    let metrics = Client::connect(mock.address()).get("/_sojourn/metrics").text();
    for kind in ["close", "reset", "silence", "truncate", "malformed", "dribble"] {
        let count = if matches!(kind, "truncate" | "dribble") { 2 } else { 1 };
        let line = format!("faults_total{{kind=\"{kind}\"}} {count}\n");
        assert!(metrics.contains(&line), "{kind}");
    }
}

#[test]
fn sizes_limits_and_degradation() {
    let mock = mock(
        "
routes:
  - { route: /big, size: 1MB, headers: { content-type: image/png } }
  - { route: /few, limit: { rate: 1/min, burst: 3 }, body: ok }
  - route: /failing
    degrade: [{ at: 0s, errors: 100% }]
  - route: /slowing
    latency: 2ms
    degrade: [{ at: 0s, latency: 10 }]
",
    );
    let mut client = Client::connect(mock.address());
    let answer = client.get("/big");
    assert_eq!((answer.body.len(), answer.header("content-type")), (1_000_000, Some("image/png")));
    let again = client.get("/big");
    assert_eq!(answer.body, again.body, "noise, but always the same");
    let statuses: Vec<u16> = (0..5).map(|_| client.get("/few").status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let refused = client.get("/few");
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(client.get("/failing").status, 503);
    assert_eq!(client.get("/slowing").timing()[0], 20.0);
}

#[test]
fn single_requests_may_wish_for_something_else() {
    let text = "
overrides: true
routes: [{ route: '*', body: usual }]
";
    let mock_with = mock(text);
    let mut client = Client::connect(mock_with.address());
    let answer = client.get("/?delay=12&status=503&size=100");
    assert_eq!((answer.status, answer.body.len(), answer.timing()[0]), (503, 100, 12.0));
    let answer = client.get("/?status=many");
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("status=many: not a status"), "{}", answer.text());
    let mock_without = mock(&text.replace("overrides: true", ""));
    let mut client = Client::connect(mock_without.address());
    assert_eq!(client.get("/?status=503").status, 200, "a query belongs to the mocked service");
    client.send("GET / HTTP/1.1\r\nX-Sojourn-Mock: status=418; close\r\n\r\n");
    let answer = client.answer().unwrap();
    assert_eq!((answer.status, answer.header("connection")), (418, Some("close")));
}

#[test]
fn metrics_are_the_sums_of_what_happened() {
    let mock = mock(
        "
routes:
  - { route: /a, latency: 3ms }
  - { route: /b, status: 404 }
",
    );
    let mut client = Client::connect(mock.address());
    for _ in 0..5 {
        client.get("/a");
    }
    client.get("/b");
    client.get("/none");
    Client::connect(mock.address()).send("nonsense\r\n\r\n");
    crate::client::until("it is refused", || mock.meter().figures().requests_bad == 1);
    let answer = client.get("/_sojourn/metrics");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4"));
    let text = answer.text();
    for line in [
        "sojourn_mock_requests_total 7",
        "sojourn_mock_requests_bad_total 1",
        "sojourn_mock_requests_unmatched_total 1",
        "sojourn_mock_responses_total{code=\"200\"} 5",
        "sojourn_mock_responses_total{code=\"404\"} 2",
        "sojourn_mock_responses_total{code=\"400\"} 1",
        "sojourn_mock_route_requests_total{route=\"/a\"} 5",
        "sojourn_mock_route_requests_total{route=\"/b\"} 1",
        "sojourn_mock_hold_seconds_count 7",
        "sojourn_mock_hold_seconds_bucket{le=\"+Inf\"} 7",
        "sojourn_mock_overshoot_seconds_count 7",
        "sojourn_mock_requests_held 0",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
    // Five were held for 3 ms or more, so at most two lie below; buckets add up.
    let bucket = |bound: &str| -> u64 {
        let prefix = format!("sojourn_mock_hold_seconds_bucket{{le=\"{bound}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap().parse().unwrap()
    };
    assert!(bucket("0.0025") <= 2 && bucket("60") == 7);
    // What the buckets are too coarse for: no answer left later than the last of them.
    let quantile = |of: &str| -> f64 {
        let prefix = format!("sojourn_mock_overshoot_quantile_seconds{{quantile=\"{of}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap().parse().unwrap()
    };
    let most = mock.meter().figures().overshoot.histogram.quantile(1.0).unwrap() as f64 / 1e9;
    assert!(quantile("0.5") <= quantile("0.99") && quantile("0.999") <= most);
    let typed = text.lines().filter(|line| line.starts_with("# TYPE ")).count();
    let helped = text.lines().filter(|line| line.starts_with("# HELP ")).count();
    assert_eq!(typed, helped);
    assert_eq!(client.get("/_sojourn/health").text(), "ok\n");
    assert_eq!(client.get("/_sojourn/other").status, 404);
}
