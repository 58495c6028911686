//! The rules of a Rust source file.

use crate::tidy::Problem;
use crate::tidy::mask::mask;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const COLUMNS_MAX: usize = 100;
/// In `tests/`, where plans and expected texts stand as they are written.
const TEST_COLUMNS_MAX: usize = 120;

// Spelled in two halves, so that this file does not break its own rule.
const MARKERS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("#[ign", "ore"), "a test that does not run proves nothing"),
    (concat!("to", "do!"), "unfinished"),
    (concat!("unimpl", "emented!"), "unfinished"),
    (concat!("unbounded_", "channel"), "every queue has a bound"),
    (concat!("unboun", "ded("), "every queue has a bound"),
    (concat!("unboun", "ded::<"), "every queue has a bound"),
    (concat!("mpsc::chan", "nel()"), "every queue has a bound"),
    (concat!("mpsc::chan", "nel::<"), "every queue has a bound"),
];

/// What one file breaks.
pub(crate) fn problems(path: &str, text: &str) -> Vec<Problem> {
    let code = mask(text);
    let mut problems = Vec::new();
    let mut problem = |line, message: String| {
        problems.push(Problem { path: path.to_owned(), line, message });
    };
    if !text.starts_with("//!") {
        problem(1, "does not open with `//!` saying what the file is for".to_owned());
    }
    let columns_max = if path.contains("/tests/") { TEST_COLUMNS_MAX } else { COLUMNS_MAX };
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        problem(0, format!("{lines} lines, more than {FILE_LINES_MAX}"));
    }
    for (at, (line, code)) in text.lines().zip(code.lines()).enumerate() {
        let columns = line.chars().count();
        if columns > columns_max {
            problem(at + 1, format!("{columns} columns, more than {columns_max}"));
        }
        for marker in MARKERS.iter().filter(|marker| has_word(line, marker)) {
            problem(at + 1, format!("`{marker}`: do it, or open an issue"));
        }
        for (forbidden, reason) in FORBIDDEN {
            if code.contains(forbidden) && !is_bounded(code, forbidden) {
                problem(at + 1, format!("`{forbidden}`: {reason}"));
            }
        }
    }
    for function in functions(&code) {
        if function.lines > FUNCTION_LINES_MAX {
            let Function { name, lines, .. } = function;
            let message = format!("`{name}` has {lines} lines, more than {FUNCTION_LINES_MAX}");
            problem(function.line, message);
        }
    }
    problems
}

/// tokio's channel of this name takes a bound; std's takes nothing.
fn is_bounded(code: &str, forbidden: &str) -> bool {
    forbidden.ends_with("::<") && forbidden.starts_with("mpsc") && !code.contains(">()")
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let is_part = |next: Option<char>| next.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_part(before) && !is_part(after)
    })
}

#[derive(Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    /// Of its `fn`, from 1.
    line: usize,
    /// From `fn` to the closing brace, both included.
    lines: usize,
}

/// Every function with a body in masked code.
fn functions(code: &str) -> Vec<Function<'_>> {
    code.match_indices("fn ")
        .filter(|(at, _)| {
            let before = code[..*at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
        .filter_map(|(at, _)| function(code, at))
        .collect()
}

fn function(code: &str, at: usize) -> Option<Function<'_>> {
    let signature = code[at + "fn ".len()..].trim_start();
    let name_end = signature.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let name = &signature[..name_end];
    if name.is_empty() {
        return None; // `fn (` is a type.
    }
    let mut depth = 0_usize;
    let mut is_body = false;
    for (offset, next) in code[at..].char_indices() {
        match next {
            '(' | '[' | '{' => {
                is_body |= next == '{' && depth == 0;
                depth += 1;
            }
            ')' | ']' | '}' => {
                // Below zero only in code that does not compile.
                depth = depth.checked_sub(1)?;
                if depth == 0 && is_body {
                    let lines = code[at..at + offset].matches('\n').count() + 1;
                    let line = code[..at].matches('\n').count() + 1;
                    return Some(Function { name, line, lines });
                }
            }
            ';' if depth == 0 => return None, // Declared, not defined.
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        problems("x.rs", text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_tidy_file_breaks_nothing() {
        assert_eq!(messages("//! What it is for.\n\nfn one() {}\n"), [""; 0]);
    }

    #[test]
    fn every_rule_can_be_broken() {
        let marker = MARKERS[0];
        let long = "x".repeat(101);
        for (text, expected) in [
            ("fn one() {}\n".to_owned(), "x.rs:1: does not open"),
            (format!("//! A.\n// {marker}: later\n"), "x.rs:2: `"),
            (format!("//! A.\n// {long}\n"), "x.rs:2: 104 columns"),
            (format!("//! A.\n{}", "\n".repeat(500)), "x.rs: 501 lines"),
            (format!("//! A.\n{}]\nfn t() {{}}\n", FORBIDDEN[0].0), "x.rs:2: `#["),
            (format!("//! A.\nfn t() {{ {}() }}\n", FORBIDDEN[1].0), "x.rs:2: `"),
            (format!("//! A.\nlet (a, b) = {};\n", FORBIDDEN[6].0), "x.rs:2: `mpsc"),
            (format!("//! A.\nlet (a, b) = {}u8>();\n", FORBIDDEN[7].0), "x.rs:2: `mpsc"),
        ] {
            let found = messages(&text);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(expected), "{found:?}");
        }
    }

    #[test]
    fn bounded_channels_and_quoted_words_are_fine() {
        let bounded = format!("{}u8>(16)", FORBIDDEN[7].0);
        let quoted = format!("\"{}\"", FORBIDDEN[1].0);
        let text = format!("//! A.\nlet a = {bounded};\nlet b = {quoted};\nlet c = METODOS;\n");
        assert_eq!(messages(&text), [""; 0]);
    }

    #[test]
    fn functions_are_measured_from_fn_to_brace() {
        let code = "fn one(a: [u8; 3]) -> u8 {\n  match a { _ => 1 }\n}\n\
                    trait T { fn declared(&self);\n fn two() {} }\n\
                    type F = fn (u8) -> u8;\nstruct Defn ;\n";
        let found: Vec<_> = functions(code).iter().map(|f| (f.name, f.line, f.lines)).collect();
        assert_eq!(found, [("one", 1, 3), ("two", 5, 1)]);
        let long = format!("//! A.\nfn long() {{\n{}}}\n", "    x();\n".repeat(69));
        assert_eq!(messages(&long), ["x.rs:2: `long` has 71 lines, more than 70"]);
    }
}
