//! Comparing what came with what was published.

use std::ops::Range;

use sojourn_broker::{Gap, Recovery};

use crate::listener::Book;
use crate::{Message, Rig};

/// The messages of these numbers.
pub(crate) fn messages(numbers: Range<u64>) -> Vec<Message> {
    numbers.map(Message::numbered).collect()
}

/// Each number came once, and those of a key in their order.
#[track_caller]
pub(crate) fn assert_each_once(rig: &dyn Rig, book: &Book, expected: Range<u64>) {
    let mut numbers = book.numbers(rig);
    assert_in_order(rig, &numbers);
    numbers.sort_unstable();
    assert_eq!(numbers, expected.collect::<Vec<_>>(), "each number once");
    assert_eq!(book.count, numbers.len() as u64, "nothing else came");
}

/// Messages of a key, or all where there are no keys, keep their order.
#[track_caller]
pub(crate) fn assert_in_order(rig: &dyn Rig, numbers: &[u64]) {
    if rig.abilities().unordered {
        return;
    }
    let mut last = std::collections::HashMap::new();
    for number in numbers {
        let key = match rig.abilities().keys {
            true => Message::numbered(*number).key,
            false => String::new(),
        };
        if let Some(before) = last.insert(key.clone(), *number) {
            assert!(before < *number, "{number} came after {before}, both of `{key}`");
        }
    }
}

/// A gap begins before it ends, ends after the fault, and says of the messages whether the broker
/// `keeps` them over it. Returns how many messages of it were late.
#[track_caller]
pub(crate) fn assert_gap(keeps: bool, gap: &Gap, fault_ns: u64, mended_ns: u64) -> u64 {
    assert!(gap.from_ns < gap.to_ns, "{gap:?}");
    assert!(gap.to_ns > fault_ns, "it ended before the fault: {gap:?} {fault_ns}");
    assert!(gap.from_ns <= mended_ns, "it began when all was well again: {gap:?} {mended_ns}");
    match gap.recovery {
        Recovery::Resumed { messages } if keeps => messages,
        Recovery::Missed if !keeps => 0,
        other => panic!("{other:?}, keeps: {keeps}"),
    }
}

/// The watermark stood still while the connection was away, from when that had to be noticed.
#[track_caller]
pub(crate) fn assert_stood_still(rig: &dyn Rig, book: &Book, gap: &Gap) {
    let noticed = rig.abilities().stall_noticed.as_nanos();
    let noticed_ns = gap.from_ns + u64::try_from(noticed).unwrap();
    let away = noticed_ns..gap.to_ns;
    let moved: Vec<_> =
        book.watermarks.iter().filter(|watermark| away.contains(watermark)).collect();
    assert!(moved.is_empty(), "the watermark moved during {gap:?}: {moved:?}");
}
