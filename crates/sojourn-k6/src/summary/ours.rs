//! What k6 has no word for: latency from the instant at which an iteration was due, and whether the
//! generator is to be believed.

use super::source::Source;
use super::table::{Palette, Row, Widths, cells};
use crate::metrics::{RELATIVE_ERROR_MAX, Sink};

/// Our metrics, if there are samples of them, the verdict on the generator, and how exact
/// percentiles are.
pub(super) fn push(out: &mut String, source: &Source<'_>, palette: &Palette) {
    let ours = source.registry.iter().filter(|metric| metric.is_ours);
    let rows: Vec<Row> = ours
        .filter_map(|metric| {
            let cells = cells(source, metric, source.totals.sink(metric.id)?);
            let name = metric.name.to_string();
            Some(Row { prefix: " ".repeat(4), inset: 0, name, cells })
        })
        .collect();
    let has_histogram = source.registry.iter().any(|metric| {
        let sink = source.totals.sink(metric.id);
        matches!(sink, Some(Sink::Trend(trend)) if !trend.is_raw())
    });
    if rows.is_empty() && !has_histogram && source.generator.is_none() {
        return;
    }
    out.push_str(&format!("  █ {} \n\n", palette.paint("1", "SOJOURN")));
    let widths = Widths::of(rows.iter());
    for row in &rows {
        row.push(out, &widths, source.trend_stats, palette);
    }
    if let Some(generator) = source.generator {
        out.push_str(if rows.is_empty() { "" } else { "\n" });
        generator.push(out, source, palette);
    }
    if has_histogram {
        let percent = RELATIVE_ERROR_MAX * 100.0;
        out.push_str(&format!(
            "{}    Percentiles of more than 10,000 samples are within {percent:.2}% of the exact \
             ones (--exact-percentiles keeps all samples).\n",
            if rows.is_empty() && source.generator.is_none() { "" } else { "\n" },
        ));
    }
    out.push('\n');
}
