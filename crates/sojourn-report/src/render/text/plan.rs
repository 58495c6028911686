//! The plan as it was run, to the letter.

use super::{
    heading, line,
    paint::{Paint, clean},
};

/// The plan's own lines, whole however many and however long they are: whoever reads the report can
/// run it again.
pub(super) fn plan(out: &mut String, plan: &str, paint: &Paint) {
    if plan.trim().is_empty() {
        return;
    }
    heading(out, "PLAN (as it was run, secrets replaced)", paint);
    for row in plan.trim_end().lines() {
        // A tab is the one control character that a journey file may hold.
        let row: Vec<String> = row.split('\t').map(clean).collect();
        line(out, &format!("  {}", row.join("\t")));
    }
}
