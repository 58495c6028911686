//! Blanks out comments and literals, so that what is left of a Rust file is only code.

/// The same text with everything inside comments, strings and character literals replaced by
/// spaces. Lines and columns stay where they are.
pub(crate) fn mask(text: &str) -> String {
    let mut masker = Masker { rest: text, masked: String::with_capacity(text.len()) };
    while masker.step() {}
    masker.masked
}

struct Masker<'a> {
    rest: &'a str,
    masked: String,
}

impl Masker<'_> {
    /// Goes past one comment, literal, word or other character; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else {
            return false;
        };
        if self.rest.starts_with("//") {
            self.blank(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.blank(block_comment_length(self.rest));
        } else if let Some(length) = literal_length(self.rest) {
            self.blank(length);
        } else if first.is_alphabetic() || first == '_' {
            let end = self.rest.find(|next: char| !next.is_alphanumeric() && next != '_');
            self.keep(end.unwrap_or(self.rest.len()));
        } else {
            self.keep(first.len_utf8());
        }
        true
    }

    fn keep(&mut self, length: usize) {
        let (kept, rest) = self.rest.split_at(length);
        self.masked.push_str(kept);
        self.rest = rest;
    }

    fn blank(&mut self, length: usize) {
        let (blanked, rest) = self.rest.split_at(length);
        let spaces = blanked.chars().map(|next| if next == '\n' { '\n' } else { ' ' });
        self.masked.extend(spaces);
        self.rest = rest;
    }
}

/// Block comments nest.
fn block_comment_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = text[at..].find(['/', '*']) {
        at += found;
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of the string, byte string, C string or character that the text begins with.
fn literal_length(text: &str) -> Option<usize> {
    let unprefixed = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - unprefixed.len();
    if prefix > 1 {
        return None;
    }
    if let Some(raw) = unprefixed.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let body = raw[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let body_length = body.find(&end).map_or(body.len(), |found| found + end.len());
        return Some(text.len() - body.len() + body_length);
    }
    let body = unprefixed.strip_prefix('"').map(|body| (body, '"'));
    let body = body.or_else(|| is_character(unprefixed).then(|| (&unprefixed[1..], '\'')));
    let (body, quote) = body?;
    let mut escaped = false;
    for (at, next) in body.char_indices() {
        if escaped {
            escaped = false;
        } else if next == '\\' {
            escaped = true;
        } else if next == quote {
            return Some(text.len() - body.len() + at + 1);
        }
    }
    Some(text.len())
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_character(text: &str) -> bool {
    let mut characters = text.chars();
    if characters.next() != Some('\'') {
        return false;
    }
    let second = characters.next();
    second == Some('\\') || (second.is_some() && characters.next() == Some('\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        for (text, expected) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("f(\"x \\\" {\", y)", "f(        , y)"),
            ("r#\"{ \" \"# + b\"}\"", "          +     "),
            ("let c = '{'; let d: &'a str", "let c =    ; let d: &'a str"),
            ("['\\'', b'\\\\', '\"']", "[    ,      ,    ]"),
            ("br##\"\"# {\"##; x", "            ; x"),
            ("number\"s\"; crate::br", "number   ; crate::br"),
            ("\"open", "     "),
            ("/* open", "       "),
            ("é'é'\"é\"", "é      "),
        ] {
            assert_eq!(mask(text), expected, "{text}");
        }
    }
}
