//! Histograms against sorted samples and against the crate `hdrhistogram`.

use proptest::prelude::*;

use super::*;

/// Values of every magnitude.
fn any_value() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>().prop_flat_map(|bits| (0u32..64).prop_map(move |shift| bits >> shift)),
        0u64..5000,
        Just(0),
        Just(u64::MAX),
        (0u32..64).prop_map(|shift| 1 << shift),
    ]
}

fn any_samples() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(any_value(), 0..400)
}

fn of(samples: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    samples.iter().for_each(|&value| histogram.record(value));
    histogram
}

fn interval_of(samples: &[u64]) -> IntervalHistogram {
    let mut histogram = IntervalHistogram::default();
    samples.iter().for_each(|&value| histogram.record(value));
    histogram
}

#[test]
fn what_is_at_most_a_value_is_counted_within_a_thousandth() {
    proptest!(|(samples in any_samples(), value in any_value())| {
        let histogram = of(&samples);
        let count = |most: u64| samples.iter().filter(|sample| **sample <= most).count() as u64;
        let high = value.saturating_add(value / 1_000);
        let found = histogram.count_at_most(value);
        prop_assert!((count(value)..=count(high)).contains(&found), "{found} at most {value}");
    });
    assert_eq!(of(&[500_000_000; 7]).count_at_most(500_000_000), 7);
    assert_eq!(of(&[1, 2, 3]).count_at_most(2), 2);
}

#[test]
fn ranks_are_those_of_decimal_quantiles() {
    let check = |q, count, rank| assert_eq!(nearest_rank(q, count), rank, "{q} of {count}");
    check(0.99, 100, 99);
    check(0.07, 100, 7);
    check(0.999, 1000, 999);
    check(0.9999, 10_000, 9_999);
    check(0.5, 1, 1);
    check(0.5, 2, 1);
    check(0.5, 3, 2);
    check(0.99, 101, 100);
    check(0.0, 10, 1);
    check(1.0, 10, 10);
    check(1.5, 10, 10);
    check(-1.0, 10, 1);
    check(f64::NAN, 10, 1);
    check(0.5, 0, 0);
    // Every percentile with two decimals, of every power of ten: exact in integers.
    for basis_points in 1..=10_000u64 {
        for count in [10, 100, 1000, 10_000, 1_000_000_000_000] {
            let expected = u128::from(basis_points * count).div_ceil(10_000) as u64;
            assert_eq!(nearest_rank(basis_points as f64 / 10_000.0, count), expected.max(1));
        }
    }
}

#[test]
fn an_empty_histogram_has_no_figures() {
    let empty = Histogram::new();
    assert_eq!((empty.quantile(0.5), empty.mean(), empty.stddev()), (None, None, None));
    assert_eq!(empty.totals(), &Totals::default());
    assert_eq!(empty.buckets().count(), 0);
}

#[test]
fn a_narrow_distribution_far_from_zero_keeps_its_deviation() {
    let base = 3_600_000_000_000;
    let histogram = of(&[base, base + 2, base + 4, base + 6]);
    let deviation = histogram.stddev().unwrap();
    assert!((deviation - 5f64.sqrt()).abs() < 1e-9, "{deviation}");
}

#[test]
fn a_full_bucket_spills_and_nothing_wraps() {
    let mut interval = IntervalHistogram::default();
    interval.record_full(700);
    interval.record(700);
    interval.record(5000);
    let expected = u64::from(u32::MAX) + 1;
    let mut merged = Histogram::new();
    merged.merge_interval(&interval);
    assert_eq!(merged.buckets().next(), Some((700, 700, expected)));
    assert_eq!(merged.totals(), interval.totals());
    assert_eq!(merged.quantile(0.5), Some(700));
    let mut bytes = Vec::new();
    interval.encode(&mut bytes);
    assert_eq!(Histogram::decode(&bytes), Some((merged, &[][..])));
    interval.clear();
    assert_eq!(interval, IntervalHistogram::default());
}

proptest! {
    #[test]
    fn samples_of_one_value_and_of_another_interval_add_up(
        samples in prop::collection::vec((any_value(), 0..4u64), 0..60),
        at in 0..60usize,
        full in prop::option::of(any_value()),
    ) {
        let (mut one_by_one, mut at_once) = <(IntervalHistogram, IntervalHistogram)>::default();
        let mut later = IntervalHistogram::default();
        if let Some(value) = full {
            one_by_one.record_full(value);
            (0..2).for_each(|_| one_by_one.record(value));
            at_once.record_full(value);
            later.record_n(value, 2);
        }
        for (place, &(value, count)) in samples.iter().enumerate() {
            (0..count).for_each(|_| one_by_one.record(value));
            let part = if place < at { &mut at_once } else { &mut later };
            part.record_n(value, count);
        }
        at_once.merge(&later);
        prop_assert_eq!(&at_once, &one_by_one);
        let mut bytes = Vec::new();
        at_once.encode(&mut bytes);
        prop_assert_eq!(IntervalHistogram::decode(&bytes), Some(one_by_one));
    }

    #[test]
    fn figures_match_the_sorted_samples(mut samples in any_samples(), q in 0.0..=1.0f64) {
        let histogram = of(&samples);
        samples.sort_unstable();
        prop_assert_eq!(histogram.count(), samples.len() as u64);
        prop_assert_eq!(histogram.totals().sum, samples.iter().map(|&v| u128::from(v)).sum());
        for q in [q, 0.0, 0.5, 0.9, 0.99, 1.0] {
            let expected = samples.get((nearest_rank(q, samples.len() as u64) as usize).max(1) - 1);
            let Some(&expected) = expected else {
                prop_assert_eq!(histogram.quantile(q), None);
                continue;
            };
            let measured = histogram.quantile(q).unwrap();
            // The bucket's greatest value: never below the sample, at most 0.1 % above.
            prop_assert!(measured >= expected);
            prop_assert!((measured - expected) as f64 <= expected as f64 * 0.001);
            prop_assert!(measured <= *samples.last().unwrap());
        }
        if let (Some(&min), Some(&max)) = (samples.first(), samples.last()) {
            prop_assert_eq!((histogram.totals().min, histogram.totals().max), (min, max));
            prop_assert_eq!(histogram.quantile(1.0), Some(max));
        }
    }

    #[test]
    fn buckets_are_those_of_hdrhistogram(value in any_value()) {
        // The crate's range ends at i64::MAX here, as its Java model's does.
        let value = (value >> 1).max(1);
        let reference = hdrhistogram::Histogram::<u64>::new_with_max(i64::MAX as u64, 3).unwrap();
        let (least, greatest, _) = of(&[value]).buckets().next().unwrap();
        prop_assert_eq!(least, reference.lowest_equivalent(value));
        prop_assert_eq!(greatest, reference.highest_equivalent(value));
    }

    #[test]
    fn quantiles_are_those_of_hdrhistogram(
        samples in prop::collection::vec(1u64..100_000_000_000, 1..300),
        permille in 1u64..=1000,
    ) {
        let mut reference = hdrhistogram::Histogram::<u64>::new(3).unwrap();
        samples.iter().for_each(|&value| reference.record(value).unwrap());
        let q = permille as f64 / 1000.0;
        // In whole numbers: of binary floats the crate makes 0.07·100 the eighth sample.
        let rank = (permille * samples.len() as u64).div_ceil(1000);
        let expected = reference.value_at_quantile((rank as f64 - 0.5) / samples.len() as f64);
        // The crate clamps neither end.
        let histogram = of(&samples);
        let clamped = expected.clamp(histogram.totals().min, histogram.totals().max);
        prop_assert_eq!(histogram.quantile(q), Some(clamped));
    }

    #[test]
    fn merging_is_recording_all(a in any_samples(), b in any_samples(), c in any_samples()) {
        let whole = of(&[a.clone(), b.clone(), c.clone()].concat());
        let mut merged = of(&c);
        merged.merge(&of(&a));
        merged.merge_interval(&interval_of(&b));
        prop_assert_eq!(&merged, &whole);
        merged.clear();
        prop_assert_eq!(&merged, &Histogram::new());
        merged.merge_interval(&interval_of(&a));
        prop_assert_eq!(merged, of(&a));
    }

    /// Few buckets are a list then, many are pages.
    #[test]
    fn one_that_was_read_is_as_one_that_was_written(
        a in any_samples(),
        b in any_samples(),
        many: bool,
    ) {
        let mut first = a.clone();
        if many {
            first.extend((0..300).map(|k| k << 4));
        }
        let mut bytes = Vec::new();
        interval_of(&first).encode(&mut bytes);
        let read = || IntervalHistogram::decode(&bytes).unwrap();
        prop_assert_eq!(&read(), &interval_of(&first));
        let mut again = Vec::new();
        read().encode(&mut again);
        prop_assert_eq!(&again, &bytes);
        let all: Vec<u64> = first.iter().chain(&b).copied().collect();
        let (mut written, mut merged, mut into) = (read(), read(), interval_of(&b));
        b.iter().for_each(|&value| written.record(value));
        merged.merge(&interval_of(&b));
        into.merge(&read());
        prop_assert_eq!(&written, &interval_of(&all));
        prop_assert_eq!(&merged, &interval_of(&all));
        prop_assert_eq!(&into, &interval_of(&all));
        let mut both = read();
        both.merge(&read());
        let twice: Vec<u64> = first.iter().chain(&first).copied().collect();
        prop_assert_eq!(&both, &interval_of(&twice));
        let mut whole = Histogram::new();
        whole.merge_interval(&read());
        prop_assert_eq!(whole, of(&first));
        let mut cleared = read();
        cleared.clear();
        prop_assert_eq!(&cleared, &IntervalHistogram::default());
        b.iter().for_each(|&value| cleared.record(value));
        prop_assert_eq!(&cleared, &interval_of(&b));
    }

    #[test]
    fn a_cleared_interval_is_as_new(a in any_samples(), b in any_samples()) {
        let mut used = interval_of(&a);
        used.clear();
        b.iter().for_each(|&value| used.record(value));
        prop_assert_eq!(&used, &interval_of(&b));
        let mut merged = Histogram::new();
        merged.merge_interval(&used);
        prop_assert_eq!(merged, of(&b));
    }

    #[test]
    fn encodings_are_read_back(
        samples in any_samples(),
        tail in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let histogram = of(&samples);
        let mut bytes = Vec::new();
        histogram.encode(&mut bytes);
        let mut of_interval = Vec::new();
        interval_of(&samples).encode(&mut of_interval);
        prop_assert_eq!(&bytes, &of_interval);
        for cut in 0..bytes.len() {
            prop_assert_eq!(Histogram::decode(&bytes[..cut]), None);
        }
        bytes.extend(&tail);
        prop_assert_eq!(Histogram::decode(&bytes), Some((histogram, tail.as_slice())));
    }

    #[test]
    fn garbage_is_refused_or_sound(
        samples in any_samples(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = Vec::new();
        of(&samples).encode(&mut bytes);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for bytes in [bytes, noise] {
            if let Some((histogram, _)) = Histogram::decode(&bytes) {
                let sum: u64 = histogram.buckets().map(|(_, _, count)| count).sum();
                prop_assert_eq!(sum, histogram.count());
                prop_assert!(histogram.quantile(0.5).is_some() || histogram.count() == 0);
                histogram.stddev();
                let mut twice = histogram.clone();
                if twice.count() < u64::MAX / 2 {
                    twice.merge(&histogram);
                }
            }
        }
    }
}

#[test]
fn an_interval_whose_bucket_was_full_is_read_back() {
    let mut interval = IntervalHistogram::default();
    interval.record_full(7);
    interval.record(7);
    interval.record(9_000);
    let mut bytes = Vec::new();
    interval.encode(&mut bytes);
    let back = IntervalHistogram::decode(&bytes).unwrap();
    assert_eq!(back, interval);
    let mut merged = Histogram::new();
    merged.merge_interval(&back);
    assert_eq!(merged.count(), (1 << 32) + 1);
    assert_eq!(IntervalHistogram::decode(&bytes[1..]), None);
    bytes.push(0);
    assert_eq!(IntervalHistogram::decode(&bytes), None, "there is more");
}
