//! Native histograms as remote write 1.0 has them: runs of buckets, and differences of counts.
//!
//! <https://github.com/prometheus/prometheus/blob/main/prompb/types.proto>

use prost::Message;

/// A distribution in buckets whose bounds grow by the same factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeHistogram {
    /// The factor is 2^(2^-schema).
    pub schema: i32,
    /// The greatest absolute value of the bucket of zero.
    pub zero_max: f64,
    /// How many samples there are in all buckets.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// How many in the bucket of zero.
    pub zeros: u64,
    /// Of positive samples, each bucket that has any, ascending: its index and how many.
    pub positive: Vec<(i32, u64)>,
    /// The same of negative samples, by their absolute values.
    pub negative: Vec<(i32, u64)>,
}

impl NativeHistogram {
    pub(super) fn message(&self, timestamp: i64) -> Histogram {
        let (positive_spans, positive_deltas) = spans_and_deltas(&self.positive);
        let (negative_spans, negative_deltas) = spans_and_deltas(&self.negative);
        Histogram {
            count: self.count,
            sum: self.sum,
            schema: self.schema,
            zero_threshold: self.zero_max,
            zero_count: self.zeros,
            negative_spans,
            negative_deltas,
            positive_spans,
            positive_deltas,
            timestamp,
        }
    }
}

/// Buckets in a row are one span; counts are told by what each has more than the one before.
fn spans_and_deltas(buckets: &[(i32, u64)]) -> (Vec<BucketSpan>, Vec<i64>) {
    let mut spans: Vec<BucketSpan> = Vec::new();
    let mut deltas = Vec::with_capacity(buckets.len());
    // The index behind the last bucket, and its count.
    let (mut next, mut before) = (0, 0);
    for &(index, count) in buckets {
        match spans.last_mut() {
            Some(span) if index == next => span.length += 1,
            _ => spans.push(BucketSpan { offset: index - next, length: 1 }),
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        (next, before) = (index + 1, count);
    }
    (spans, deltas)
}

/// The message. Counts are whole numbers here; the fields of fractions are left out.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Histogram {
    #[prost(uint64, tag = "1")]
    count: u64,
    #[prost(double, tag = "3")]
    sum: f64,
    #[prost(sint32, tag = "4")]
    schema: i32,
    #[prost(double, tag = "5")]
    zero_threshold: f64,
    #[prost(uint64, tag = "6")]
    zero_count: u64,
    #[prost(message, repeated, tag = "8")]
    negative_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "9")]
    negative_deltas: Vec<i64>,
    #[prost(message, repeated, tag = "11")]
    positive_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "12")]
    positive_deltas: Vec<i64>,
    #[prost(int64, tag = "15")]
    timestamp: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct BucketSpan {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_buckets_are_spans_and_counts_are_differences() {
        // Buckets -2 and -1, then 3, then 7 to 9.
        let buckets = [(-2, 5), (-1, 2), (3, 2), (7, 1), (8, 10), (9, 10)];
        let (spans, deltas) = spans_and_deltas(&buckets);
        let spans: Vec<_> = spans.iter().map(|span| (span.offset, span.length)).collect();
        assert_eq!(spans, [(-2, 2), (3, 1), (3, 3)]);
        assert_eq!(deltas, [5, -3, 0, -1, 9, 0]);
        assert_eq!(spans_and_deltas(&[]), (Vec::new(), Vec::new()));
    }
}
