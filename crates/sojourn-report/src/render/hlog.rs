//! A run's seconds as a histogram log, which HdrHistogram's own tools, HistogramLogAnalyzer and
//! others read: for each second and series of times the whole histogram, not figures of it.
//!
//! The format is version 1.3 of HdrHistogram's interval log; histograms are in its compressed V2
//! encoding. A tag tells the series apart: `stage.hop;journey=payment;stage=settled`, and
//! `;phase=warm-up` after those of journeys of the warm-up.

use std::{
    io::Write,
    time::{Duration, SystemTime},
};

use hdrhistogram::{
    Histogram,
    serialization::{
        V2DeflateSerializer,
        interval_log::{IntervalLogWriterBuilder, Tag},
    },
};
use sojourn_metrics::{Figure, SeriesKey, SeriesPhase};
use sojourn_record::RunFile;

use super::{
    RenderError,
    intervals::{for_each, is_time, tag_value},
};

/// The format, as its readers want it in the first line, a comment.
const VERSION: &str = "[Histogram log format version 1.3]";
/// Columns, for people; readers pass over it as over any comment.
const LEGEND: &str = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
                      \"Interval_Compressed_Histogram\"";
/// What the greatest value of a second is divided by: nanoseconds to milliseconds, as usual.
const MAX_VALUE_DIVISOR: f64 = 1e6;

pub(super) fn report(run: &RunFile, mut out: &mut dyn Write) -> Result<(), RenderError> {
    let start = SystemTime::UNIX_EPOCH + Duration::from_nanos(run.identity.start_unix_ns);
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(VERSION)
        .with_start_time(start)
        .with_base_time(start)
        .with_max_value_divisor(MAX_VALUE_DIVISOR)
        .begin_log_with(&mut out, &mut serializer)
        .map_err(encoding)?;
    log.write_comment("nanoseconds; Interval_Max in milliseconds").map_err(encoding)?;
    log.write_comment(LEGEND).map_err(encoding)?;
    for_each(run, |interval, store| {
        for (key, figure) in store.figures() {
            let Figure::Trend(times) = figure else { continue };
            if times.count() == 0 || !is_time(&key.metric) {
                continue;
            }
            let tag = tag(key);
            let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
            log.write_histogram(
                &same(times)?,
                Duration::from_nanos(interval.start_ns),
                Duration::from_nanos(length_ns),
                Tag::new(&tag),
            )
            .map_err(encoding)?;
        }
        Ok(())
    })?;
    out.flush().map_err(encoding)
}

/// The same histogram in HdrHistogram's layout, whose buckets are ours: three digits from 1 up.
fn same(times: &sojourn_metrics::Histogram) -> Result<Histogram<u64>, RenderError> {
    let mut same = Histogram::new_with_max(times.totals().max.max(2), 3).map_err(encoding)?;
    for (least, _greatest, count) in times.buckets() {
        same.record_n(least, count).map_err(encoding)?;
    }
    Ok(same)
}

fn tag(key: &SeriesKey) -> String {
    let mut tag = tag_value(&key.metric);
    for (name, value) in &key.tags {
        tag.push_str(&format!(";{}={}", tag_value(name), tag_value(value)));
    }
    if key.phase == SeriesPhase::WarmUp {
        tag.push_str(";phase=warm-up");
    }
    tag
}

fn encoding(error: impl std::fmt::Display) -> RenderError {
    RenderError::Histogram(error.to_string())
}
