//! Requirements: one line each, and how many were met.

use super::{
    WIDTH, heading, line,
    paint::{Paint, clean, wrap},
};
use crate::model::{RequirementOutcome, RequirementRow, requirements_met};

pub(super) fn requirements(out: &mut String, rows: &[RequirementRow], paint: &Paint) {
    if rows.is_empty() {
        return;
    }
    heading(out, "REQUIREMENTS", paint);
    for row in rows {
        let mark = format!("  {} ", row.outcome.mark());
        let text = wrap(&clean(&row.text), &mark, 4, WIDTH);
        line(
            out,
            &match row.outcome {
                _ if row.failed => paint.red(&text),
                RequirementOutcome::Disabled => paint.dim(&text),
                _ => text,
            },
        );
    }
    line(out, &format!("  {}", requirements_met(rows)));
}
