//! What waited in the brokers: one line per figure.

use sojourn_analysis::words;

use super::{WIDTH, heading, paint::Paint, table::Table};
use crate::model::BacklogRow;

pub(super) fn backlog(out: &mut String, rows: &[BacklogRow], paint: &Paint) {
    if rows.is_empty() {
        return;
    }
    heading(out, "BROKER BACKLOG", paint);
    let mut table = Table::new(&["channel, whose", "figure", "highest", "at the end"]);
    for row in rows {
        let print = |value: f64| match row.figure.as_str() {
            "oldest_age_ms" => words::duration(value * 1e6),
            "waiting_bytes" => words::bytes(value),
            _ => words::number(value),
        };
        let figure = row.figure.trim_end_matches("_ms").replace('_', " ");
        let cells = [figure, print(row.max), print(row.last)];
        table.row(&format!("{}, {}", row.channel, row.of), cells);
    }
    table.render(out, WIDTH);
}
