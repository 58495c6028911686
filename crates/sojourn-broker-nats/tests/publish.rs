//! Publishing.

use serde_json::json;
use sojourn_broker::{Outcome, Publisher as _};
use sojourn_clock::now_ns;
use sojourn_services::{CutProxy, Nats, NatsOptions, Service as _};

use crate::support::{channel, outcomes, publisher, with_login};
use crate::system::System;

fn errors(outcomes: &[Outcome]) -> Vec<Option<&str>> {
    outcomes.iter().map(|outcome| outcome.error.as_deref()).collect()
}

#[test]
fn messages_arrive_as_they_were_published_and_are_acknowledged() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.subscribe("a.>", "");
    let begun_ns = now_ns();
    let mut publisher = publisher(&channel(nats.port(), &["a.>"], None));
    let headers: [(&str, &[u8]); 2] = [("Type", b"paid"), ("type", b"again")];
    publisher.try_publish(7, "a.b", Some(b"k1"), &headers, b"{}").unwrap();
    publisher.try_publish(8, "a.c", None, &[], b"").unwrap();
    let big = vec![b'x'; 1_000_000];
    publisher.try_publish(9, "a.d", None, &[], &big).unwrap();
    let done = outcomes(&mut publisher, 3);
    assert_eq!(done.iter().map(|outcome| outcome.token).collect::<Vec<_>>(), [7, 8, 9]);
    assert_eq!(errors(&done), [None, None, None]);
    assert!(done.iter().all(|done| done.acked_ns > begun_ns && done.acked_ns < now_ns()));
    let first = system.next();
    assert_eq!((first.subject.as_str(), first.payload.as_slice()), ("a.b", &b"{}"[..]));
    let block = "NATS/1.0\r\nsojourn-key: k1\r\nType: paid\r\ntype: again\r\n\r\n";
    assert_eq!(first.headers, block);
    let second = system.next();
    assert_eq!((second.payload.len(), second.headers.as_str()), (0, ""));
    assert_eq!(system.next().payload, big);
}

#[test]
fn what_cannot_be_sent_is_refused_at_once() {
    let nats = Nats::start().unwrap();
    let mut publisher = publisher(&channel(nats.port(), &["a"], None));
    for subject in ["", "a b", "a.*", "a..b", "a\r\nPUB x 0\r\n"] {
        assert!(publisher.try_publish(1, subject, None, &[], b"").is_err(), "{subject}");
    }
    assert!(publisher.try_publish(1, "a", None, &[("a b", b"")], b"").is_err());
    assert!(publisher.try_publish(1, "a", None, &[("a", b"x\r\ny")], b"").is_err());
    // The limit is the server's, known once it has greeted.
    publisher.try_publish(2, "a", None, &[], &vec![0; 2_000_000]).unwrap();
    publisher.try_publish(3, "a", None, &[], b"").unwrap();
    let done = outcomes(&mut publisher, 2);
    assert!(done[0].error.as_deref().unwrap().contains("max_payload"), "{done:?}");
    assert_eq!((done[1].token, &done[1].error), (3, &None));
}

#[test]
fn a_stream_acknowledges_refuses_and_knows_duplicates() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream_with("S", &["s.>"], json!({ "max_msgs": 3, "discard": "new" }));
    system.stream("T", &["t"]);
    let mut publisher = publisher(&channel(nats.port(), &["s.>"], Some("S")));
    let mut publish = |token, subject: &str, id: &str| {
        publisher
            .try_publish(token, subject, None, &[("Nats-Msg-Id", id.as_bytes())], b"x")
            .unwrap();
        outcomes(&mut publisher, 1).remove(0)
    };
    let first = publish(1, "s.a", "m1");
    assert_eq!((first.token, first.error), (1, None));
    assert!(publish(2, "s.a", "m1").error.unwrap().starts_with("duplicate"));
    assert!(publish(3, "nowhere", "m2").error.unwrap().contains("no stream takes this subject"));
    assert!(publish(4, "t", "m3").error.unwrap().contains("another stream"));
    assert_eq!(publish(5, "s.b", "m4").error, None);
    assert_eq!(publish(6, "s.b", "m5").error, None);
    assert_eq!(publish(7, "s.b", "m6").error.as_deref(), Some("maximum messages exceeded"));
    let state = system.ask("STREAM.INFO.S", json!({}));
    assert_eq!(state["state"]["messages"], 3);
}

#[test]
fn many_messages_have_one_outcome_each() {
    let nats = Nats::start().unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s"]);
    for (stream, count) in [(None, 50_000_u64), (Some("S"), 20_000)] {
        let mut publisher = publisher(&channel(nats.port(), &["s"], stream));
        let mut done = Vec::new();
        for token in 0..count {
            while publisher.try_publish(token, "s", None, &[], b"0123456789").is_err() {
                publisher.poll(&mut done);
                std::thread::yield_now();
            }
        }
        done.extend(outcomes(&mut publisher, usize::try_from(count).unwrap() - done.len()));
        assert!(done.iter().all(|outcome| outcome.error.is_none()));
        let mut tokens: Vec<_> = done.iter().map(|outcome| outcome.token).collect();
        tokens.sort_unstable();
        assert_eq!(tokens, (0..count).collect::<Vec<_>>());
    }
    let state = system.ask("STREAM.INFO.S", json!({}));
    assert_eq!(state["state"]["messages"], 70_000);
}

#[test]
fn the_user_may_not() {
    let users = "authorization { users: [ { user: u, password: pw, permissions: {
        publish: [\"a\", \"b\"], subscribe: [\"_INBOX.>\"] } } ] }";
    let nats = Nats::start_configured(NatsOptions::default(), users).unwrap();
    for stream in [None, Some("S")] {
        let mut publisher = publisher(&with_login(channel(nats.port(), &["a"], stream), "u", "pw"));
        for (token, subject) in ["a", "c", "b", "c", "a"].into_iter().enumerate() {
            publisher.try_publish(token as u64, subject, None, &[], b"x").unwrap();
        }
        let mut done = outcomes(&mut publisher, 5);
        done.sort_by_key(|outcome| outcome.token);
        let refused = Some("the user may not publish to this subject");
        let taken = stream.map(|_| "no stream takes this subject");
        assert_eq!(errors(&done), [taken, refused, taken, refused, taken]);
    }
}

#[test]
fn messages_in_flight_at_a_cut_fail_and_are_not_sent_again() {
    let nats = Nats::start().unwrap();
    let proxy = CutProxy::start(([127, 0, 0, 1], nats.port()).into()).unwrap();
    let mut system = System::connect(nats.port());
    system.stream("S", &["s"]);
    for stream in [None, Some("S")] {
        let mut publisher = publisher(&channel(proxy.port(), &["s"], stream));
        publisher.try_publish(0, "s", None, &[], b"warm").unwrap();
        assert_eq!(errors(&outcomes(&mut publisher, 1)), [None]);
        proxy.stall();
        for token in 1..=20 {
            publisher.try_publish(token, "s", None, &[], b"lost").unwrap();
        }
        // The silence is noticed without a cut.
        let done = outcomes(&mut publisher, 20);
        assert!(
            done.iter().all(|done| done.error.as_deref() == Some("connection lost")),
            "{done:?}"
        );
        proxy.cut();
        proxy.resume();
    }
    let state = system.ask("STREAM.INFO.S", json!({}));
    assert_eq!(state["state"]["messages"], 2);
}
