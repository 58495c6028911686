//! Promise: a tap whose broker keeps a past reads a stretch of it again, and goes on where it was.

use std::time::Duration;

use sojourn_broker::{PositionRange, RawMessage, Sink, Span};

use crate::account::{assert_each_once, messages};
use crate::listener::Listener;
use crate::{Rig, Seen};

const PATIENCE: Duration = Duration::from_secs(60);

/// By positions: what was seen comes again, once, at the same positions; and afterwards the tap
/// sees what is new and nothing else. A broker without a past says so.
pub fn a_stretch_is_read_again(rig: &mut dyn Rig) {
    let listener = Listener::open(rig, None);
    rig.publish(&messages(0..60));
    listener.wait_for_messages(60);
    let (mut tap, book) = listener.stop();
    let mut again = Again::default();
    let everything = Span::Positions(ranges(&book.messages));
    if !rig.abilities().keeps_a_past || rig.abilities().forgets_what_is_read {
        let error = tap.replay(&everything, PATIENCE, &mut again).unwrap_err();
        assert!(!error.message.is_empty() && again.0.is_empty());
        return;
    }
    assert_eq!(tap.replay(&everything, PATIENCE, &mut again).unwrap(), 60);
    let places = |seen: &[Seen]| {
        let mut places: Vec<_> =
            seen.iter().map(|seen| (seen.position.unwrap(), rig.number(seen).unwrap())).collect();
        places.sort_unstable();
        places
    };
    assert_eq!(places(&again.0), places(&book.messages));
    rig.publish(&messages(60..70));
    let listener = Listener::of(tap);
    listener.wait_for_messages(10);
    let (_tap, book) = listener.stop();
    assert_each_once(rig, &book, 60..70);
}

/// One range for each partition that messages came from.
fn ranges(seen: &[Seen]) -> Vec<PositionRange> {
    let mut ranges: Vec<PositionRange> = Vec::new();
    for (partition, offset) in seen.iter().filter_map(|seen| seen.position) {
        match ranges.iter_mut().find(|range| range.partition == partition) {
            Some(range) => {
                range.from = range.from.min(offset);
                range.to = range.to.max(offset + 1);
            }
            None => ranges.push(PositionRange { partition, from: offset, to: offset + 1 }),
        }
    }
    ranges
}

#[derive(Default)]
struct Again(Vec<Seen>);

impl Sink for Again {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.0.push(Seen::of(message));
    }
}
