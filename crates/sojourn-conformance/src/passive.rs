//! Promise: the system does not notice that it is listened to.

use sojourn_broker::Tap;

use crate::Rig;
use crate::account::{assert_each_once, messages};
use crate::listener::Listener;
use crate::patience::wait_for;

/// The system's own consumer takes the same messages, each once, with taps and without, and the
/// broker says the same of what it has acknowledged; and taps that are gone leave nothing behind.
pub fn the_system_notices_nothing(rig: &mut dyn Rig) {
    let Some(mut system) = rig.system() else { return };
    rig.publish(&messages(0..100));
    let mut taken = system.take(50);
    let half = rig.unacknowledged();
    taken.extend(system.take(50));
    assert_same(&taken, 0..100, "without a tap");
    let none = rig.unacknowledged();
    assert!(half.is_empty() || half != none, "{half:?}");
    let before = rig.footprint();
    let first = Listener::open(rig, None);
    let second = Listener::open(rig, None);
    // Half of it is taken while the taps read, half is waiting when they go.
    rig.publish(&messages(100..200));
    let mut taken = system.take(50);
    assert_eq!(taken.len(), 50, "beside two taps");
    assert_eq!(rig.unacknowledged(), half, "what is acknowledged beside two taps");
    for listener in [first, second] {
        listener.wait_for_messages(100);
        let (tap, book) = listener.stop();
        assert_each_once(rig, &book, 100..200);
        close(tap);
    }
    taken.extend(system.take(50));
    assert_same(&taken, 100..200, "beside two taps and after them");
    assert_eq!(rig.unacknowledged(), none, "what is acknowledged after them");
    rig.publish(&messages(200..210));
    assert_same(&system.take(10), 200..210, "afterwards");
    // A broker may take a moment to remove what a connection that ended had.
    let mut after = Vec::new();
    wait_for("the broker is as it was", || {
        after = rig.footprint();
        (after == before).then_some(())
    });
}

fn close(tap: Box<dyn Tap>) {
    drop(tap);
}

#[track_caller]
fn assert_same(taken: &[u64], expected: std::ops::Range<u64>, when: &str) {
    let mut taken = taken.to_vec();
    taken.sort_unstable();
    assert_eq!(taken, expected.collect::<Vec<_>>(), "what the system took {when}");
}
