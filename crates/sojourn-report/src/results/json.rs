//! The layout for programs: one line, keys in a fixed order.

use std::fmt::Write;

use sojourn_record::results::Timestamp;

use super::{Figures, run_report::Time};

pub(super) fn print(figures: &Figures) -> String {
    print_with(figures, &[])
}

/// With further times after the latencies.
pub(super) fn print_with(figures: &Figures, times: &[Time]) -> String {
    let [p50, p90, p95, p99] = figures.latency_quantiles_ns;
    let mut out = format!(
        "{{\"latencies\":{{\"total\":{},\"mean\":{},\"50th\":{p50},\"90th\":{p90},\"95th\":{p95},\
         \"99th\":{p99},\"max\":{},\"min\":{}}}",
        figures.latency_total_ns,
        figures.latency_mean_ns,
        figures.latency_max_ns,
        figures.latency_min_ns,
    );
    for time in times {
        let [min, mean, p50, p90, p95, p99, max] = time.row_ns();
        push(
            &mut out,
            format_args!(
                ",\"{}\":{{\"total\":{},\"mean\":{mean},\"50th\":{p50},\"90th\":{p90},\
                 \"95th\":{p95},\"99th\":{p99},\"max\":{max},\"min\":{min}}}",
                time.name,
                time.total_ns(),
            ),
        );
    }
    if let Some(buckets) = &figures.buckets {
        let buckets = buckets.iter().map(|(bound_ns, count)| format!("\"{bound_ns}\":{count}"));
        push(&mut out, format_args!(",\"buckets\":{{{}}}", list(buckets)));
    }
    for (name, bytes) in [("bytes_in", figures.bytes_in), ("bytes_out", figures.bytes_out)] {
        let Some((total, mean)) = bytes else { continue };
        let mean = float(mean);
        push(&mut out, format_args!(",\"{name}\":{{\"total\":{total},\"mean\":{mean}}}"));
    }
    for (name, timestamp) in
        [("earliest", figures.earliest), ("latest", figures.latest), ("end", figures.end)]
    {
        push(&mut out, format_args!(",\"{name}\":\"{}\"", time(timestamp)));
    }
    push(
        &mut out,
        format_args!(
            ",\"duration\":{},\"wait\":{},\"requests\":{},\"rate\":{},\"throughput\":{},\
             \"success\":{}",
            figures.duration_ns,
            figures.wait_ns,
            figures.requests,
            float(figures.rate),
            float(figures.throughput),
            float(figures.success),
        ),
    );
    let codes = figures.status_codes.iter().map(|(code, count)| format!("\"{code}\":{count}"));
    push(&mut out, format_args!(",\"status_codes\":{{{}}}", list(codes)));
    let errors = figures.errors.iter().map(|error| string(error));
    push(&mut out, format_args!(",\"errors\":[{}]}}\n", list(errors)));
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A String takes whatever is written to it.
    let _written = out.write_fmt(text);
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}

fn time(timestamp: Timestamp) -> String {
    let mut text = Vec::new();
    timestamp.write_rfc3339(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The shortest text that reads back as the number; with an exponent where it is very small or
/// large, as in JavaScript. What is no number is 0.
fn float(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&size) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    if size >= 1e21 { text.replace('e', "e+") } else { text }
}

/// A string that may stand within HTML and JavaScript.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                push(&mut out, format_args!("\\u{:04x}", u32::from(c)));
            }
            '\u{fffd}' => out.push_str("\\ufffd"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_go_prints_them() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (34.166666666666664, "34.166666666666664"),
            (1e-6, "0.000001"),
            (8.673617379884034e-10, "8.673617379884034e-10"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.5e300, "-1.5e+300"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
        ] {
            assert_eq!(float(value), expected);
        }
    }

    /// The text on the right is what `vegeta report -type=json` prints for the same bytes.
    #[test]
    fn strings_are_escaped_as_vegeta_escapes_them() {
        let text = "\0\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \"&</\u{7f}\u{80}é\u{2028}\u{2029}😀\\";
        let expected = "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\u0026\\u003c/\
                        \u{7f}\u{80}é\\u2028\\u2029😀\\\\\"";
        assert_eq!(string(text), expected);
    }
}
