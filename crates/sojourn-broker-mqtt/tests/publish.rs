//! Outcomes: exactly one for each message, in the broker's own words.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sojourn_broker::{Publisher, PublisherSettings};
use sojourn_broker_mqtt::MqttPublisher;
use sojourn_clock::now_ns;
use sojourn_plan::MqttChannel;
use sojourn_services::{Mosquitto, Service, closed_port};

use crate::support::{at_port, channel, each_way, outcomes, publisher, wait_for};

#[test]
fn acknowledgements_are_stamped_and_waking_is_called() {
    let mosquitto = Mosquitto::start().unwrap();
    for way in each_way(&channel(&mosquitto, "t")) {
        let woken = Arc::new(AtomicU64::new(0));
        let wakes = Arc::clone(&woken);
        let wake = Arc::new(move || {
            wakes.fetch_add(1, Ordering::SeqCst);
        });
        let how = PublisherSettings { queue_max: 10, wake, ..PublisherSettings::default() };
        let mut sender = MqttPublisher::new(&way, how).unwrap();
        let before_ns = now_ns();
        for token in 0..10 {
            sender.try_publish(token, "nobody/listens", None, &[], b"x").unwrap();
        }
        // The outcomes of all of them are still to come, or to be fetched.
        let full = sender.try_publish(10, "t", None, &[], b"x").unwrap_err();
        assert_eq!(full, "10 messages wait for the broker");
        wait_for(|| woken.load(Ordering::SeqCst) >= 10);
        let after_ns = now_ns();
        let done = outcomes(&mut sender, 10);
        assert_eq!(
            done.iter().map(|outcome| outcome.token).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        );
        for outcome in done {
            assert_eq!(outcome.error, None, "{way:?}");
            assert!((before_ns..=after_ns).contains(&outcome.acked_ns));
        }
        sender.try_publish(11, "t", None, &[], b"x").unwrap();
        assert_eq!(outcomes(&mut sender, 1)[0].token, 11);
    }
}

#[test]
fn what_cannot_be_sent_is_refused_at_once() {
    let mosquitto = Mosquitto::start().unwrap();
    let mut sender = publisher(&channel(&mosquitto, "t"));
    for topic in ["", "a/+", "#", "a\0", &"t".repeat(70_000)] {
        assert!(sender.try_publish(1, topic, None, &[], b"").is_err());
    }
    let refused = sender.try_publish(1, "t", None, &[("x", b"\xff")], b"").unwrap_err();
    assert_eq!(refused, "header `x` is not UTF-8, as MQTT wants it");
    assert!(sender.try_publish(1, "t", Some(&[0; 70_000]), &[], b"").is_err());
    sender.try_publish(2, "t", None, &[], b"").unwrap();
    assert_eq!(outcomes(&mut sender, 1)[0].token, 2);
}

#[test]
fn without_a_broker_outcomes_say_so_and_later_messages_find_it() {
    let port = closed_port().unwrap();
    let mut sender = publisher(&at_port(port, "t"));
    for token in 0..3 {
        sender.try_publish(token, "t", None, &[], b"x").unwrap();
    }
    for outcome in outcomes(&mut sender, 3) {
        assert_eq!(outcome.error.as_deref(), Some("no connection to the broker"));
    }
    let mut mosquitto = Mosquitto::start().unwrap();
    let mut sender = publisher(&channel(&mosquitto, "t"));
    sender.try_publish(1, "t", None, &[], b"x").unwrap();
    assert_eq!(outcomes(&mut sender, 1)[0].error, None);
    mosquitto.kill();
    sender.try_publish(2, "t", None, &[], b"x").unwrap();
    assert!(outcomes(&mut sender, 1)[0].error.is_some());
    mosquitto.restart().unwrap();
    wait_for(|| {
        sender.try_publish(3, "t", None, &[], b"x").unwrap();
        outcomes(&mut sender, 1)[0].error.is_none()
    });
}

/// A broker of MQTT 5 that allows two messages in flight, and refuses the second and takes the third
/// though nobody listens.
fn strict_broker(listener: &TcpListener) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut read = |length: usize| {
        let mut bytes = vec![0; length];
        stream.read_exact(&mut bytes).unwrap();
        bytes
    };
    let head = read(2);
    read(head[1].into());
    // Receive maximum 2, maximum packet size 100.
    stream.write_all(&[0x20, 11, 0, 0, 8, 0x21, 0, 2, 0x27, 0, 0, 0, 100]).unwrap();
    let mut ids = Vec::new();
    for round in 0..2 {
        // Two come, and no third one before one of these is answered.
        while ids.len() < 2 * (round + 1) {
            let mut head = [0; 2];
            stream.read_exact(&mut head).unwrap();
            let mut body = vec![0; head[1].into()];
            stream.read_exact(&mut body).unwrap();
            match head[0] {
                0x32 => ids.push([body[3], body[4]]),
                0xc0 => stream.write_all(&[0xd0, 0]).unwrap(),
                other => panic!("{other:#x} came"),
            }
        }
        let [a, b] = [ids[2 * round], ids[2 * round + 1]];
        assert_ne!(a, b);
        let reasons = if round == 0 { [0, 0x97] } else { [0x10, 0x87] };
        let answers = [[0x40, 3, a[0], a[1], reasons[0]], [0x40, 3, b[0], b[1], reasons[1]]];
        // Out of order, which is allowed.
        stream.write_all(&[answers[1], answers[0]].concat()).unwrap();
    }
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty() || rest.ends_with(&[0xe0, 0]), "{rest:?}");
}

#[test]
fn the_brokers_limits_and_refusals_are_respected_and_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let broker = std::thread::spawn(move || strict_broker(&listener));
    let mut sender = publisher(&MqttChannel { qos: 1, ..at_port(port, "t") });
    for token in 0..4 {
        sender.try_publish(token, "t", None, &[], b"x").unwrap();
    }
    sender.try_publish(4, "t", None, &[], &[0; 200]).unwrap();
    let mut done = outcomes(&mut sender, 5);
    done.sort_by_key(|outcome| outcome.token);
    let errors: Vec<_> = done.iter().map(|outcome| outcome.error.as_deref()).collect();
    assert_eq!(
        errors,
        [
            None,
            Some("the broker refuses: quota exceeded"),
            None,
            Some("the broker refuses: not authorized"),
            Some("the message is larger than the broker takes"),
        ]
    );
    drop(sender);
    broker.join().unwrap();
}
