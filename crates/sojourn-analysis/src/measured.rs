//! What a threshold measured, in words and in its own unit.

use sojourn_metrics::{Statistic, Threshold};

use crate::words;

/// The figure in words: `873 ms`, `0.05 %`, `> 25.0 s (lost)`. `None`: nothing was measured;
/// infinity: a quantile that falls among lost journeys. `within_ns` tells a journey's deadline by
/// its name.
pub fn words(
    threshold: &Threshold,
    measured: Option<f64>,
    within_ns: impl Fn(&str) -> Option<u64>,
) -> String {
    match measured {
        None => "nothing was measured".to_owned(),
        Some(value) if value.is_infinite() => {
            match threshold.subject.get(1).and_then(|name| within_ns(name)) {
                Some(within_ns) => format!("> {} (lost)", words::duration(within_ns as f64)),
                None => "beyond the deadline (lost)".to_owned(),
            }
        }
        Some(value) if is_time(threshold) => words::duration(value),
        Some(value) if threshold.text.contains('%') => words::percent(value),
        Some(value) => words::number(value),
    }
}

/// Whether the figure is in nanoseconds.
fn is_time(threshold: &Threshold) -> bool {
    let subject = threshold.subject.first().map(String::as_str);
    match threshold.statistic {
        Statistic::Rate | Statistic::Count => false,
        Statistic::Value => subject == Some("drain"),
        _ => matches!(subject, Some("journey" | "stage" | "step" | "lag" | "poison")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_metrics::Comparison;

    fn threshold(text: &str, subject: &[&str], statistic: Statistic) -> Threshold {
        Threshold {
            text: text.into(),
            subject: subject.iter().map(|part| (*part).into()).collect(),
            statistic,
            comparison: Comparison::Less,
            bound: 0.0,
            abort: false,
        }
    }

    #[test]
    fn times_fractions_and_counts_each_take_their_unit() {
        let time = threshold("lag.p99 < 5ms", &["lag"], Statistic::Quantile(0.99));
        let fraction = threshold("errors.rate < 1%", &["errors"], Statistic::Rate);
        let count = threshold("lost == 0", &["lost"], Statistic::Value);
        let drain = threshold("drain < 30s", &["drain"], Statistic::Value);
        let text = |threshold: &Threshold, figure| words(threshold, Some(figure), |_| None);
        assert_eq!(text(&time, 2e6), "2.00 ms");
        assert_eq!(text(&drain, 2e9), "2.00 s");
        assert_eq!(text(&fraction, 0.05), "5.0 %");
        assert_eq!(text(&count, 5.0), "5");
    }

    #[test]
    fn what_fell_among_the_lost_is_beyond_the_deadline() {
        let of = threshold("journey.pay.p99 < 5s", &["journey", "pay"], Statistic::Quantile(0.99));
        let within_ns = |name: &str| (name == "pay").then_some(25_000_000_000);
        assert_eq!(words(&of, Some(f64::INFINITY), within_ns), "> 25.0 s (lost)");
        assert_eq!(words(&of, Some(f64::INFINITY), |_| None), "beyond the deadline (lost)");
        assert_eq!(words(&of, None, within_ns), "nothing was measured");
    }
}
