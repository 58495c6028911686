//! The payload of a row: an interval's figures.
//!
//! Start and length in nanoseconds, number of series, then gap, kind and figures of each. A trend's
//! are count, min, p50 − min, p95 − p50, p99 − p95, max − p99 and the sum: percentiles ascend.

use sojourn_metrics::{Kind, SeriesKey, varint};

use crate::{Interval, IntervalRow};

/// Writes a row; the series' numbers ascend.
pub(crate) fn write_row(
    start_ns: u64,
    end_ns: u64,
    rows: &[(u32, IntervalRow)],
    out: &mut Vec<u8>,
) {
    varint::write(out, start_ns);
    varint::write(out, end_ns.saturating_sub(start_ns));
    varint::write(out, rows.len() as u64);
    let mut next = 0;
    for (number, row) in rows {
        varint::write(out, u64::from(number - next));
        next = number + 1;
        write_figures(row, out);
    }
}

fn write_figures(row: &IntervalRow, out: &mut Vec<u8>) {
    match *row {
        IntervalRow::Counter(n) => {
            out.push(Kind::Counter.number());
            varint::write(out, n);
        }
        IntervalRow::Gauge(levels) => {
            out.push(Kind::Gauge.number());
            levels.iter().for_each(|level| out.extend(level.to_le_bytes()));
        }
        IntervalRow::Rate(yes, no) => {
            out.push(Kind::Rate.number());
            varint::write(out, yes);
            varint::write(out, no);
        }
        IntervalRow::Trend { count, min, p50, p95, p99, max, sum } => {
            out.push(Kind::Trend.number());
            varint::write(out, count);
            let mut before = 0;
            for figure in [min, p50, p95, p99, max] {
                varint::write(out, figure.saturating_sub(before));
                before = figure;
            }
            varint::write_wide(out, sum);
        }
    }
}

/// Reads a row with the names of its series.
pub(crate) fn read_row(mut bytes: &[u8], keys: &[(SeriesKey, Kind)]) -> Option<Interval> {
    let bytes = &mut bytes;
    let start_ns = varint::read(bytes)?;
    let end_ns = start_ns.checked_add(varint::read(bytes)?)?;
    let count = usize::try_from(varint::read(bytes)?).ok()?;
    let mut rows = Vec::with_capacity(count.min(keys.len()));
    let mut next = 0usize;
    for _ in 0..count {
        let number = next.checked_add(usize::try_from(varint::read(bytes)?).ok()?)?;
        let (key, kind) = keys.get(number)?;
        let (&stated, rest) = bytes.split_first()?;
        *bytes = rest;
        if stated != kind.number() {
            return None;
        }
        rows.push((key.clone(), read_figures(bytes, *kind)?));
        next = number + 1;
    }
    bytes.is_empty().then_some(Interval { start_ns, end_ns, rows })
}

fn read_figures(bytes: &mut &[u8], kind: Kind) -> Option<IntervalRow> {
    Some(match kind {
        Kind::Counter => IntervalRow::Counter(varint::read(bytes)?),
        Kind::Gauge => IntervalRow::Gauge([float(bytes)?, float(bytes)?, float(bytes)?]),
        Kind::Rate => IntervalRow::Rate(varint::read(bytes)?, varint::read(bytes)?),
        Kind::Trend => {
            let count = varint::read(bytes)?;
            let mut before = 0u64;
            let mut ascending = || {
                before = before.checked_add(varint::read(bytes)?)?;
                Some(before)
            };
            let [min, p50, p95] = [ascending()?, ascending()?, ascending()?];
            let [p99, max] = [ascending()?, ascending()?];
            IntervalRow::Trend { count, min, p50, p95, p99, max, sum: varint::read_wide(bytes)? }
        }
    })
}

fn float(bytes: &mut &[u8]) -> Option<f64> {
    let (value, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(f64::from_le_bytes(*value))
}
