//! The output: wrk's lines, and wrk2's for a load with a rate.

use std::fmt::Write;

use sojourn_metrics::Histogram;

use crate::{Figures, Words, spectrum, units};

/// The percentiles of a distribution without a rate.
const PERCENTILES: [f64; 4] = [50.0, 75.0, 90.0, 99.0];

/// What is said before the load.
pub fn beginning(words: &Words) -> String {
    format!(
        "Running {} test @ {}\n  {} threads and {} connections\n",
        units::whole_time(words.duration_ns),
        words.url,
        words.threads,
        words.connections
    )
}

/// What is said after it.
pub fn report(words: &Words, figures: &Figures) -> String {
    let mut text = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n".to_owned();
    let latency = &figures.latency;
    row(&mut text, "Latency", latency, units::time);
    row(&mut text, "Req/Sec", &figures.per_second, units::metric);
    match (words.latency, words.rate) {
        (true, None) => {
            text.push_str("  Latency Distribution\n");
            for percent in PERCENTILES {
                let value = latency.quantile(percent / 100.0).unwrap_or(0);
                let (number, unit) = units::time(value as f64);
                line(&mut text, format_args!("{percent:>7.0}%{number:>8.2}{unit:<2}"));
            }
        }
        (true, Some(_)) => spectrum::write(&mut text, spectrum::RECORDED, latency),
        (false, _) => {}
    }
    if words.service {
        spectrum::write(&mut text, spectrum::UNCORRECTED, &figures.service);
    }
    totals(&mut text, figures);
    text
}

fn totals(text: &mut String, figures: &Figures) {
    let Figures { requests, bytes, duration_ns, errors, .. } = figures;
    let took = units::shown(units::time(*duration_ns as f64));
    let read = units::shown(units::bytes(*bytes as f64));
    line(text, format_args!("  {requests} requests in {took}, {read} read"));
    if errors.connect + errors.read + errors.write + errors.timeout > 0 {
        line(
            text,
            format_args!(
                "  Socket errors: connect {}, read {}, write {}, timeout {}",
                errors.connect, errors.read, errors.write, errors.timeout
            ),
        );
    }
    if errors.status > 0 {
        line(text, format_args!("  Non-2xx or 3xx responses: {}", errors.status));
    }
    let seconds = (*duration_ns).max(1) as f64 / 1e9;
    line(text, format_args!("Requests/sec: {:>9.2}", *requests as f64 / seconds));
    let (number, unit) = units::bytes(*bytes as f64 / seconds);
    line(text, format_args!("Transfer/sec: {number:>9.2}{unit}"));
}

/// `    Latency   635.91us    0.89ms  12.92ms   93.69%`: numbers end in a column, units follow.
fn row(text: &mut String, name: &str, values: &Histogram, unit: fn(f64) -> (f64, &'static str)) {
    let mean = values.mean().unwrap_or(0.0);
    let stddev = values.stddev().unwrap_or(0.0);
    let cell = |value: f64, width: usize| {
        let (number, unit) = unit(value);
        format!("{number:>width$.2}{unit:<2}")
    };
    line(
        text,
        format_args!(
            "    {name:<7}{}{}{}{:>8.2}%",
            cell(mean, 9),
            cell(stddev, 8),
            cell(values.totals().max as f64, 7),
            within(values, mean, stddev)
        ),
    );
}

/// The percentage of samples that are at most `stddev` away from `mean`.
fn within(values: &Histogram, mean: f64, stddev: f64) -> f64 {
    if values.count() == 0 {
        return 0.0;
    }
    let totals = values.totals();
    let inside = values.buckets().filter(|(least, greatest, _)| {
        // A bucket's samples stand at its middle, but not beyond the extremes.
        let low = (*least).max(totals.min) as f64;
        let high = (*greatest).min(totals.max) as f64;
        let middle = f64::midpoint(low, high);
        // The deviation is a rounded number itself.
        (middle - mean).abs() <= stddev * (1.0 + 1e-9)
    });
    let count: u64 = inside.map(|(_, _, count)| count).sum();
    100.0 * count as f64 / values.count() as f64
}

/// Writing to a string cannot fail.
pub(crate) fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ok = writeln!(text, "{arguments}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Errors;

    fn words(more: &str) -> Words {
        let line = format!("-c 100 -t 2 -d 30s http://127.0.0.1:8080/index.html {more}");
        match crate::parse(&line.split_whitespace().collect::<Vec<_>>()) {
            Ok(crate::Asked::Load(words)) => *words,
            other => panic!("{other:?}"),
        }
    }

    /// A thousand latencies of 1 to 1,000 ms, each twice; a second of 600 answers and one of 1,400.
    fn figures() -> Figures {
        let mut figures = Figures {
            duration_ns: 30_003_000_000,
            requests: 2_000,
            bytes: 5 << 20,
            ..Figures::default()
        };
        for milliseconds in 1..=1_000 {
            figures.latency.record_n(milliseconds * 1_000_000, 2);
            figures.service.record_n(milliseconds * 10_000, 2);
        }
        figures.per_second.record(600);
        figures.per_second.record(1_400);
        figures
    }

    /// The golden file of this name, with what stands before a command's output left out.
    fn golden(name: &str) -> String {
        let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    }

    fn whole(words: &Words, figures: &Figures) -> String {
        beginning(words) + &report(words, figures)
    }

    #[test]
    fn the_plain_report() {
        assert_eq!(whole(&words(""), &figures()), golden("plain.txt"));
    }

    #[test]
    fn the_distribution_and_the_errors() {
        let mut figures = figures();
        figures.errors = Errors { connect: 1, read: 2, write: 3, status: 4, timeout: 5 };
        assert_eq!(whole(&words("--latency"), &figures), golden("latency.txt"));
    }

    #[test]
    fn a_rate_has_the_spectrum_of_both_clocks() {
        assert_eq!(whole(&words("-R 2000 -L -U"), &figures()), golden("rate.txt"));
    }

    #[test]
    fn a_rate_without_further_words_has_the_plain_report() {
        assert_eq!(whole(&words("-R 2000"), &figures()), golden("plain.txt"));
    }

    #[test]
    fn nothing_measured_is_zeros() {
        let text = report(&words("-L"), &Figures::default());
        assert!(text.contains("    Latency     0.00us    0.00us   0.00us    0.00%\n"), "{text}");
        assert!(text.contains("    Req/Sec     0.00      0.00     0.00      0.00%\n"), "{text}");
        assert!(text.contains("  0 requests in 0.00us, 0.00B read\n"), "{text}");
        assert!(text.contains("Requests/sec:      0.00\n"), "{text}");
    }

    #[test]
    fn columns_are_where_programs_look_for_them() {
        // Numbers end and units begin in these columns, whatever the unit.
        let text = report(&words(""), &figures());
        for line in text.lines().skip(1).take(2) {
            let at = |from: usize, to: usize| line[from..to].trim().to_owned();
            let is_number = |text: String| text.parse::<f64>().is_ok();
            assert!(
                is_number(at(11, 20)) && is_number(at(22, 30)) && is_number(at(32, 39)),
                "{line}"
            );
            assert!(line.len() == 50 && line.ends_with('%'), "{line}");
        }
    }

    #[test]
    fn the_share_within_a_deviation() {
        let mut values = Histogram::new();
        assert_eq!(within(&values, 0.0, 0.0), 0.0);
        values.record_n(1_000_000_007, 5);
        // All the same: all within a deviation of nothing.
        assert_eq!(within(&values, 1_000_000_007.0, 0.0), 100.0);
        let mut values = Histogram::new();
        for (value, count) in [(10, 1), (100, 8), (190, 1)] {
            values.record_n(value, count);
        }
        let (mean, stddev) = (values.mean().unwrap(), values.stddev().unwrap());
        assert_eq!(within(&values, mean, stddev), 80.0);
    }
}
