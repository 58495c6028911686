//! Connections that are lost: every message seen, or a gap that says that some may be missing.

use std::io::{Read, Write};
use std::net::TcpListener;

use sojourn_broker::{Recovery, Tap};
use sojourn_broker_mqtt::MqttTap;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_services::{CutProxy, Mosquitto, Service};

use crate::support::{
    Keep, at_port, channel, each_way, opened, outcomes, poll_until, publish, publisher,
};

/// How late the test looks at a connection that is lost.
const LATE: std::time::Duration = std::time::Duration::from_secs(1);

#[test]
fn a_broker_that_dies_leaves_a_gap_and_the_tap_listens_again() {
    let mut mosquitto = Mosquitto::start().unwrap();
    for way in each_way(&channel(&mosquitto, "t")) {
        let mut tap = opened(&way);
        let mut keep = Keep::default();
        publish(&mut publisher(&way), "t", &["one"]);
        poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 1);
        let heard_ns = keep.0[0].stamp_ns;
        mosquitto.kill();
        let killed_ns = now_ns();
        // We are late to look: the gap must begin when the connection was lost all the same, not when
        // that was noticed.
        std::thread::sleep(LATE);
        let watermark_ns = tap.watermark_ns();
        // One poll notices; from then on it finds nothing and vouches for nothing.
        tap.poll(std::time::Duration::from_secs(1), &mut keep).unwrap();
        let lost_at_ns = tap.watermark_ns();
        assert!(lost_at_ns >= watermark_ns);
        tap.poll(std::time::Duration::from_millis(50), &mut keep).unwrap();
        assert_eq!(tap.watermark_ns(), lost_at_ns);
        assert!(tap.take_gaps().is_empty());
        mosquitto.restart().unwrap();
        let mut gaps = Vec::new();
        let deadline_ns = now_ns() + 60 * SECOND_NS;
        while gaps.is_empty() {
            assert!(now_ns() < deadline_ns, "it does not connect again");
            tap.poll(std::time::Duration::from_millis(20), &mut keep).unwrap();
            gaps = tap.take_gaps();
        }
        assert_eq!(gaps.len(), 1);
        assert_eq!(gaps[0].recovery, Recovery::Missed);
        // What the broker said last may be read a little after it is gone.
        let lost_by_ns = killed_ns + LATE.as_nanos() as u64 / 2;
        assert!(
            (heard_ns..=lost_by_ns).contains(&gaps[0].from_ns),
            "{gaps:?} {heard_ns} {killed_ns}"
        );
        assert!(gaps[0].to_ns > killed_ns);
        publish(&mut publisher(&way), "t", &["two"]);
        poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 2);
        assert_eq!(keep.texts(), ["one", "two"]);
    }
}

#[test]
fn a_broker_that_stalls_is_noticed_and_outcomes_say_so() {
    let mosquitto = Mosquitto::start().unwrap();
    let way = channel(&mosquitto, "t");
    let mut tap = opened(&way);
    let mut keep = Keep::default();
    let mut sender = publisher(&way);
    publish(&mut sender, "t", &["one"]);
    poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 1);
    mosquitto.pause();
    sojourn_broker::Publisher::try_publish(&mut sender, 9, "t", None, &[], b"lost").unwrap();
    let stalled_ns = now_ns();
    // The watermark stops for good only when the connection is given up.
    let mut last_ns = 0;
    let mut stands_since_ns = now_ns();
    while now_ns() - stands_since_ns < SECOND_NS {
        assert!(now_ns() < stalled_ns + 60 * SECOND_NS, "the stall is not noticed");
        tap.poll(std::time::Duration::from_millis(20), &mut keep).unwrap();
        if tap.watermark_ns() > last_ns {
            (last_ns, stands_since_ns) = (tap.watermark_ns(), now_ns());
        }
    }
    let lost = outcomes(&mut sender, 1);
    assert_eq!(lost[0].token, 9);
    let why = lost[0].error.as_deref();
    assert_eq!(why, Some("the connection was lost before the broker answered"));
    mosquitto.resume();
    poll_until(&mut tap, &mut keep, |tap, _| tap.watermark_ns() > last_ns);
    assert_eq!(tap.take_gaps()[0].recovery, Recovery::Missed);
}

#[test]
fn a_connection_that_is_cut_is_made_again_and_the_stretch_is_missed() {
    let mosquitto = Mosquitto::start().unwrap();
    let proxy = CutProxy::start(([127, 0, 0, 1], mosquitto.port()).into()).unwrap();
    let mut tap = opened(&at_port(proxy.port(), "t"));
    let mut sender = publisher(&channel(&mosquitto, "t"));
    let mut keep = Keep::default();
    for round in 0..3 {
        publish(&mut sender, "t", &["one", "two"]);
        poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 2 * (round + 1));
        assert_eq!(proxy.cut(), 1);
        let mut gaps = Vec::new();
        let deadline_ns = now_ns() + 60 * SECOND_NS;
        while gaps.is_empty() {
            assert!(now_ns() < deadline_ns, "it does not connect again");
            tap.poll(std::time::Duration::from_millis(20), &mut keep).unwrap();
            gaps = tap.take_gaps();
        }
        assert_eq!((gaps.len(), gaps[0].recovery), (1, Recovery::Missed));
    }
    assert_eq!(keep.0.len(), 6);
}

#[test]
fn a_quiet_connection_is_not_mistaken_for_a_dead_one() {
    let mosquitto = Mosquitto::start().unwrap();
    let mut tap = opened(&channel(&mosquitto, "t"));
    let mut keep = Keep::default();
    let until_ns = now_ns() + 4 * SECOND_NS;
    poll_until(&mut tap, &mut keep, |tap, _| tap.watermark_ns() > until_ns);
    assert!(tap.take_gaps().is_empty());
}

/// However late the tap's own thread learns of it, a gap begins with the broker's last sign of
/// life.
#[test]
fn a_gap_begins_when_the_connection_was_last_good() {
    let mosquitto = Mosquitto::start().unwrap();
    let proxy = CutProxy::start(([127, 0, 0, 1], mosquitto.port()).into()).unwrap();
    let mut tap = opened(&at_port(proxy.port(), "t"));
    let mut keep = Keep::default();
    publish(&mut publisher(&channel(&mosquitto, "t")), "t", &["one"]);
    poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 1);
    assert_eq!(proxy.cut(), 1);
    let cut_ns = now_ns();
    sojourn_clock::sleep_until(cut_ns + 2 * SECOND_NS);
    let mut gaps = Vec::new();
    while gaps.is_empty() {
        assert!(now_ns() < cut_ns + 60 * SECOND_NS, "it does not connect again");
        tap.poll(std::time::Duration::from_millis(20), &mut keep).unwrap();
        gaps = tap.take_gaps();
    }
    assert!((keep.0[0].stamp_ns..=cut_ns).contains(&gaps[0].from_ns), "{gaps:?} {cut_ns}");
}

/// What came before the broker's last word is handed over once, and why it ended is its own word.
#[test]
fn what_came_with_the_last_word_is_seen_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(listener);
        let mut hello = [0; 1_000];
        assert!(stream.read(&mut hello).unwrap() > 0);
        // CONNACK: no session, success, no properties.
        stream.write_all(b"\x20\x03\0\0\0").unwrap();
        assert!(stream.read(&mut hello).unwrap() > 0);
        // SUBACK of number 1 at QoS 1; a message; DISCONNECT, the session was taken over.
        let last = b"\x90\x04\0\x01\0\x01\x30\x07\0\x01t\0one\xe0\x02\x8e\0";
        stream.write_all(last).unwrap();
        // Whoever reads on finds more.
        std::thread::sleep(std::time::Duration::from_millis(300));
        drop(stream.write_all(b"\x30\x07\0\x01t\0two"));
        std::thread::sleep(std::time::Duration::from_millis(300));
    });
    let mut tap = MqttTap::new(&at_port(port, "t")).unwrap();
    tap.give_up_after(std::time::Duration::from_millis(200));
    tap.open().unwrap();
    server.join().unwrap();
    let mut keep = Keep::default();
    let deadline_ns = now_ns() + 60 * SECOND_NS;
    let error = loop {
        assert!(now_ns() < deadline_ns, "it is not lost");
        if let Err(error) = tap.poll(std::time::Duration::from_millis(20), &mut keep) {
            break error;
        }
    };
    assert_eq!(keep.texts(), ["one"]);
    assert!(error.message.contains("session taken over"), "{error:?}");
}
