//! What a tap sees.

use sojourn_broker::{Publisher, Tap};
use sojourn_clock::now_ns;
use sojourn_plan::{MqttChannel, MqttVersion};
use sojourn_services::{Mosquitto, Service};

use crate::passive::Client;
use crate::support::{
    Keep, channel, each_way, opened, outcomes, poll_to_end, poll_until, publish, publisher,
};

#[test]
fn every_version_and_quality_sees_what_is_published_after_opening_and_nothing_before() {
    let mosquitto = Mosquitto::start().unwrap();
    for way in each_way(&channel(&mosquitto, "payments/+/events")) {
        let mut sender = publisher(&way);
        publish(&mut sender, "payments/1/events", &["before"]);
        let mut tap = opened(&way);
        publish(&mut sender, "payments/1/events", &["one", ""]);
        publish(&mut sender, "payments/other", &["elsewhere"]);
        publish(&mut sender, "payments/2/events", &["two", "end"]);
        let mut keep = Keep::default();
        poll_to_end(&mut tap, &mut keep);
        assert_eq!(keep.texts(), ["one", "", "two"], "{way:?}");
        assert_eq!(keep.0[2].topic, "payments/2/events");
        assert!(keep.0.is_sorted_by_key(|kept| kept.stamp_ns));
        assert!(tap.take_gaps().is_empty());
        assert_eq!((tap.retained(), tap.refused()), (0, 0));
    }
}

#[test]
fn many_messages_come_once_each_in_order_at_every_quality() {
    const COUNT: u64 = 3_000;
    let mosquitto = Mosquitto::start().unwrap();
    for way in each_way(&channel(&mosquitto, "many")) {
        let mut tap = opened(&way);
        let mut sender = publisher(&way);
        let mut keep = Keep::default();
        let mut done = Vec::new();
        for number in 0..COUNT {
            let text = number.to_string();
            sender.try_publish(number, "many", None, &[], text.as_bytes()).unwrap();
            // A broker drops what a subscriber does not take: this one takes.
            if number % 100 == 99 {
                poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() as u64 > number);
                sender.poll(&mut done);
            }
        }
        done.extend(outcomes(&mut sender, COUNT as usize - done.len()));
        let expected: Vec<_> = (0..COUNT).map(|number| number.to_string()).collect();
        assert_eq!(keep.texts(), expected, "{way:?}");
        let mut tokens: Vec<_> = done.iter().map(|outcome| outcome.token).collect();
        tokens.sort_unstable();
        assert_eq!(tokens, (0..COUNT).collect::<Vec<_>>());
        assert!(done.iter().all(|outcome| outcome.error.is_none()));
    }
}

#[test]
fn properties_are_headers_and_correlation_data_the_key() {
    let mosquitto = Mosquitto::start().unwrap();
    let five = channel(&mosquitto, "#");
    let three = MqttChannel { version: MqttVersion::V3, ..five.clone() };
    let (mut tap, mut old) = (opened(&five), opened(&three));
    let mut sender = publisher(&five);
    let headers: &[(&str, &[u8])] = &[
        ("Content-Type", b"application/json"),
        ("sojourn-run", b"run-1"),
        ("empty", b""),
        ("twice", b"1"),
        ("twice", b"2"),
        ("response-topic", b"answers/1"),
    ];
    sender.try_publish(7, "t", Some(b"\xff\0key"), headers, b"{}").unwrap();
    assert_eq!(outcomes(&mut sender, 1)[0].error, None);
    let mut keep = Keep::default();
    poll_until(&mut tap, &mut keep, |_, keep| !keep.0.is_empty());
    let kept = &keep.0[0];
    assert_eq!(kept.key.as_deref(), Some(&b"\xff\0key"[..]));
    let mut found: Vec<_> =
        kept.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    found.sort_unstable();
    let expected = [
        ("content-type", "application/json"),
        ("empty", ""),
        ("response-topic", "answers/1"),
        ("sojourn-run", "run-1"),
        ("twice", "1"),
        ("twice", "2"),
    ];
    assert_eq!(found, expected);
    // 3.1.1 has none of them, and gets the message all the same.
    let mut keep = Keep::default();
    poll_until(&mut old, &mut keep, |_, keep| !keep.0.is_empty());
    assert_eq!((keep.0[0].key.as_deref(), keep.0[0].headers.len()), (None, 0));
    assert_eq!(keep.0[0].text(), "{}");
}

#[test]
fn a_large_message_comes_whole() {
    let mosquitto = Mosquitto::start().unwrap();
    let large: Vec<u8> = (0..5_000_000_u32).map(|byte| (byte / 7) as u8).collect();
    for way in each_way(&channel(&mosquitto, "large")) {
        let mut tap = opened(&way);
        let mut sender = publisher(&way);
        sender.try_publish(1, "large", None, &[], &large).unwrap();
        sender.try_publish(2, "large", None, &[], b"end").unwrap();
        let mut keep = Keep::default();
        poll_to_end(&mut tap, &mut keep);
        assert_eq!(keep.0.len(), 1);
        assert!(keep.0[0].payload == large);
    }
}

#[test]
fn retained_messages_are_no_events_until_they_are_published_anew() {
    let mosquitto = Mosquitto::start().unwrap();
    let five = channel(&mosquitto, "state/#");
    let mut client = Client::connect(mosquitto.port(), "keeper", true);
    client.publish_retained("state/a", b"old");
    client.publish_retained("state/b", b"old");
    for (version, retained) in [(MqttVersion::V5, 0), (MqttVersion::V3, 2)] {
        let way = MqttChannel { version, ..five.clone() };
        let mut tap = opened(&way);
        client.publish_retained("state/a", b"new");
        publish(&mut publisher(&way), "state/b", &["end"]);
        let mut keep = Keep::default();
        poll_to_end(&mut tap, &mut keep);
        assert_eq!(keep.texts(), ["new"], "{version:?}");
        assert_eq!(tap.retained(), retained, "{version:?}");
    }
}

#[test]
fn the_watermark_stands_while_messages_wait_and_moves_when_all_are_handed_over() {
    let mosquitto = Mosquitto::start().unwrap();
    let way = channel(&mosquitto, "t");
    let mut tap = opened(&way);
    let mut keep = Keep::default();
    publish(&mut publisher(&way), "t", &["one"]);
    poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 1);
    let after_ns = now_ns();
    poll_until(&mut tap, &mut keep, |tap, _| tap.watermark_ns() >= after_ns);
    assert!(keep.0[0].stamp_ns <= tap.watermark_ns());
}

#[test]
fn several_filters_and_the_info_name_what_is_listened_to() {
    let mosquitto = Mosquitto::start().unwrap();
    let mut way = channel(&mosquitto, "a/+");
    way.filters.push("b/#".to_owned());
    let mut tap = sojourn_broker_mqtt::MqttTap::new(&way).unwrap();
    let info = tap.open().unwrap();
    let expected =
        format!("mqtt 5 at 127.0.0.1:{}, topic filters a/+, b/#, QoS 1", mosquitto.port());
    assert_eq!(info.listens_to, expected);
    let mut sender = publisher(&way);
    publish(&mut sender, "a/1", &["1"]);
    publish(&mut sender, "b", &["2"]);
    publish(&mut sender, "b/1/2", &["3", "end"]);
    let mut keep = Keep::default();
    poll_to_end(&mut tap, &mut keep);
    assert_eq!(keep.texts(), ["1", "2", "3"]);
}
