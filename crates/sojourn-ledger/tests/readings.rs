//! Readings of foreign clocks: kept with their journey, handed over with its end.

use sojourn_ledger::FinishClass::{Completed, Lost};
use sojourn_ledger::StageKind::{Optional, Required};
use sojourn_ledger::{Fact, JourneyId, More, Observation, Reading, Shown, Unread, Where};

use crate::support::*;

fn answered(step: u8, read_ns: u64, unix_ms: Result<u64, Unread>) -> Reading {
    let at = Where::Answer { step, due_ns: 100, sent_ns: 105 };
    Reading { clock: 0, at, read_ns, unix_ms }
}

fn seen(stage: u8, read_ns: u64, unix_ms: u64) -> Reading {
    Reading { clock: 1, at: Where::Event { stage }, read_ns, unix_ms: Ok(unix_ms) }
}

/// An event that shows clock 1.
fn showing(text: &str, stage: u8, unix_ms: u64) -> Observation {
    let mut observation = event(text, stage);
    let shown = Some(Shown { clock: 1, unix_ms: Ok(unix_ms) });
    observation.candidates[0].more = Some(Box::new(More { shown, ..More::default() }));
    observation
}

fn read(book: &mut Book, stamp_ns: u64, id: u64, reading: Reading) {
    book.tell(stamp_ns, Fact::Read { journey: JourneyId(id), reading });
}

#[test]
fn the_first_reading_of_each_step_and_stage_comes_with_the_end() {
    let mut book = Book::of(&[Required, Required]);
    book.start(100, 1, "k");
    let readings = [answered(0, 111, Ok(7)), answered(1, 121, Err(Unread::Missing))];
    read(&mut book, 110, 1, readings[0]);
    read(&mut book, 115, 1, answered(0, 116, Ok(8)));
    read(&mut book, 120, 1, readings[1]);
    book.root(120, 1).observe(200, showing("k", 0, 50)).observe(210, showing("k", 0, 60));
    book.see(300, "k", 1);
    assert_eq!(book.outcome(1), Some((Completed, 300)));
    assert_eq!(book.finished()[0].readings, [readings[0], readings[1], seen(0, 200, 50)]);
}

#[test]
fn an_event_that_waits_for_its_key_is_read_at_its_own_stamp() {
    let mut book = Book::of(&[Required]);
    book.start_kind(100, 1, 0, None).observe(150, showing("k", 0, 50));
    read(&mut book, 190, 1, answered(0, 191, Ok(7)));
    book.keyed(190, 1, "k").root(190, 1);
    assert_eq!(book.outcome(1), Some((Completed, 190)));
    assert_eq!(book.finished()[0].readings, [answered(0, 191, Ok(7)), seen(0, 150, 50)]);
}

#[test]
fn what_comes_after_the_end_is_not_kept_and_a_lost_journey_has_what_came() {
    let mut book = Book::of(&[Required, Optional]);
    book.start(100, 1, "k").start(100, 2, "lost").root(110, 1).root(110, 2);
    read(&mut book, 110, 2, answered(0, 111, Ok(7)));
    book.see(200, "k", 0).observe(210, showing("k", 1, 50));
    read(&mut book, 220, 1, answered(0, 221, Ok(7)));
    book.advance(100 + WITHIN + LINGER + 1);
    let readings: Vec<_> = book.finished().iter().map(|it| (it.class, it.readings.len())).collect();
    assert_eq!(readings, [(Completed, 0), (Lost, 1)]);
}
