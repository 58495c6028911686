//! `params`: `:name` in the path and query of a URL is replaced by text, as it is.
//!
//! A name is a letter or `_` and what letters, digits and `_` follow: `:8080` and `::` are none,
//! and `:idx` is not `:id` followed by an `x`. Nothing is encoded, names that have no parameter
//! stay, and what was put in is not looked through again. The authority of an absolute URL has no
//! names.

use crate::target::ENDS_AUTHORITY;
use crate::text::{Part, Text};

/// What came of a replacement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) url: Text,
    /// Whether each parameter stands somewhere, in their order.
    pub(crate) used: Vec<bool>,
    /// Names in the URL that have no parameter.
    pub(crate) unfilled: Vec<String>,
}

/// Replaces the names of `params` in a URL.
pub(crate) fn fill(url: &Text, params: &[(String, Text)]) -> Filled {
    let mut filled = Filled { used: vec![false; params.len()], ..Filled::default() };
    let mut is_start = true;
    for part in &url.parts {
        match part {
            Part::Literal(text) => {
                let from = if is_start { path_start(text) } else { 0 };
                filled.url.push_literal(&text[..from]);
                filled.literal(&text[from..], params);
            }
            value => filled.url.parts.push(value.clone()),
        }
        is_start = false;
    }
    filled
}

/// Where the path begins: behind scheme and authority, if there are any.
fn path_start(text: &str) -> usize {
    let Some(scheme) = text.find("://") else { return 0 };
    let is_scheme = text[..scheme].bytes().all(|byte| byte.is_ascii_alphabetic());
    if !is_scheme {
        return 0;
    }
    let authority = scheme + "://".len();
    text[authority..].find(ENDS_AUTHORITY).map_or(text.len(), |at| authority + at)
}

impl Filled {
    fn literal(&mut self, text: &str, params: &[(String, Text)]) {
        let mut rest = text;
        while let Some(at) = rest.find(':') {
            let name = name_of(&rest[at + 1..]);
            let end = at + 1 + name.len();
            match params.iter().position(|(known, _)| known == name) {
                Some(index) if !name.is_empty() => {
                    self.url.push_literal(&rest[..at]);
                    self.url.append(&params[index].1);
                    self.used[index] = true;
                }
                _ => {
                    self.url.push_literal(&rest[..end]);
                    if !name.is_empty() {
                        self.unfilled.push(name.to_owned());
                    }
                }
            }
            rest = &rest[end..];
        }
        self.url.push_literal(rest);
    }
}

/// The name that the text begins with; empty if it begins with none.
fn name_of(text: &str) -> &str {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return "";
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(url: &str, params: &[(&str, &str)]) -> (String, Vec<bool>, Vec<String>) {
        let params: Vec<_> =
            params.iter().map(|(name, value)| ((*name).to_owned(), Text::literal(value))).collect();
        let filled = fill(&Text::literal(url), &params);
        (filled.url.as_literal().unwrap().to_owned(), filled.used, filled.unfilled)
    }

    #[test]
    fn path_and_query_are_filled_without_encoding() {
        let (url, used, unfilled) = filled(
            "http://h:8080/a/:id/:idx?x=:id&y=::b&z=:7",
            &[("id", "ä / %41"), ("never", "-"), ("h", "no")],
        );
        assert_eq!(url, "http://h:8080/a/ä / %41/:idx?x=ä / %41&y=::b&z=:7");
        assert_eq!(used, [true, false, false]);
        assert_eq!(unfilled, ["idx", "b"]);
        assert_eq!(filled("https://u:pass@h", &[("pass", "x")]).0, "https://u:pass@h");
        assert_eq!(filled("/:a", &[("a", ":b"), ("b", "no")]).0, "/:b");
    }

    /// The same by looking at every byte in turn.
    fn naive(path: &str, params: &[(&str, &str)]) -> String {
        let bytes = path.as_bytes();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let (mut out, mut at) = (String::new(), 0);
        while at < bytes.len() {
            let mut end = at + 1;
            if bytes[at] == b':' && end < bytes.len() && !bytes[end].is_ascii_digit() {
                while end < bytes.len() && is_name(bytes[end]) {
                    end += 1;
                }
            }
            let token = &path[at..end];
            let value = params.iter().find(|(name, _)| token == format!(":{name}"));
            out.push_str(value.map_or(token, |(_, value)| *value));
            at = end;
        }
        out
    }

    proptest! {
        #[test]
        fn a_naive_replacement_agrees(
            path in "/[a-c:_0-2/?&=]{0,24}", a in "[a-c:%]{0,3}", b in "[^a]{0,3}",
        ) {
            let params = [("a", a.as_str()), ("bc", b.as_str()), ("_1", ":a")];
            prop_assert_eq!(filled(&path, &params).0, naive(&path, &params));
        }
    }
}
