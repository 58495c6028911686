//! Subjects: tokens separated by dots; `*` stands for one token, `>` for all that follow.

/// What is wrong with a subject that a message is published to; `None`: nothing.
pub(crate) fn unpublishable(subject: &str) -> Option<&'static str> {
    if subject.is_empty() {
        return Some("an empty subject");
    }
    if subject.bytes().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
        return Some("a subject with blanks");
    }
    if subject.split('.').any(str::is_empty) {
        return Some("a subject with an empty token");
    }
    if subject.split('.').any(|token| matches!(token, "*" | ">")) {
        return Some("a subject with wildcards, which can be listened to but not published to");
    }
    None
}

/// Whether a pattern matches a subject.
pub(crate) fn matches(pattern: &str, subject: &str) -> bool {
    let mut tokens = subject.split('.');
    for wanted in pattern.split('.') {
        match (wanted, tokens.next()) {
            (">", Some(_)) => return true,
            ("*", Some(_)) => {}
            (wanted, Some(token)) if wanted == token => {}
            _ => return false,
        }
    }
    tokens.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_the_server_has_them() {
        for (pattern, subject, expect) in [
            ("a.b", "a.b", true),
            ("a.b", "a.b.c", false),
            ("a.*", "a.b", true),
            ("a.*", "a", false),
            ("a.*", "a.b.c", false),
            ("*.b", "a.b", true),
            ("a.>", "a.b.c", true),
            ("a.>", "a", false),
            (">", "a", true),
            ("a.*.c", "a.b.c", true),
            ("a.*.c", "a.b.d", false),
        ] {
            assert_eq!(matches(pattern, subject), expect, "{pattern} {subject}");
        }
    }

    #[test]
    fn what_cannot_be_published_to_is_named() {
        for bad in ["", "a b", "a..b", ".a", "a.", "a.*", "a.>", "a\r\nPUB b 0"] {
            assert!(unpublishable(bad).is_some(), "{bad:?}");
        }
        for good in ["a", "a.b", "a.b*", "größe"] {
            assert_eq!(unpublishable(good), None, "{good}");
        }
    }
}
