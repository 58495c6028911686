//! Promise: a tap that is not polled for a while neither fills the memory nor loses anything in
//! silence.

use std::time::Duration;

use sojourn_clock::{SECOND_NS, now_ns};

use crate::account::assert_each_once;
use crate::listener::Listener;
use crate::patience::wait_until;
use crate::{Message, Rig};

/// Messages published at once.
const PART: u64 = 1_000;

/// The sink takes nothing while the broker is flooded. Memory stays bounded; afterwards everything
/// comes, or the tap says that it refused some, lost its connection, or is lost.
pub fn a_sink_that_stands_still(rig: &mut dyn Rig) {
    let abilities = rig.abilities();
    let (count, bytes) = abilities.flood;
    let listener = Listener::open(rig, None);
    listener.count_only();
    rig.publish(&[Message::numbered(0)]);
    listener.wait_for_messages(1);
    listener.hold(true);
    let before = resident_bytes();
    let mut grown = 0;
    let mut next = 1;
    while next < count {
        let part = next..(next + PART).min(count);
        next = part.end;
        let messages: Vec<_> = part.map(|number| Message::padded(number, bytes)).collect();
        rig.publish(&messages);
        drop(messages);
        grown = grown.max(resident_bytes().saturating_sub(before));
    }
    assert!(
        grown <= abilities.flood_growth_max,
        "the process grew by {grown} bytes while {} were published",
        count * bytes as u64
    );
    listener.hold(false);
    wait_until("everything, or word of what is missing", || {
        let book = listener.book();
        book.count == count || book.lost.is_some() || book.refused > 0 || !book.gaps.is_empty()
    });
    if listener.book().lost.is_none() && listener.book().refused == 0 && !listener.missed() {
        listener.wait_for_messages(count);
        listener.wait_for_watermark(now_ns());
        let (_tap, book) = listener.stop();
        assert_each_once(rig, &book, 0..count);
    }
}

/// A sink slower than the messages come is behind, and the watermark says so; everything comes.
pub fn a_sink_that_is_slow(rig: &mut dyn Rig) {
    let count = 3_000;
    let listener = Listener::open(rig, None);
    listener.slow(Duration::from_micros(500));
    let messages: Vec<_> = (0..count).map(Message::numbered).collect();
    rig.publish(&messages);
    listener.wait_for_messages(count);
    listener.slow(Duration::ZERO);
    listener.wait_for_watermark(now_ns());
    let (_tap, book) = listener.stop();
    assert_each_once(rig, &book, 0..count);
    assert_eq!((book.refused, book.gaps.len()), (0, 0));
}

/// A link that takes seconds for what is published at once: messages that come late do not pass for
/// new ones, the tap says that it is behind, or that it has lost the connection.
pub fn a_link_that_is_slow(rig: &mut dyn Rig) {
    const BYTES_PER_S: u64 = 400;
    let proxy = rig.proxy();
    let listener = Listener::open(rig, Some(proxy.address()));
    let messages = |numbers: std::ops::Range<u64>| numbers.map(Message::numbered).collect();
    let before: Vec<_> = messages(0..20);
    rig.publish(&before);
    listener.wait_for_messages(20);
    listener.wait_for_watermark(now_ns());
    proxy.throttle(Some(BYTES_PER_S));
    let (slow, count) = (messages(20..120), 120);
    rig.publish(&slow);
    if rig.abilities().sees_late_messages {
        wait_until("word that the tap is behind", || {
            let book = listener.book();
            book.behind_ns_max > SECOND_NS || book.lost.is_some() || !book.gaps.is_empty()
        });
    }
    proxy.throttle(None);
    wait_until("everything, or word of what is missing", || {
        let book = listener.book();
        book.count >= count || book.lost.is_some() || !book.gaps.is_empty()
    });
}

/// Memory of this process, bytes.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}
