//! Topic filters (section 4.7).

/// What is wrong with a filter, if anything; the text says what to do.
pub(crate) fn problem(filter: &str) -> Option<&'static str> {
    if filter == "$share" || filter.starts_with("$share/") {
        return Some("a shared subscription takes messages from the system's own consumers");
    }
    malformed(filter)
}

/// What the standard has against a filter, if anything.
pub(crate) fn malformed(filter: &str) -> Option<&'static str> {
    if filter.is_empty() || filter.contains('\0') || filter.len() > usize::from(u16::MAX) {
        return Some("it is empty, too long or holds a zero character");
    }
    let mut levels = filter.split('/').peekable();
    while let Some(level) = levels.next() {
        if level.contains('#') && (level != "#" || levels.peek().is_some()) {
            return Some("`#` stands alone in the last level");
        }
        if level.contains('+') && level != "+" {
            return Some("`+` stands alone in its level");
        }
    }
    None
}

/// Whether a topic can be published to, by its characters.
pub(crate) fn is_topic(topic: &str) -> bool {
    !topic.is_empty() && topic.len() <= usize::from(u16::MAX) && !topic.contains(['#', '+', '\0'])
}

/// Whether there is a topic that both match, so that a broker may send its messages twice.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    // A wildcard in the first level leaves topics out that begin with `$`.
    let is_wild = |filter: &str| filter.starts_with(['+', '#']);
    if is_wild(one) && other.starts_with('$') || is_wild(other) && one.starts_with('$') {
        return false;
    }
    let (mut ones, mut others) = (one.split('/'), other.split('/'));
    loop {
        match (ones.next(), others.next()) {
            // `a/#` matches `a` too.
            (Some("#"), _) | (_, Some("#")) | (None, None) => return true,
            (Some(a), Some(b)) if a == b || a == "+" || b == "+" => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_judged_by_the_standard() {
        for good in ["a", "/", "a/+/b", "+", "#", "a/#", "+/b/#", "$SYS/#", "a b", "ä/ö"] {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in ["", "a\0", "a#", "a/#/b", "a+/b", "+a", "$share/g/a", "$share", "##", "a/b#"] {
            assert!(problem(bad).is_some(), "{bad}");
        }
        assert!(is_topic("a/b") && !is_topic("a/+") && !is_topic("") && !is_topic("#"));
    }

    #[test]
    fn two_filters_overlap_if_some_topic_matches_both() {
        for (one, other) in [
            ("a", "a"),
            ("a/#", "a"),
            ("#", "x/y"),
            ("+/b", "a/+"),
            ("a/+/c", "a/b/+"),
            ("a/#", "a/b/c"),
            ("+/+", "x/#"),
        ] {
            assert!(overlap(one, other) && overlap(other, one), "{one} {other}");
        }
        for (one, other) in
            [("a", "b"), ("a/+", "a"), ("a/+", "a/b/c"), ("#", "$SYS/x"), ("+/x", "$SYS/x")]
        {
            assert!(!overlap(one, other) && !overlap(other, one), "{one} {other}");
        }
    }
}
