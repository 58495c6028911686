//! Foreign text that is nothing but text in Markdown.
//!
//! Characters that GitHub Flavored Markdown or HTML gives a meaning are written as numeric
//! character references. A reference stands for its character as text and can't begin or end
//! anything (CommonMark 0.31, 6.2 "Entity and numeric character references"), also within a table's
//! cell, where a bare `|` would end it, and within HTML.

use crate::render::text::paint::clean;

/// Characters with a meaning: of emphasis, code, links, tables, HTML, headings, mathematics.
const MARKS: &[char] = &['\\', '`', '*', '_', '[', ']', '<', '>', '|', '~', '&', '#', '$'];

/// As running text. What only begins a block (`-`, `1.`) is written so at the beginning.
pub(super) fn text(text: &str) -> String {
    let text = spaced(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered =
        digits > 0 && matches!(&text.as_bytes()[digits..], [b'.' | b')'] | [b'.' | b')', b' ', ..]);
    let begins_block =
        |at, c| at == 0 && matches!(c, '-' | '+' | '=') || is_numbered && at == digits;
    // Of no width after an `@`: nobody is to be told of a run because a key looks like their name.
    referenced(&text, begins_block).replace('@', "@\u{200b}")
}

/// As code, in which hosts look for no mentions; a dash for nothing.
pub(super) fn code(text: &str) -> String {
    let text = spaced(text);
    if text.is_empty() {
        return "–".to_owned();
    }
    format!("<code>{}</code>", referenced(&text, |_, _| false))
}

/// With references for the characters that have a meaning, and for those that `also` says.
fn referenced(text: &str, also: impl Fn(usize, char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map_or(' ', |(_, after)| *after);
        // Within a word it has no meaning, and names are full of them.
        let is_within = c == '_' && before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric();
        if !is_within && (MARKS.contains(&c) || also(at, c)) {
            out.push_str(&format!("&#{};", u32::from(c)));
        } else {
            out.push(c);
        }
        before = c;
    }
    out
}

/// On one line, without control characters.
fn spaced(text: &str) -> String {
    let is_space = |c: char| matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}');
    let one_line: String = text.chars().map(|c| if is_space(c) { ' ' } else { c }).collect();
    clean(one_line.trim())
}
