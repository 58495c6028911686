//! Text as k6's JSON output quotes it.

use std::fmt::Write as _;

/// Quotes `text`. Beside what JSON demands, the line separators U+2028 and U+2029 are escaped.
pub(crate) fn push_json(out: &mut String, text: &str) {
    out.push('"');
    for next in text.chars() {
        match next {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                // Writing to a string does not fail.
                let _never = write!(out, "\\u{:04x}", u32::from(next));
            }
            next => out.push(next),
        }
    }
    out.push('"');
}
