//! Thresholds in words.

use sojourn_analysis::words;
use sojourn_metrics::{Statistic, Threshold};
use sojourn_record::RunFile;

use crate::model::ThresholdRow;

pub(super) fn rows(run: &RunFile) -> Vec<ThresholdRow> {
    let outcomes = run.summary.iter().flat_map(|summary| &summary.thresholds);
    outcomes
        .map(|outcome| ThresholdRow {
            text: outcome.threshold.text.clone(),
            measured: outcome.measured.filter(|measured| measured.is_finite()),
            measured_text: measured_text(&outcome.threshold, outcome.measured, run),
            held: outcome.held,
            abort: outcome.threshold.abort,
        })
        .collect()
}

fn measured_text(threshold: &Threshold, measured: Option<f64>, run: &RunFile) -> String {
    match measured {
        None => "nothing was measured".to_owned(),
        Some(value) if value.is_infinite() => {
            let name = threshold.subject.get(1);
            let within_ns = run
                .identity
                .journeys
                .iter()
                .find(|shape| Some(&shape.name) == name)
                .map(|shape| shape.within_ns);
            match within_ns {
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
        assert!(is_time(&time) && is_time(&drain));
        assert!(!is_time(&fraction) && !is_time(&count));
    }
}
