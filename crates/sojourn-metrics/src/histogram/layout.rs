//! Which bucket a value belongs to.
//!
//! The buckets of HdrHistogram at three significant digits from 1 upwards: 2,048 sub-buckets of
//! which the upper 1,024 are used in each octave. A page is 1,024 neighbouring buckets:
//!
//! | page | values | bucket width |
//! |---|---|---|
//! | 0 | 0 to 1,023 | 1 |
//! | 1 | 1,024 to 2,047 | 1 |
//! | p ≥ 1 | 2^(p+9) to 2^(p+10) − 1 | 2^(p−1) |
//!
//! A bucket is never wider than 1/1,024 of its least value, which is the stated error of 0.1 %.

/// Pages for all of `u64`.
pub(super) const PAGES: usize = 55;

/// Buckets in a page.
pub(super) const PAGE: usize = 1024;

/// Page and slot of a value.
#[inline]
pub(super) fn locate(value: u64) -> (usize, usize) {
    let bits = u64::BITS - (value | (PAGE as u64 - 1)).leading_zeros();
    let page = bits - PAGE.ilog2();
    let slot = (value >> width_log2(page as usize)) & (PAGE as u64 - 1);
    (page as usize, slot as usize)
}

/// Least and greatest value of a bucket.
pub(super) fn bounds(page: usize, slot: usize) -> (u64, u64) {
    let shift = width_log2(page);
    let leading = if page == 0 { 0 } else { PAGE as u64 };
    let least = (leading + slot as u64) << shift;
    (least, least + ((1 << shift) - 1))
}

#[inline]
fn width_log2(page: usize) -> u32 {
    (page as u32).saturating_sub(1)
}
