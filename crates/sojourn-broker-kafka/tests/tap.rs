//! What the script does not ask of a tap.

use std::time::Duration;

use sojourn_broker::Recovery;
use sojourn_conformance::{Listener, Message, Rig};

use crate::rig::KafkaRig;

fn messages(numbers: std::ops::Range<u64>) -> Vec<Message> {
    numbers.map(Message::numbered).collect()
}

/// Longer than librdkafka waits for an answer: it makes the connection anew, in vain at first.
#[test]
fn a_long_silence_is_one_gap() {
    let mut rig = KafkaRig::new();
    let proxy = rig.proxy();
    let listener = Listener::open(&rig, Some(proxy.address()));
    rig.publish(&messages(0..100));
    listener.wait_for_messages(100);
    proxy.stall();
    rig.publish(&messages(100..150));
    std::thread::sleep(Duration::from_secs(12));
    assert_eq!(listener.book().lost, None);
    let watermark_ns = listener.book().watermarks.last().copied();
    proxy.resume();
    listener.wait_for_messages(150);
    let gaps = listener.wait_for_gaps(1);
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!(gaps[0].recovery, Recovery::Resumed { messages: 50 });
    assert!(gaps[0].to_ns - gaps[0].from_ns > 11_000_000_000, "{gaps:?}");
    listener.wait_for_watermark(gaps[0].to_ns);
    let (_tap, book) = listener.stop();
    assert!(watermark_ns < Some(gaps[0].from_ns + 3_000_000_000));
    let mut numbers = book.numbers(&rig);
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..150));
}

/// Several short cuts in a row, of which librdkafka's log tells the first only.
#[test]
fn cuts_in_a_row_lose_nothing() {
    let mut rig = KafkaRig::new();
    let proxy = rig.proxy();
    let listener = Listener::open(&rig, Some(proxy.address()));
    for round in 0..5 {
        proxy.cut();
        rig.publish(&messages(round * 100..round * 100 + 100));
        let gaps = listener.wait_for_gaps(round as usize + 1);
        assert!(gaps.iter().all(|gap| matches!(gap.recovery, Recovery::Resumed { .. })));
        listener.wait_for_messages(round * 100 + 100);
    }
    let (_tap, book) = listener.stop();
    let mut numbers = book.numbers(&rig);
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..500));
}
