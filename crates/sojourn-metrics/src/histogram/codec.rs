//! The sparse encoding of a histogram.
//!
//! Varints: count, and when it is not zero: min, max, sum, sum of squares, number of non-empty
//! buckets, then for each of them, ascending, how many buckets were skipped since the one before
//! and its count. A bucket's number is `page · 1,024 + slot`.

use super::{
    Totals,
    layout::{PAGE, PAGES, locate},
};
use crate::varint;

/// Appends the encoding of these totals and buckets (number, count), ascending.
pub(super) fn encode(
    totals: &Totals,
    buckets: impl Iterator<Item = (usize, u64)> + Clone,
    out: &mut Vec<u8>,
) {
    varint::write(out, totals.count);
    if totals.count == 0 {
        return;
    }
    varint::write(out, totals.min);
    varint::write(out, totals.max);
    varint::write_wide(out, totals.sum);
    varint::write_wide(out, totals.sum_of_squares);
    varint::write(out, buckets.clone().count() as u64);
    let mut next = 0;
    for (number, count) in buckets {
        varint::write(out, (number - next) as u64);
        varint::write(out, count);
        next = number + 1;
    }
}

/// Walks over an encoding at the front of `bytes` and hands each bucket (page, slot, count) on.
/// Refuses what no histogram encodes to: buckets beyond the last, counts that do not add up,
/// extremes outside the first and last bucket.
pub(super) fn decode(
    bytes: &mut &[u8],
    mut bucket: impl FnMut(usize, usize, u64),
) -> Option<Totals> {
    let count = varint::read(bytes)?;
    if count == 0 {
        return Some(Totals::default());
    }
    let totals = Totals {
        count,
        min: varint::read(bytes)?,
        max: varint::read(bytes)?,
        sum: varint::read_wide(bytes)?,
        sum_of_squares: varint::read_wide(bytes)?,
    };
    let mut next = 0usize;
    let mut summed = 0u64;
    let mut first = None;
    for _ in 0..varint::read(bytes)? {
        let number = next.checked_add(usize::try_from(varint::read(bytes)?).ok()?)?;
        let count = varint::read(bytes)?;
        if number >= PAGES * PAGE || count == 0 {
            return None;
        }
        summed = summed.checked_add(count)?;
        first = first.or(Some(number));
        bucket(number / PAGE, number % PAGE, count);
        next = number + 1;
    }
    let ends = (first?, next.checked_sub(1)?);
    let sound = summed == count && ends == (number_of(totals.min), number_of(totals.max));
    sound.then_some(totals)
}

fn number_of(value: u64) -> usize {
    let (page, slot) = locate(value);
    page * PAGE + slot
}
