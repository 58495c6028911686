//! The checks before a run, for a terminal: a line each, what to do below it.

use sojourn_analysis::check::{Check, Finding};

use super::{
    WIDTH, line,
    paint::{Paint, clean, wrap},
};
use crate::doctor::DoctorReport;

/// Before a check's name: its mark and a space.
const MARK: usize = 2;
/// Before what is to be done.
const ARROW: &str = "→ ";

pub(in crate::render) fn report(report: &DoctorReport, colour: bool) -> String {
    let paint = Paint { colour };
    let width = report.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for check in &report.checks {
        one(&mut out, check, width, &paint);
    }
    out.push('\n');
    let sentence = report.sentence();
    line(&mut out, &if report.ready { paint.green(&sentence) } else { paint.red(&sentence) });
    out
}

fn one(out: &mut String, check: &Check, width: usize, paint: &Paint) {
    let indent = MARK + width + 2;
    let mark = match check.outcome {
        Finding::Passed => paint.green("✓"),
        Finding::Warned => paint.yellow("!"),
        Finding::Failed => paint.red("✗"),
        Finding::Skipped => paint.dim("–"),
    };
    let label = format!("{mark} {:<width$}  ", check.name);
    let found = match check.subject.is_empty() {
        true => check.found.clone(),
        false => format!("{}: {}", check.subject, check.found),
    };
    let margin = " ".repeat(indent);
    for (place, text) in found.lines().enumerate() {
        let folded = wrap(&clean(text), &margin, indent, WIDTH);
        match place {
            // Marks and colours have widths of their own: they are put before the folded text.
            0 => line(out, &format!("{label}{}", &folded[indent..])),
            _ => line(out, &folded),
        }
    }
    for text in check.advice.iter().flat_map(|advice| advice.lines()) {
        let text = clean(text);
        line(out, &wrap(&text, &format!("{margin}{ARROW}"), indent + ARROW.chars().count(), WIDTH));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Vec<Check> {
        vec![
            Check::passed("plan", "payments", "2 journeys"),
            Check::warned("processors", "", "1 allowed").advised("give it two".to_owned()),
            Check::failed("target", "h:1", format!("refused {}", "a while ".repeat(20)))
                .advised("start it".repeat(30)),
            Check::failed("probe", "", "two\nlines\u{1b}[31m"),
            Check::skipped("channel", "", "the plan has none"),
        ]
    }

    #[test]
    fn lines_are_aligned_folded_and_end_with_a_sentence() {
        let text = report(&DoctorReport::new(checks()), false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "✓ plan        payments: 2 journeys");
        assert_eq!(lines[1], "! processors  1 allowed");
        assert_eq!(lines[2], "              → give it two");
        assert!(lines[3].starts_with("✗ target      h:1: refused a while"), "{text}");
        assert!(lines[4].starts_with("              while a "), "{text}");
        assert!(text.contains("\n✗ probe       two\n              lines\u{fffd}[31m\n"), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{text}");
        let last = "not ready: 2 failed, 1 to be looked at, 1 passed, 1 skipped";
        assert_eq!(lines.last(), Some(&last));
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn colour_only_adds() {
        let painted = report(&DoctorReport::new(checks()), true);
        assert!(painted.contains("\u{1b}[1;32m✓\u{1b}[0m plan"), "{painted}");
        let mut plain = painted;
        for code in ["\u{1b}[0m", "\u{1b}[1;32m", "\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[2m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, report(&DoctorReport::new(checks()), false));
    }

    #[test]
    fn without_a_failure_it_is_ready() {
        let checks = vec![Check::passed("clock", "", "tsc"), Check::warned("sleep", "", "late")];
        let text = report(&DoctorReport::new(checks), false);
        assert!(text.ends_with("\nready: 1 to be looked at, 1 passed\n"), "{text}");
    }
}
