//! The layout for a terminal.

use std::fmt::Write;

use super::{Figures, duration::print_rounded, run_report::Time};

pub(super) fn print(figures: &Figures) -> String {
    print_with(figures, &[])
}

/// With further times under the latencies.
pub(super) fn print_with(figures: &Figures, times: &[Time]) -> String {
    let mut out = String::new();
    let mut row = |label: &str, names: &str, values: String| {
        // A String takes whatever is written to it.
        let _written = writeln!(out, "{label:<14}{names:<34}{values}");
    };
    row(
        "Requests",
        "[total, rate, throughput]",
        format!("{}, {:.2}, {:.2}", figures.requests, figures.rate, figures.throughput),
    );
    let total_ns = figures.duration_ns.saturating_add(figures.wait_ns);
    row(
        "Duration",
        "[total, attack, wait]",
        durations(&[total_ns, figures.duration_ns, figures.wait_ns]),
    );
    let [p50, p90, p95, p99] = figures.latency_quantiles_ns;
    let (min, max) = (figures.latency_min_ns, figures.latency_max_ns);
    row(
        "Latencies",
        "[min, mean, 50, 90, 95, 99, max]",
        durations(&[min, figures.latency_mean_ns, p50, p90, p95, p99, max]),
    );
    for time in times {
        let (first, rest) = time.name.split_at(1);
        let label = format!("{}{rest}", first.to_uppercase());
        row(&label, "[min, mean, 50, 90, 95, 99, max]", durations(&time.row_ns()));
    }
    for (label, bytes) in [("Bytes In", figures.bytes_in), ("Bytes Out", figures.bytes_out)] {
        if let Some((total, mean)) = bytes {
            row(label, "[total, mean]", format!("{total}, {mean:.2}"));
        }
    }
    row("Success", "[ratio]", format!("{:.2}%", figures.success * 100.0));
    let codes = figures.status_codes.iter().map(|(code, count)| format!("{code}:{count}  "));
    row("Status Codes", "[code:count]", codes.collect());
    out.push_str("Error Set:\n");
    for error in &figures.errors {
        push_clean(&mut out, error);
        out.push('\n');
    }
    out
}

fn durations(all_ns: &[i64]) -> String {
    all_ns.iter().map(|ns| print_rounded(*ns)).collect::<Vec<_>>().join(", ")
}

/// Foreign text with its control characters written out: it must not move the cursor.
fn push_clean(out: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_move_the_cursor() {
        let errors = vec!["a\u{1b}[2J\tb\n".to_owned(), "é <b>".to_owned()];
        let text = print(&Figures { errors, ..Figures::default() });
        assert!(text.ends_with("Error Set:\na\\u{1b}[2J\\tb\\n\né <b>\n"), "{text}");
    }
}
