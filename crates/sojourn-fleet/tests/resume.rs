//! Streams over connections that lose what is under way, against what went in.

use std::collections::VecDeque;

use proptest::prelude::*;
use sojourn_fleet::{Chunk, Incoming, Outgoing, WINDOW_BYTES};

/// What happens to a link.
#[derive(Clone, Debug)]
enum Event {
    Say(Vec<u8>),
    /// So many chunks go out…
    Send(usize),
    /// …arrive…
    Arrive(usize),
    /// …so many bytes are handed on…
    HandOn(usize),
    /// …and an acknowledgement goes back.
    Ack,
    /// All that is under way is lost.
    Cut,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..100_000).prop_map(Event::Say),
        3 => (0usize..5).prop_map(Event::Send),
        3 => (0usize..5).prop_map(Event::Arrive),
        3 => (0usize..200_000).prop_map(Event::HandOn),
        2 => Just(Event::Ack),
        1 => Just(Event::Cut),
    ]
}

#[derive(Default)]
struct Link {
    outgoing: Outgoing,
    incoming: Incoming,
    under_way: VecDeque<Chunk>,
    came: Vec<u8>,
}

impl Link {
    fn send(&mut self, count: usize) {
        for _ in 0..count {
            self.under_way.extend(self.outgoing.next_chunk());
        }
    }

    fn arrive(&mut self, count: usize) {
        for chunk in self.under_way.drain(..count.min(self.under_way.len())) {
            match chunk {
                Chunk::Data(offset, bytes) => self.incoming.data(offset, &bytes).unwrap(),
                Chunk::Fin(offset) => self.incoming.fin(offset).unwrap(),
            }
        }
    }

    fn hand_on(&mut self, most: usize) {
        let mut left = most;
        while left > 0 && !self.incoming.pending().is_empty() {
            let pending = self.incoming.pending();
            let bytes = &pending[..left.min(pending.len())];
            self.came.extend(bytes);
            left -= bytes.len();
            let count = bytes.len();
            self.incoming.consume(count);
        }
    }

    fn ack(&mut self) {
        self.outgoing.ack(self.incoming.delivered()).unwrap();
    }

    fn cut(&mut self) {
        self.under_way.clear();
        self.outgoing.rewind(self.incoming.received()).unwrap();
    }
}

proptest! {
    #[test]
    fn whatever_is_cut_nothing_is_lost_or_repeated(
        events in prop::collection::vec(event(), 0..60),
        is_cut_at_the_end: bool,
    ) {
        let (mut link, mut said) = (Link::default(), Vec::new());
        for event in events {
            match event {
                Event::Say(bytes) => {
                    link.outgoing.push(&bytes);
                    said.extend(bytes);
                }
                Event::Send(count) => link.send(count),
                Event::Arrive(count) => link.arrive(count),
                Event::HandOn(most) => link.hand_on(most),
                Event::Ack => link.ack(),
                Event::Cut => link.cut(),
            }
            prop_assert!(!link.outgoing.is_delivered());
        }
        link.outgoing.close();
        if is_cut_at_the_end {
            link.send(3);
            link.cut();
        }
        let mut turns = 0;
        while !link.outgoing.is_delivered() {
            link.send(10);
            link.arrive(10);
            link.hand_on(usize::MAX);
            link.ack();
            turns += 1;
            prop_assert!(turns < 10_000);
        }
        prop_assert!(link.incoming.is_over());
        prop_assert_eq!(link.came, said);
    }
}

#[test]
fn an_end_is_not_acknowledged_before_the_last_byte_is_handed_on() {
    let mut link = Link::default();
    link.outgoing.push(b"last");
    link.outgoing.close();
    link.send(5);
    link.arrive(5);
    link.hand_on(3);
    link.ack();
    assert!(!link.outgoing.is_delivered() && !link.incoming.is_over());
    assert_eq!(link.incoming.delivered(), 3);
    link.hand_on(1);
    link.ack();
    assert!(link.outgoing.is_delivered());
}

/// A side that hands nothing on keeps a bounded amount, and so does the one that sends.
#[test]
fn what_is_kept_is_bounded_on_both_sides() {
    let mut link = Link::default();
    let mut said = 0;
    while link.outgoing.room() > 0 {
        let bytes = vec![1; link.outgoing.room().min(1 << 20)];
        said += bytes.len() as u64;
        link.outgoing.push(&bytes);
        link.send(100);
        link.arrive(100);
    }
    assert_eq!(said, 64 << 20);
    assert_eq!(link.incoming.received(), WINDOW_BYTES);
    // One that sends on regardless is found out.
    assert!(link.incoming.data(WINDOW_BYTES, &[1]).is_err());
}

#[test]
fn offsets_that_cannot_be_are_refused() {
    let mut link = Link::default();
    link.outgoing.push(&[1, 2, 3]);
    assert!(link.outgoing.ack(1).is_err(), "nothing was sent yet");
    link.send(1);
    link.arrive(1);
    assert!(link.outgoing.ack(4).is_err());
    assert!(link.outgoing.rewind(4).is_err());
    link.outgoing.ack(2).unwrap();
    assert!(link.outgoing.ack(1).is_err(), "it is no longer kept");
    assert!(link.incoming.data(4, &[5]).is_err(), "a byte is missing before it");
    assert!(link.incoming.fin(2).is_err() && link.incoming.fin(4).is_err());
    link.incoming.data(1, &[2, 3]).unwrap();
    assert_eq!(link.incoming.received(), 3);
    link.incoming.fin(3).unwrap();
    link.incoming.fin(3).unwrap();
    assert!(link.incoming.data(3, &[4]).is_err());
}
