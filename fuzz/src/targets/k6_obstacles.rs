//! k6 scripts: any text is parsed, and what keeps it from becoming a session is listed.

use sojourn_plan::PlanError;
use sojourn_session::k6_obstacles;

use crate::Input;

/// Option 0: the file is TypeScript by its name.
pub(crate) fn check(input: Input<'_>) {
    let Ok(text) = std::str::from_utf8(input.bytes) else { return };
    let name = if input.has(0) { "fuzzed.ts" } else { "fuzzed.js" };
    let lines = text.split(['\n', '\r', '\u{2028}', '\u{2029}']).count();
    match k6_obstacles(name, text) {
        Ok(found) => {
            found.list.iter().for_each(|obstacle| check_place(obstacle, lines));
            let shown = |list: &[PlanError]| list.iter().map(ToString::to_string).collect();
            let again: Vec<String> = k6_obstacles(name, text)
                .map_or_else(|error| vec![error.to_string()], |found| shown(&found.list));
            let once: Vec<String> = shown(&found.list);
            assert_eq!(again, once, "the same text has the same list");
        }
        Err(error) => check_place(&error, lines),
    }
}

/// What is said is said of a place that there is.
fn check_place(said: &PlanError, lines: usize) {
    assert!((1..=lines.max(1)).contains(&said.line) && said.column >= 1, "{said} of {lines}");
    assert!(!said.message.is_empty() && said.message.chars().count() < 10_000, "{said}");
}
