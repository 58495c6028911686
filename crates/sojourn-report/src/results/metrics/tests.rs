//! Figures whose truth is known beforehand.

use super::*;

fn result(unix_ns: i64, latency_ns: i64, code: u16) -> AttackResult<'static> {
    AttackResult {
        timestamp: Timestamp::utc(unix_ns),
        latency_ns,
        code,
        bytes_in: 1024,
        bytes_out: 512,
        ..AttackResult::default()
    }
}

#[test]
fn ten_thousand_results_have_the_figures_that_vegeta_finds() {
    const SECOND: i64 = 1_000_000_000;
    let mut metrics = Metrics::default();
    for index in 1..=10_000i64 {
        let code = [500, 200, 302][(index % 3) as usize];
        let error: &[u8] = if code == 500 { b"Internal server error" } else { b"" };
        metrics.add(0, &AttackResult { error, ..result(index * SECOND, index * 1_000, code) });
    }
    let figures = metrics.figures();
    assert_eq!(figures.duration_ns, 9_999 * SECOND);
    assert_eq!(figures.wait_ns, 10_000_000);
    assert_eq!(figures.rate, 1.000_100_010_001);
    assert_eq!(figures.throughput, 0.666_766_009_834_973_7);
    assert_eq!(figures.success, 0.6667);
    let p = [5_000_500, 9_000_500, 9_500_500, 9_900_500];
    assert_eq!(figures.latency_quantiles_ns, p);
    assert_eq!(figures.latency_mean_ns, 5_000_500);
    assert_eq!((figures.latency_min_ns, figures.latency_max_ns), (1_000, 10_000_000));
    assert_eq!(figures.bytes_in, Some((10_240_000, 1024.0)));
    assert_eq!(figures.bytes_out, Some((5_120_000, 512.0)));
    let codes = [("200", 3334), ("302", 3333), ("500", 3333)];
    assert_eq!(figures.status_codes, codes.map(|(code, count)| (code.to_owned(), count)));
    assert_eq!(figures.errors, ["Internal server error"]);
    assert_eq!(figures.earliest, Timestamp::utc(SECOND));
    assert_eq!(figures.latest, Timestamp::utc(10_000 * SECOND));
    assert_eq!(figures.end, Timestamp::utc(10_000 * SECOND + 10_000_000));
}

#[test]
fn without_results_everything_is_zero() {
    let figures = Metrics::default().figures();
    let none = Some((0, 0.0));
    assert_eq!(figures, Figures { bytes_in: none, bytes_out: none, ..Figures::default() });
    assert!(!figures.earliest.is_known());
}

#[test]
fn one_result_has_no_duration_and_plain_numbers_for_rates() {
    let mut metrics = Metrics::default();
    metrics.add(0, &result(5, 7, 200));
    let figures = metrics.figures();
    assert_eq!((figures.rate, figures.throughput), (1.0, 1.0));
    assert_eq!((figures.duration_ns, figures.wait_ns), (0, 7));
}

/// Vegeta's issue 210: the time between two runs is no time of either.
#[test]
fn the_gap_between_two_runs_does_not_count() {
    let mut metrics = Metrics::default();
    for start in [0, 1_000_000] {
        for index in 0..=10 {
            metrics.add(usize::from(start > 0), &result(start + index * 100, 50, 200));
        }
    }
    let figures = metrics.figures();
    assert_eq!(figures.stretches, 2);
    assert_eq!((figures.duration_ns, figures.wait_ns), (2_000, 100));
    assert_eq!(figures.rate, 22.0 / 2e-6);
    assert_eq!(figures.earliest.unix_ns, 0);
    assert_eq!(figures.end.unix_ns, 1_001_050);
}

#[test]
fn runs_that_overlap_are_one() {
    let mut metrics = Metrics::default();
    for (input, start) in [(2, 500), (0, 0), (1, 1_490)] {
        for index in 0..=10 {
            metrics.add(input, &result(start + index * 100, 40, 200));
        }
    }
    let figures = metrics.figures();
    // The third begins while the second's last response is still awaited.
    assert_eq!(figures.stretches, 1);
    assert_eq!((figures.duration_ns, figures.wait_ns), (2_490, 40));
}

#[test]
fn a_time_that_is_not_known_is_no_time() {
    let mut metrics = Metrics::default();
    metrics.add(0, &result(100, 10, 200));
    metrics.add(0, &AttackResult { latency_ns: 99, ..AttackResult::default() });
    let figures = metrics.figures();
    assert_eq!((figures.requests, figures.duration_ns, figures.wait_ns), (2, 0, 10));
}

#[test]
fn absurd_numbers_do_not_overflow() {
    let mut metrics = Metrics::default();
    for (at, latency) in [(i64::MIN + 1, i64::MAX), (i64::MAX, i64::MAX), (0, i64::MIN)] {
        let bytes_in = u64::MAX;
        metrics.add(0, &AttackResult { bytes_in, ..result(at, latency, 65_535) });
    }
    let figures = metrics.figures();
    assert_eq!(figures.duration_ns, i64::MAX);
    assert_eq!(figures.bytes_in.unwrap().0, u64::MAX);
    assert!(figures.rate.is_finite() && figures.throughput.is_finite());
}

#[test]
fn error_texts_are_listed_once_and_not_without_end() {
    let mut metrics = Metrics::default();
    for index in 0..ERRORS_MAX + 10 {
        let error = format!("read from port {index}");
        for _ in 0..2 {
            metrics.add(0, &AttackResult { error: error.as_bytes(), ..result(0, 1, 0) });
        }
    }
    metrics.add(0, &AttackResult { error: b"read from port 7", ..result(0, 1, 0) });
    let figures = metrics.figures();
    assert_eq!(figures.errors.len(), ERRORS_MAX);
    assert_eq!(figures.errors[7], "read from port 7");
    assert_eq!(figures.errors_refused, 20);
    assert_eq!(lossy(b"a\xff\xc3(\xed\xa0\x80"), "a\u{fffd}\u{fffd}(\u{fffd}\u{fffd}\u{fffd}");
}

#[test]
fn error_texts_of_great_length_are_not_all_kept() {
    let mut metrics = Metrics::default();
    for index in 0..70u8 {
        let error = vec![b'a' + index % 70; 1 << 20];
        metrics.add(0, &AttackResult { error: &error, ..result(0, 1, 0) });
    }
    let figures = metrics.figures();
    assert_eq!((figures.errors.len(), figures.errors_refused), (64, 6));
}
