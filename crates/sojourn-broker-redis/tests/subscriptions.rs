//! Pub/sub.

use sojourn_broker::Recovery;
use sojourn_services::Redis;

use crate::support::*;

#[test]
fn channels_and_patterns_come_once_whatever_overlaps() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    run(&mut system, "PUBLISH orders.paid before");
    let names = ["orders.paid", "orders.*", "*.paid", "p[ae]y", "[^x]*.ref?nd"];
    let mut tap = open(&channels(&redis, &names));
    let sent = ["orders.paid", "orders.new", "x.paid", "pey", "piy", "a.refund", "x.refund"];
    for (number, channel) in sent.iter().enumerate() {
        run_all(&mut system, &["PUBLISH", channel, &number.to_string()]);
    }
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 5);
    poll_past_now(&mut tap, &mut feed);
    let came: Vec<_> = feed.0.iter().map(|kept| (kept.topic.as_str(), kept.text())).collect();
    let expected = [
        ("orders.paid", "0"),
        ("orders.new", "1"),
        ("x.paid", "2"),
        ("pey", "3"),
        ("a.refund", "5"),
    ];
    assert_eq!(came, expected);
    assert!(feed.0.iter().all(|kept| kept.position.is_none() && kept.key.is_none()));
}

#[test]
fn patterns_fit_as_the_server_fits_them() {
    // Each channel comes as often as the server thinks that patterns fit it; once after ours.
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    let parts = ["a", "b", "ab", "-", "]", "[", "*", "?", "\\", "^", "["];
    let mut state = 7_u64;
    let mut any = |length: usize| {
        let mut text = String::new();
        for _ in 0..length {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(parts[(state >> 33) as usize % parts.len()]);
        }
        text
    };
    let patterns: Vec<String> = (0..300).map(|n| format!("{}*", any(n % 5))).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let mut tap = open(&channels(&redis, &patterns));
    let mut feed = Feed::default();
    let mut expected = Vec::new();
    for number in 0..300 {
        let channel = any(1 + number % 5);
        // Of `*`, every channel comes.
        run_all(&mut system, &["PUBLISH", &channel, "x"]);
        expected.push(channel);
    }
    poll_for(&mut tap, &mut feed, 300);
    poll_past_now(&mut tap, &mut feed);
    let came: Vec<_> = feed.0.iter().map(|kept| kept.topic.clone()).collect();
    assert_eq!(came, expected);
}

#[test]
fn large_empty_and_binary_payloads_come_whole() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    let mut tap = open(&channels(&redis, &["c"]));
    let large = vec![0xfe_u8; 3_000_000];
    for payload in [b"".as_slice(), b"\0\r\n\xff", &large, b""] {
        run_all(&mut system, &[b"PUBLISH".as_slice(), b"c", payload]);
    }
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 4);
    let lengths: Vec<_> = feed.0.iter().map(|kept| kept.payload.len()).collect();
    assert_eq!(lengths, [0, 4, 3_000_000, 0]);
    assert!(feed.0[2].payload == large && feed.0[1].payload == b"\0\r\n\xff");
}

#[test]
fn a_reader_that_is_too_slow_is_cut_off_by_the_server_and_says_so() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    let limit = "pubsub 1mb 1mb 1";
    run_all(&mut system, &["CONFIG", "SET", "client-output-buffer-limit", limit]);
    let mut tap = open(&channels(&redis, &["c"]));
    let mut feed = Feed::default();
    let payload = vec![b'x'; 100_000];
    // More than the sockets and the server hold for who does not read.
    for _ in 0..300 {
        run_all(&mut system, &[b"PUBLISH".as_slice(), b"c", &payload]);
    }
    let gap = poll_for_gap(&mut tap, &mut feed);
    assert_eq!(gap.recovery, Recovery::Missed);
    assert!(feed.0.len() < 300);
}
