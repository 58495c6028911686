//! Streams: what was added is seen as it was, once, from the moment of opening.

use sojourn_broker::Tap;
use sojourn_broker_redis::RedisTap;
use sojourn_services::Redis;

use crate::support::*;

#[test]
fn entries_come_as_they_were_added_after_opening_and_only_those() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    add(&mut system, "orders", "data", "before");
    add(&mut system, "refunds", "data", "before");
    let mut tap = RedisTap::new(&with_field(streams(&redis, &["orders", "refunds"]), "data"));
    let tap = tap.as_mut().unwrap();
    let info = tap.open().unwrap();
    let address = format!("redis 127.0.0.1:{}", sojourn_services::Service::port(&redis));
    assert_eq!(info.listens_to, format!("{address}, streams orders refunds from their ends"));
    let mut ids = Vec::new();
    for number in 0..100 {
        let stream = ["orders", "refunds"][number % 2];
        let id: String = redis::cmd("XADD")
            .arg(stream)
            .arg("*")
            .arg(&["type", "Paid", "key", &format!("k{number}"), "data", &number.to_string()])
            .query(&mut system)
            .unwrap();
        ids.push((stream, id));
    }
    let mut feed = Feed::default();
    poll_for(tap, &mut feed, 100);
    poll_past_now(tap, &mut feed);
    assert_eq!(feed.0.len(), 100);
    for (stream, partition) in [("orders", 0), ("refunds", 1)] {
        let came: Vec<_> = feed.0.iter().filter(|kept| kept.topic == stream).collect();
        let added: Vec<_> = ids.iter().filter(|(of, _)| *of == stream).collect();
        assert_eq!(came.len(), 50);
        for ((number, kept), (_, id)) in (partition..).step_by(2).zip(&came).zip(added) {
            let (ms, sequence) = id.split_once('-').unwrap();
            let offset = ms.parse::<u64>().unwrap() << 22 | sequence.parse::<u64>().unwrap();
            assert_eq!(kept.text(), number.to_string());
            assert_eq!(kept.position, Some((partition, offset)));
            assert_eq!(kept.key.as_deref(), Some(format!("k{number}").as_bytes()));
            let headers: Vec<_> = kept.headers.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(headers, ["type", "key"]);
            assert_eq!(kept.headers[0].1, b"Paid");
        }
    }
}

#[test]
fn without_a_field_the_entry_is_a_json_object() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    add(&mut system, "s", "x", "y");
    let mut tap = open(&streams(&redis, &["s"]));
    let words: [&[u8]; 9] =
        [b"XADD", b"s", b"*", b"type", b"Paid", b"note", "ü\"\n".as_bytes(), b"raw", b"\xff"];
    run_all(&mut system, &words);
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 1);
    let object = r#"{"type":"Paid","note":"ü\"\n","raw":null}"#;
    assert_eq!(feed.0[0].text(), object);
    assert_eq!(feed.0[0].headers[2], ("raw".to_owned(), b"\xff".to_vec()));
}

#[test]
fn large_and_empty_payloads_come_whole() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    add(&mut system, "s", "x", "y");
    let mut tap = open(&with_field(streams(&redis, &["s"]), "data"));
    let sizes = [0, 1, 20_000_000, 300_000, 0, 5_000_000];
    let large = "abcdefghij".repeat(2_000_000);
    for size in sizes {
        add(&mut system, "s", "data", &large[..size]);
    }
    // No such field: an empty payload, and the entry's fields as headers.
    add(&mut system, "s", "other", "z");
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 7);
    for (kept, size) in feed.0.iter().zip(sizes) {
        assert!(kept.text() == &large[..size], "of {size} bytes came {}", kept.payload.len());
    }
    assert_eq!((feed.0[6].payload.len(), feed.0[6].headers.len()), (0, 1));
}

#[test]
fn nothing_is_missed_or_doubled_while_many_add() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    add(&mut system, "s", "x", "y");
    run(&mut system, "CONFIG SET appendfsync no");
    let mut tap = open(&with_field(streams(&redis, &["s"]), "data"));
    let mut feed = Feed::default();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for batch in 0..200 {
                let mut pipe = redis::pipe();
                for number in 0..100 {
                    pipe.cmd("XADD").arg("s").arg("*").arg("data").arg(batch * 100 + number);
                }
                pipe.query::<redis::Value>(&mut system).unwrap();
            }
        });
        poll_for(&mut tap, &mut feed, 20_000);
        writer.join().unwrap();
    });
    poll_past_now(&mut tap, &mut feed);
    assert!(feed.texts().iter().copied().eq((0..20_000).map(|n| n.to_string())));
    let stamps: Vec<_> = feed.0.iter().map(|kept| kept.stamp_ns).collect();
    assert!(stamps.is_sorted());
}

#[test]
fn what_is_missing_is_said_with_what_is_there() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    let fails = |source: &[&str]| {
        let error = RedisTap::new(&streams(&redis, source)).unwrap().open().unwrap_err();
        format!("{}\n{}", error.message, error.hint.unwrap())
    };
    let text = fails(&["payments.event"]);
    assert!(text.contains("there is no stream `payments.event`"), "{text}");
    assert!(text.contains("XGROUP CREATE payments.event GROUP $ MKSTREAM"), "{text}");
    add(&mut system, "payments.events", "x", "y");
    add(&mut system, "orders", "x", "y");
    run(&mut system, "SET text t");
    let text = fails(&["orders", "payments.event"]);
    assert!(text.contains("it has `payments.events`, `orders`"), "{text}");
    let text = fails(&["text"]);
    assert!(text.contains("a key of this name is not a stream"), "{text}");
}

#[test]
fn a_database_of_its_own_number() {
    let redis = Redis::start().unwrap();
    let mut system = client(&redis);
    run(&mut system, "SELECT 3");
    add(&mut system, "s", "x", "y");
    let mut channel = streams(&redis, &["s"]);
    channel.server.path = "3".to_owned();
    let mut tap = open(&channel);
    add(&mut system, "s", "n", "1");
    let mut feed = Feed::default();
    poll_for(&mut tap, &mut feed, 1);
    assert_eq!(feed.texts(), [r#"{"n":"1"}"#]);
    channel.server.path = "99".to_owned();
    let error = RedisTap::new(&channel).unwrap().open().unwrap_err();
    assert!(error.message.contains("it has no database 99"), "{error}");
    channel.server.path = "cache".to_owned();
    let error = RedisTap::new(&channel).err().unwrap();
    assert!(error.message.contains("no database `cache`"), "{error}");
}
