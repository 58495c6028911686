//! The keys of thresholds: `metric` or `metric{tag:value,tag2:value2}`.

/// A key taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    pub(super) metric: &'a str,
    /// What stands between the braces, and the tags in it, sorted by key.
    pub(super) braces: Option<(&'a str, Tags)>,
}

type Tags = Vec<(Box<str>, Box<str>)>;

/// Why a threshold's key names no metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmetricError {
    /// A brace that is never closed, or something after it.
    #[error(
        "invalid threshold key '{key}': expected 'metric' or 'metric{{tag:value,…}}', with \
         the closing brace at the end"
    )]
    Braces {
        /// As it is written.
        key: String,
    },
    /// Braces without a tag in them.
    #[error("invalid threshold key '{key}': the braces hold no tag; write 'metric{{tag:value}}'")]
    Empty {
        /// As it is written.
        key: String,
    },
    /// The script declares no such metric, and it is not built in.
    #[error("invalid threshold defined; reason: no metric name \"{metric}\" found")]
    Unknown {
        /// Its name.
        metric: String,
    },
}

pub(super) fn parse(key: &str) -> Result<Key<'_>, SubmetricError> {
    let Some((metric, rest)) = key.split_once('{') else {
        return Ok(Key { metric: key.trim(), braces: None });
    };
    let Some(suffix) = rest.strip_suffix('}') else {
        return Err(SubmetricError::Braces { key: key.to_owned() });
    };
    let mut tags: Tags = Vec::new();
    for pair in suffix.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (tag, value) = pair.split_once(':').unwrap_or((pair, ""));
        let (tag, value) = (bare(tag), bare(value));
        match tags.iter_mut().find(|(old, _)| **old == *tag) {
            Some((_, old)) => *old = value.into(),
            None => tags.push((tag.into(), value.into())),
        }
    }
    if tags.is_empty() {
        return Err(SubmetricError::Empty { key: key.to_owned() });
    }
    tags.sort();
    Ok(Key { metric: metric.trim(), braces: Some((suffix, tags)) })
}

/// Without blanks and quotes around it.
fn bare(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_apart() {
        assert_eq!(parse("a"), Ok(Key { metric: "a", braces: None }));
        let tags = vec![("b".into(), "http://x:1/".into()), ("c".into(), "d e".into())];
        let suffix = "c:'d e', \"b\": http://x:1/";
        let key = format!("a{{{suffix}}}");
        assert_eq!(parse(&key), Ok(Key { metric: "a", braces: Some((suffix, tags)) }));
        for wrong in ["a{b:c", "a{b:c}d", "a{}", "a{ , }"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
