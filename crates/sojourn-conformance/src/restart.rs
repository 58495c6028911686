//! Promise: a server that is killed and comes back costs nothing, or the gap says so.

use sojourn_clock::now_ns;

use crate::Rig;
use crate::account::{assert_each_once, assert_gap, assert_stood_still, messages};
use crate::listener::Listener;
use crate::patience::wait_until;

/// Killed and restarted amid messages. Where the broker keeps a past, every message is seen once,
/// those too that were published before the tap was back; else the gap says that some may be
/// missing. Either way the tap goes on.
pub fn a_server_killed_and_restarted(rig: &mut dyn Rig) {
    let listener = Listener::open(rig, None);
    rig.publish(&messages(0..100));
    listener.wait_for_messages(100);
    let killed_ns = now_ns();
    rig.kill();
    // It is seen to be gone before it is back.
    assert_watermark_stops(&listener);
    rig.restart();
    let can = rig.abilities();
    let keeps = can.keeps_a_past && !can.forgets_by_restart;
    if keeps {
        rig.publish(&messages(100..200));
    }
    let restarted_ns = now_ns();
    let gaps = listener.wait_for_gaps(1);
    let late: u64 = gaps.iter().map(|gap| assert_gap(keeps, gap, killed_ns, restarted_ns)).sum();
    assert!(late <= 100, "{late} messages late, of 100 that could be");
    if !keeps {
        rig.publish(&messages(100..200));
    }
    rig.publish(&messages(200..300));
    listener.wait_for_messages(300);
    listener.wait_for_watermark(now_ns());
    let (_tap, book) = listener.stop();
    assert_each_once(rig, &book, 0..300);
    for gap in &book.gaps {
        assert_stood_still(rig, &book, gap);
    }
    assert_eq!(book.refused, 0);
}

/// Waits until the watermark has not moved for twenty polls.
#[track_caller]
fn assert_watermark_stops(listener: &Listener) {
    let mut last = (0, 0);
    wait_until("the watermark stands still without a server", || {
        let book = listener.book();
        assert_eq!(book.lost, None, "lost instead of trying again");
        let watermark_ns = book.watermarks.last().copied().unwrap_or(0);
        if watermark_ns != last.0 {
            last = (watermark_ns, book.polls);
        }
        book.polls >= last.1 + 20
    });
}
