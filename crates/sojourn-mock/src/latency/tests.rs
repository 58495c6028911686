//! Laws against their distribution functions.

use sojourn_metrics::Histogram;

use super::recorded::of_histogram;
use super::*;

const SAMPLES: u64 = 100_000;

fn law(text: &str) -> Latency {
    read_latency(text, &RunFiles::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Kolmogorov and Smirnov's distance of draws from a distribution function, times √n: above 1.95
/// once in a thousand samples of the law itself. The seed is fixed, so it holds for ever or never
/// did. An atom of the distribution is compared at its upper end.
fn distance(law: &Latency, seed: u64, cumulative: impl Fn(f64) -> f64) -> f64 {
    let mut draws: Vec<u64> = (0..SAMPLES).map(|k| law.draw_ns(seed, 9, k)).collect();
    draws.sort_unstable();
    let mut greatest: f64 = 0.0;
    for (place, pair) in draws.windows(2).enumerate() {
        // At a value's last sample only: equal draws are one step.
        if pair[0] < pair[1] {
            let found = (place + 1) as f64 / SAMPLES as f64;
            // Draws are rounded to whole nanoseconds.
            greatest = greatest.max((found - cumulative(pair[0] as f64 + 0.5)).abs());
        }
    }
    greatest * (SAMPLES as f64).sqrt()
}

/// P(X ≤ x) of a standard normal variable, by the series of its integral.
fn normal_below(x: f64) -> f64 {
    if x < -8.0 {
        return 0.0;
    }
    let (mut term, mut sum, mut n) = (x, x, 1.0);
    while term.abs() > 1e-16 {
        n += 2.0;
        term *= x * x / n;
        sum += term;
    }
    0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[test]
fn a_hundred_thousand_draws_follow_each_law() {
    let check = |text: &str, cumulative: &dyn Fn(f64) -> f64| {
        for seed in 1..=3 {
            let distance = distance(&law(text), seed, cumulative);
            assert!(distance < 1.95, "{text}, seed {seed}: {distance}");
        }
    };
    check("exp(20ms)", &|ns| 1.0 - (-ns / 20e6).exp());
    check("uniform(10ms, 50ms)", &|ns| (ns - 10e6) / 40e6);
    check("normal(100ms, 20ms)", &|ns| normal_below((ns - 100e6) / 20e6));
    // A third of this one is below zero, and so zero.
    check("normal(10ms, 20ms)", &|ns| normal_below((ns - 10e6) / 20e6));
    let sigma = (600.0_f64 / 80.0).ln() / NORMAL_QUANTILE_99;
    check("lognormal(p50=80ms, p99=600ms)", &|ns| normal_below((ns / 80e6).ln() / sigma));
    check("percentiles(min=5ms, p50=20ms, p90=60ms, max=1s)", &|ns| match ns / 1e6 {
        ms if ms < 20.0 => (ms - 5.0) / 15.0 * 0.5,
        ms if ms < 60.0 => 0.5 + (ms - 20.0) / 40.0 * 0.4,
        ms => 0.9 + (ms - 60.0) / 940.0 * 0.1,
    });
}

/// The test above can fail: a law that is off by a few per cent does.
#[test]
fn a_law_that_is_slightly_off_is_found_out() {
    let off = law("exp(20.5ms)");
    assert!(distance(&off, 1, |ns| 1.0 - (-ns / 20e6).exp()) > 1.95);
    let off = law("lognormal(p50=80ms, p99=630ms)");
    let sigma = (600.0_f64 / 80.0).ln() / NORMAL_QUANTILE_99;
    assert!(distance(&off, 1, |ns| normal_below((ns / 80e6).ln() / sigma)) > 1.95);
}

#[test]
fn a_recorded_law_draws_what_was_recorded() {
    let source = law("lognormal(p50=80ms, p99=600ms)");
    let mut histogram = Histogram::new();
    for k in 0..SAMPLES {
        histogram.record(source.draw_ns(77, 1, k));
    }
    let replayed = of_histogram(&histogram).unwrap();
    let sigma = (600.0_f64 / 80.0).ln() / NORMAL_QUANTILE_99;
    // Two samples of the same size: each strays by itself.
    let distance = distance(&replayed, 1, |ns| normal_below((ns / 80e6).ln() / sigma));
    assert!(distance < 1.95 * 2.0_f64.sqrt(), "{distance}");
    assert_eq!(of_histogram(&Histogram::new()), None);
}

#[test]
fn means_are_those_of_the_draws() {
    for text in [
        "7ms",
        "exp(20ms)",
        "uniform(10ms, 50ms)",
        "normal(100ms, 20ms)",
        "lognormal(p50=80ms, p99=200ms)",
        "percentiles(p10=5ms, p50=20ms, p99=300ms)",
    ] {
        let law = law(text);
        let sum: f64 = (0..SAMPLES).map(|k| law.draw_ns(3, 3, k) as f64).sum();
        let found = sum / SAMPLES as f64 / law.mean_ns();
        assert!((found - 1.0).abs() < 0.02, "{text}: {found}");
    }
}

#[test]
fn draws_are_a_function_of_seed_and_number() {
    let law = law("exp(1ms)");
    let draw = |seed, k| law.draw_ns(seed, 1, k);
    assert_eq!(draw(7, 3), draw(7, 3));
    assert!(draw(7, 3) != draw(8, 3) && draw(7, 3) != draw(7, 4));
    let mut draws = Draws::exponential(1_000_000, 7);
    let first: Vec<u64> = (0..3).map(|_| draws.draw_ns()).collect();
    let mut again = Draws::exponential(1_000_000, 7);
    assert_eq!(first, (0..3).map(|_| again.draw_ns()).collect::<Vec<_>>());
}

#[test]
fn what_is_no_law_says_why() {
    let check = |text: &str, message: &str, hint: &str| {
        let error = read_latency(text, &RunFiles::default()).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(error.hint.clone().unwrap_or_default().contains(hint), "{text}: {error:?}");
        assert!(text.contains(&error.part), "{text}: {error:?}");
    };
    check("soon", "`soon` is not a duration", "such as `700ms`");
    check("700", "`700` has no unit", "such as");
    check("exp(20)", "`20` has no unit", "a number and a unit");
    check("exp(20ms", "closing parenthesis", "such as");
    check("expo(20ms)", "no law `expo`", "did you mean `exp`?");
    check("uniform(50ms, 10ms)", "has no value", "the shorter first");
    check("uniform(50ms)", "takes other values", "uniform(10ms, 50ms)");
    check("normal(mean=5ms, width=1ms)", "`width` does not belong", "normal(100ms");
    check("lognormal(p50=9ms, p99=8ms)", "no log-normal", "both above zero");
    check("lognormal(0s, 8ms)", "no log-normal", "both above zero");
    check("percentiles(p50=9ms, p99=8ms)", "does not ascend", "ascending");
    check("percentiles()", "does not ascend", "ascending");
    check("percentiles(q50=9ms)", "`q50` is no percentile", "p50=20ms");
    check("percentiles(9ms)", "`9ms` is no percentile", "p50=20ms");
    check("recorded()", "names no run file", "recorded(run.sojourn)");
    check("recorded(no-such-file.sojourn)", "no-such-file.sojourn", "`sojourn run` writes");
}
