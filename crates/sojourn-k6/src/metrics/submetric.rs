//! The keys of thresholds: `metric` or `metric{tag:value,tag2:value2}`.

/// A key taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    pub(super) metric: &'a str,
    /// What stands between the braces, and the tags in it, sorted by key.
    pub(super) braces: Option<(&'a str, Tags)>,
}

type Tags = Vec<(Box<str>, Box<str>)>;

/// Why a threshold's key names no metric, in k6's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmetricError {
    /// One brace without the other.
    #[error(
        "unable to validate threshold expressions; reason: parsing metric name failed, metric \
         \"{0}\" has unmatched opening/close curly brace"
    )]
    Unmatched(String),
    /// Something behind the closing brace.
    #[error(
        "unable to validate threshold expressions; reason: parsing metric name failed, metric \
         \"{0}\" lacks a closing curly brace in its last position"
    )]
    Behind(String),
    /// Between the braces, something that is not `tag:value`.
    #[error(
        "unable to validate threshold expressions; reason: parsing metric name failed, metric \
         \"{tag}\" tag expression is malformed; write '{key}' as 'metric{{tag:value,tag2:value2}}'"
    )]
    Tag {
        /// What stands there.
        tag: String,
        /// The whole key.
        key: String,
    },
    /// The script declares no such metric, and it is not built in.
    #[error("invalid threshold defined on {0}; reason: no metric name \"{0}\" found")]
    Unknown(String),
}

pub(super) fn parse(key: &str) -> Result<Key<'_>, SubmetricError> {
    let (metric, rest) = match (key.split_once('{'), key.contains('}')) {
        (None, false) => return Ok(Key { metric: key, braces: None }),
        (Some(parts), true) => parts,
        _ => return Err(SubmetricError::Unmatched(key.to_owned())),
    };
    let Some(suffix) = rest.strip_suffix('}') else {
        return Err(SubmetricError::Behind(key.to_owned()));
    };
    let mut tags: Tags = Vec::new();
    for pair in suffix.split(',') {
        let wrong = || SubmetricError::Tag { tag: pair.to_owned(), key: key.to_owned() };
        let (tag, value) = pair.split_once(':').ok_or_else(wrong)?;
        if value.is_empty() {
            return Err(wrong());
        }
        let (tag, value) = (bare(tag), bare(value));
        match tags.iter_mut().find(|(old, _)| **old == *tag) {
            Some((_, old)) => *old = value.into(),
            None => tags.push((tag.into(), value.into())),
        }
    }
    tags.sort();
    Ok(Key { metric, braces: Some((suffix, tags)) })
}

/// Without blanks and quotes around it.
fn bare(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_taken_apart() {
        assert_eq!(parse("a"), Ok(Key { metric: "a", braces: None }));
        let tags = vec![("b".into(), "http://x:1/".into()), ("c".into(), "d e".into())];
        let suffix = "c:'d e', \"b\": http://x:1/";
        let key = format!("a{{{suffix}}}");
        assert_eq!(parse(&key), Ok(Key { metric: "a", braces: Some((suffix, tags)) }));
        for (wrong, part) in [
            ("a{", "unmatched"),
            ("a}", "unmatched"),
            ("a{b:c", "unmatched"),
            ("a{b:c}d", "lacks a closing"),
            ("a{}", "\"\" tag expression"),
            ("a{b}", "\"b\" tag expression"),
            ("a{b:}", "\"b:\" tag expression"),
            ("a{b:c,}", "\"\" tag expression"),
        ] {
            let error = parse(wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{wrong}: {error}");
        }
        for fine in ["a{:b}", "a{{b:c}", "a{b:c}}", "a{b:c{d}}", "a{group:::x::y}"] {
            assert!(parse(fine).is_ok(), "{fine}");
        }
    }
    proptest! {
        #[test]
        fn odd_keys_are_refused_or_hold_tags(key in "[ab{}:, \"'é]{0,12}") {
            match parse(&key) {
                Ok(Key { braces: None, metric }) => prop_assert_eq!(metric, &key),
                Ok(Key { braces: Some((_, tags)), .. }) => prop_assert!(!tags.is_empty()),
                Err(error) => prop_assert!(error.to_string().contains("metric name failed")),
            }
        }
    }
}
