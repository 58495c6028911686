//! Checks and assertions of sessions: one line each.

use sojourn_analysis::words;

use super::{
    WIDTH, heading, line,
    paint::{Paint, clean, wrap},
};
use crate::model::CheckRow;

pub(super) fn checks(out: &mut String, rows: &[CheckRow], paint: &Paint) {
    if rows.is_empty() {
        return;
    }
    heading(out, "CHECKS", paint);
    for row in rows {
        let mark = if row.failed == 0 { "✓" } else { "✗" };
        let all = row.held + row.failed;
        let share = words::percent(row.held as f64 / all as f64);
        let failed = match row.failed {
            0 => String::new(),
            failed => format!(" · {} did not hold", words::count(failed)),
        };
        let text = format!("{}: {share} of {} held{failed}", clean(&row.name), words::count(all));
        let text = wrap(&text, &format!("  {mark} "), 4, WIDTH);
        line(out, &if row.failed > 0 { paint.red(&text) } else { text });
    }
}
