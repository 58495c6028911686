//! Connections cut and entries deleted, beyond what every connector is tested for: everything is
//! seen, or said to be missing.

use std::net::SocketAddr;
use std::time::Duration;

use sojourn_broker::{Recovery, Tap};
use sojourn_plan::RedisSource;
use sojourn_services::{CutProxy, Redis, Service};

use crate::support::*;

fn proxy(redis: &Redis) -> CutProxy {
    CutProxy::start(SocketAddr::from(([127, 0, 0, 1], redis.port()))).unwrap()
}

#[test]
fn a_cut_connection_resumes_with_exactly_what_was_added_meanwhile() {
    let redis = Redis::start().unwrap();
    let proxy = proxy(&redis);
    let mut system = client(&redis);
    add(&mut system, "a", "x", "y");
    add(&mut system, "b", "x", "y");
    let source = RedisSource::Streams(owned(&["a", "b"]));
    let mut tap = open(&with_field(channel_at(proxy.port(), source), "data"));
    let mut feed = Feed::default();
    for round in 0..3 {
        add(&mut system, "a", "data", "before");
        poll_for(&mut tap, &mut feed, round * 301 + 1);
        poll_past_now(&mut tap, &mut feed);
        proxy.refuse();
        assert_eq!(proxy.cut(), 1);
        for number in 0..300 {
            add(&mut system, ["a", "b"][number % 2], "data", &number.to_string());
        }
        proxy.admit().unwrap();
        let gap = poll_for_gap(&mut tap, &mut feed);
        assert_eq!(gap.recovery, Recovery::Resumed { messages: 300 });
        poll_past_now(&mut tap, &mut feed);
        assert_eq!(feed.0.len(), (round + 1) * 301);
    }
    let mut positions: Vec<_> = feed.0.iter().map(|kept| kept.position).collect();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), feed.0.len());
}

#[test]
fn entries_trimmed_while_away_are_a_loss() {
    let redis = Redis::start().unwrap();
    let proxy = proxy(&redis);
    let mut system = client(&redis);
    add(&mut system, "s", "x", "y");
    let source = RedisSource::Streams(owned(&["s"]));
    let mut tap = open(&with_field(channel_at(proxy.port(), source), "data"));
    let mut feed = Feed::default();
    let cut_off = |tap: &mut _, feed: &mut _, system: &mut _, numbers: std::ops::Range<u32>| {
        poll_past_now(tap, feed);
        proxy.refuse();
        proxy.cut();
        for number in numbers {
            add(system, "s", "data", &number.to_string());
        }
    };
    // Old ones that it had read: no loss.
    cut_off(&mut tap, &mut feed, &mut system, 0..50);
    run(&mut system, "XTRIM s MAXLEN = 50");
    proxy.admit().unwrap();
    let gap = poll_for_gap(&mut tap, &mut feed);
    assert_eq!(gap.recovery, Recovery::Resumed { messages: 50 });
    // One that it had not read: lost, whichever it was.
    for command in ["XTRIM s MAXLEN = 49", "XTRIM s MAXLEN = 0", "DEL s"] {
        cut_off(&mut tap, &mut feed, &mut system, 50..100);
        run(&mut system, command);
        proxy.admit().unwrap();
        let gap = poll_for_gap(&mut tap, &mut feed);
        assert_eq!(gap.recovery, Recovery::Missed, "{command}");
    }
    // And the tap goes on.
    let came = feed.0.len();
    add(&mut system, "s", "data", "after");
    poll_for(&mut tap, &mut feed, came + 1);
    poll_past_now(&mut tap, &mut feed);
    assert_eq!(feed.texts()[came..], ["after"]);
}

#[test]
fn entries_deleted_before_they_were_read_end_the_tap() {
    let redis = Redis::start().unwrap();
    for command in ["XTRIM s MAXLEN = 3", "DEL s", "XDEL"] {
        let mut system = client(&redis);
        add(&mut system, "s", "x", "y");
        let mut tap = open(&streams(&redis, &["s"]));
        let mut feed = Feed::default();
        // It reads the first, and is not polled while the others come and go.
        add(&mut system, "s", "data", "0");
        poll_for(&mut tap, &mut feed, 1);
        poll_past_now(&mut tap, &mut feed);
        add(&mut system, "s", "data", "1");
        let mut ids = Vec::new();
        for number in 2..10 {
            ids.push(add(&mut system, "s", "data", &number.to_string()));
        }
        match command {
            "XDEL" => run(&mut system, &format!("XDEL s {}", ids[4])),
            command => run(&mut system, command),
        };
        let mut error = None;
        wait_until("the loss is seen", || {
            error = tap.poll(Duration::from_millis(20), &mut feed).err();
            error.is_some()
        });
        let text = error.unwrap().message;
        let expect = match command {
            // One was on its way already, three are kept.
            "XTRIM s MAXLEN = 3" => "5 entries of stream `s` were deleted before",
            "DEL s" => "stream `s` was deleted",
            _ => "1 entries of stream `s` were deleted before",
        };
        assert!(text.contains(expect), "{command}: {text}");
        run(&mut system, "DEL s");
    }
}

#[test]
fn pub_sub_misses_what_came_while_it_was_away_and_says_so() {
    let mut redis = Redis::start().unwrap();
    let proxy = proxy(&redis);
    let source = RedisSource::Channels(owned(&["news", "n*"]));
    let mut tap = open(&channel_at(proxy.port(), source));
    let mut feed = Feed::default();
    let publish = |redis: &Redis, text: &str| {
        run_all(&mut client(redis), &["PUBLISH", "news", text]);
    };
    let mut expected = Vec::new();
    for round in ["cut", "stall", "kill"] {
        publish(&redis, round);
        expected.push(round);
        poll_for(&mut tap, &mut feed, expected.len());
        match round {
            "cut" => drop(proxy.cut()),
            "stall" => proxy.stall(),
            _ => redis.kill(),
        }
        let accepted = proxy.figures().accepted;
        poll_until(&mut tap, &mut feed, "another connection", |_, _| {
            proxy.figures().accepted > accepted
        });
        match round {
            "cut" => {}
            "stall" => proxy.resume(),
            _ => redis.restart().unwrap(),
        }
        let gap = poll_for_gap(&mut tap, &mut feed);
        assert_eq!(gap.recovery, Recovery::Missed, "{round}");
    }
    publish(&redis, "end");
    expected.push("end");
    poll_for(&mut tap, &mut feed, expected.len());
    poll_past_now(&mut tap, &mut feed);
    assert_eq!(feed.texts(), expected);
}
