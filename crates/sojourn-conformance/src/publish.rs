//! Promise: each message published has exactly one outcome, and what was acknowledged is there.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sojourn_clock::now_ns;

use crate::account::{assert_each_once, messages};
use crate::listener::Listener;
use crate::patience::{wait_for, wait_until};
use crate::publishing::Publishing;
use crate::{Message, Rig};

/// As many outcomes as messages, all acknowledged, at instants between sending and now; a tap sees
/// them all, and whoever waits for outcomes is woken.
pub fn an_outcome_for_each_message(rig: &mut dyn Rig) {
    let listener = Listener::open(rig, None);
    let mut publishing = Publishing::open(rig, None, 1_000);
    publishing.send(&Message::numbered(0)).unwrap();
    // Polled only when woken.
    let mut seen = 0;
    wait_until("the wake for an outcome", || {
        let woken = publishing.woken.load(Ordering::Acquire);
        if woken > seen {
            seen = woken;
            publishing.poll();
        }
        publishing.pending() == 0
    });
    for message in messages(1..500) {
        publishing.send(&message).unwrap();
        publishing.poll();
    }
    publishing.settle();
    assert_eq!(publishing.failures(), Vec::<String>::new());
    assert_eq!(publishing.acked(), (0..500).collect::<Vec<_>>());
    assert_eq!(publishing.poll(), 0, "no outcome twice");
    listener.wait_for_messages(500);
    let (_tap, book) = listener.stop();
    assert_each_once(rig, &book, 0..500);
    for (message, seen) in messages(0..500).iter().zip(&book.messages).take(1) {
        assert_eq!(rig.number(seen), Some(message.number));
    }
    if let Some(stored) = rig.stored() {
        assert_eq!(sorted(stored), (0..500).collect::<Vec<_>>());
    }
}

/// A publisher whose messages cannot go out takes as many as it was told and no more.
pub fn a_full_queue_is_refused(rig: &mut dyn Rig) {
    let proxy = rig.proxy();
    let mut publishing = Publishing::open(rig, Some(proxy.address()), 20);
    publishing.send(&Message::numbered(1_000)).unwrap();
    publishing.settle();
    proxy.stall();
    let refused =
        messages(0..21).iter().map(|message| publishing.send(message)).collect::<Vec<_>>();
    let taken = refused.iter().filter(|taken| taken.is_ok()).count();
    assert_eq!(taken, 20, "{:?}", refused.last());
    proxy.resume();
    publishing.settle();
    // Whatever became of them, there is room again.
    wait_until("a message is acknowledged again", || {
        let number = 2_000 + publishing.fates.len() as u64;
        publishing.send(&Message::numbered(number)).unwrap();
        publishing.settle();
        publishing.acked().contains(&number)
    });
}

/// The server is killed with messages under way: each has exactly one outcome, what was
/// acknowledged is stored, and messages sent after the restart are acknowledged again.
pub fn a_server_killed_with_messages_in_flight(rig: &mut dyn Rig) {
    let mut publishing = Publishing::open(rig, None, 100_000);
    for message in messages(0..200) {
        publishing.send(&message).unwrap();
        publishing.poll();
    }
    wait_until("some acknowledgements", || {
        publishing.poll();
        publishing.acked().len() >= 100
    });
    let mut next = 200;
    while next < 2_200 {
        // Refused is as good as failed: it must be said.
        drop(publishing.send(&Message::numbered(next)));
        next += 1;
    }
    rig.kill();
    for message in messages(next..next + 10) {
        drop(publishing.send(&message));
    }
    rig.restart();
    let acked = wait_for("messages are acknowledged again", || {
        next += 100;
        let number = next;
        if publishing.send(&Message::numbered(number)).is_ok() {
            publishing.settle();
        } else {
            std::thread::sleep(Duration::from_millis(50));
        }
        publishing.acked().contains(&number).then(|| publishing.acked())
    });
    assert_eq!(publishing.pending(), 0);
    for failure in publishing.failures() {
        assert!(!failure.is_empty());
        let port = rig.address().port().to_string();
        assert!(!failure.contains(&port), "an address in stable words: {failure}");
    }
    if let Some(stored) = rig.stored() {
        let stored = sorted(stored);
        let missing: Vec<_> =
            acked.iter().filter(|number| stored.binary_search(number).is_err()).collect();
        assert!(missing.is_empty(), "acknowledged and not stored: {missing:?}");
        let mut once = stored.clone();
        once.dedup();
        if rig.abilities().idempotent {
            assert_eq!(once.len(), stored.len(), "stored twice");
        }
        let sent = once.iter().all(|number| publishing.fates.contains_key(number));
        assert!(sent, "something else is stored");
    }
}

/// A publisher dropped with messages under way ends at once.
pub fn dropped_with_messages_in_flight(rig: &mut dyn Rig) {
    let proxy = rig.proxy();
    let mut publishing = Publishing::open(rig, Some(proxy.address()), 100);
    publishing.send(&Message::numbered(0)).unwrap();
    publishing.settle();
    proxy.stall();
    for message in messages(1..50) {
        publishing.send(&message).unwrap();
    }
    let begun_ns = now_ns();
    drop(publishing);
    let took = Duration::from_nanos(now_ns() - begun_ns);
    // A run's end must not hang by a broker that answers nothing.
    assert!(took < Duration::from_secs(15), "{took:?}");
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}
