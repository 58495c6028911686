//! Patterns of URLs: `*` is anything within a part of the path, `**` anything at all.

/// Whether the pattern stands for the whole text.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let Some(star) = pattern.find('*') else { return pattern == text };
    let (literal, rest) = pattern.split_at(star);
    let Some(text) = text.strip_prefix(literal) else { return false };
    let (rest, crosses) = match rest.strip_prefix("**") {
        Some(rest) => (rest, true),
        None => (&rest[1..], false),
    };
    let mut ends = text.char_indices().map(|(at, letter)| (at, Some(letter)));
    let last = std::iter::once((text.len(), None));
    for (at, letter) in ends.by_ref().chain(last) {
        if fits(rest, &text[at..]) {
            return true;
        }
        if letter == Some('/') && !crosses {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars() {
        assert!(fits("a/*/b.js", "a/1.0/b.js"));
        assert!(!fits("a/*/b.js", "a/1/0/b.js"));
        assert!(fits("a/**/b.js", "a/1/0/b.js"));
        assert!(fits("a*", "a"));
        assert!(fits("a*", "a@1"));
        assert!(!fits("a*", "a/1"));
        assert!(!fits("a", "ab"));
        assert!(fits("a*/**", "a@1/b/c.js"));
    }
}
