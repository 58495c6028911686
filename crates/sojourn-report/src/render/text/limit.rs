//! Limits that the system is said to keep: one entry each.

use sojourn_analysis::words;

use super::{
    WIDTH, heading, line,
    paint::{Paint, clean, wrap},
};
use crate::model::LimitRow;

pub(super) fn limits(out: &mut String, rows: &[LimitRow], paint: &Paint) {
    if rows.is_empty() {
        return;
    }
    heading(out, "LIMITS", paint);
    for row in rows {
        let (mark, outcome) = match row.violations {
            0 => ("✓", "held".to_owned()),
            violations => ("✗", words::plural(violations, "violation", "violations")),
        };
        let text = format!("{}: {}; {outcome}", clean(&row.name), clean(&row.declared));
        let text = wrap(&text, &format!("  {mark} "), 4, WIDTH);
        line(out, &if row.violations > 0 { paint.red(&text) } else { text });
        line(out, &wrap(&measured(row), "    ", 4, WIDTH));
    }
}

fn measured(row: &LimitRow) -> String {
    let mut parts = vec![
        format!("of {}", words::plural(row.counted, "journey", "journeys")),
        format!("most {}", words::number(row.most)),
    ];
    if let Some(first_ns) = row.first_ns {
        parts.push(format!("first violated at {}", words::duration(first_ns as f64)));
    }
    if let Some(early_ns) = row.early_ns.filter(|ns| *ns > 0) {
        parts.push(format!("too early by up to {}", words::duration(early_ns as f64)));
    }
    if row.unfinished > 0 {
        parts.push(format!("{} ended before the second stage", words::count(row.unfinished)));
    }
    parts.join(" · ")
}
