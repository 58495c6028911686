//! Path patterns: `/payments/{id}`, `/files/*`, `*`.

/// A pattern of paths. The query is no part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    segments: Vec<Segment>,
    /// Anything may follow.
    has_rest: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Literal(String),
    Parameter(String),
}

impl Pattern {
    /// Every path.
    pub fn any() -> Self {
        Self { segments: Vec::new(), has_rest: true }
    }

    /// Reads a pattern. Err: the part that is wrong, and why.
    pub fn read(text: &str) -> Result<Self, (String, String)> {
        if text == "*" {
            return Ok(Self::any());
        }
        let wrong = |part: &str, why: &str| Err((part.to_owned(), format!("`{part}` {why}")));
        let Some(path) = text.strip_prefix('/') else {
            return wrong(text, "is not a path");
        };
        if text.contains(['?', '#']) {
            return wrong(text, "has a query: that is a condition, `when: { query.NAME: … }`");
        }
        let (path, has_rest) = match path.strip_suffix('*') {
            Some("") => ("", true),
            Some(before) => match before.strip_suffix('/') {
                Some(before) => (before, true),
                None => return wrong(text, "has a `*` that is no whole segment"),
            },
            None => (path, false),
        };
        let mut segments = Vec::new();
        if !(path.is_empty() && has_rest) {
            for part in path.split('/') {
                let inside = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
                match inside {
                    Some(name) if is_name(name) && !names(&segments).any(|it| it == name) => {
                        segments.push(Segment::Parameter(name.to_owned()));
                    }
                    Some(_) => return wrong(part, "is not a parameter, or stands here twice"),
                    None if part.contains(['{', '}', '*']) => {
                        return wrong(part, "is neither text nor a parameter `{name}`");
                    }
                    None => segments.push(Segment::Literal(part.to_owned())),
                }
            }
        }
        Ok(Self { segments, has_rest })
    }

    /// Whether a path fits.
    pub fn fits(&self, path: &str) -> bool {
        if self.segments.is_empty() && self.has_rest {
            return true;
        }
        let Some(mut rest) = path.strip_prefix('/') else {
            return false;
        };
        let mut is_more = true;
        for segment in &self.segments {
            if !is_more {
                return false;
            }
            let (part, after) = match rest.split_once('/') {
                Some((part, after)) => (part, Some(after)),
                None => (rest, None),
            };
            let fits = match segment {
                Segment::Literal(literal) => part == literal,
                Segment::Parameter(_) => !part.is_empty(),
            };
            if !fits {
                return false;
            }
            is_more = after.is_some();
            rest = after.unwrap_or_default();
        }
        is_more == self.has_rest
    }

    /// The part of a fitting path that stands for a parameter, as sent.
    pub fn parameter<'p>(&self, name: &str, path: &'p str) -> Option<&'p str> {
        let is_it = |segment: &Segment| matches!(segment, Segment::Parameter(it) if it == name);
        let place = self.segments.iter().position(is_it)?;
        path.strip_prefix('/')?.split('/').nth(place)
    }

    /// Names of the parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        names(&self.segments)
    }

    /// The one path that fits, where there is only one.
    pub fn literal(&self) -> Option<String> {
        if self.has_rest {
            return None;
        }
        self.segments.iter().try_fold(String::new(), |path, segment| match segment {
            Segment::Literal(literal) => Some(path + "/" + literal),
            Segment::Parameter(_) => None,
        })
    }

    /// How much it leaves open: patterns that leave less open come first in an imported file.
    pub fn openness(&self) -> (bool, usize) {
        (self.has_rest, self.parameters().count())
    }
}

fn names(segments: &[Segment]) -> impl Iterator<Item = &str> {
    segments.iter().filter_map(|segment| match segment {
        Segment::Literal(_) => None,
        Segment::Parameter(name) => Some(name.as_str()),
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_fit() {
        let check = |pattern: &str, fitting: &[&str], others: &[&str]| {
            let read = Pattern::read(pattern).unwrap();
            for path in fitting {
                assert!(read.fits(path), "{pattern} {path}");
            }
            for path in others {
                assert!(!read.fits(path), "{pattern} {path}");
            }
        };
        check("*", &["/", "/a", "*", ""], &[]);
        check("/", &["/"], &["/a", "", "//"]);
        check("/*", &["/", "/a", "/a/b"], &[]);
        check("/a/b", &["/a/b"], &["/a", "/a/b/", "/a/c", "a/b", "/a/b/c"]);
        check("/a/{id}", &["/a/1", "/a/x%2Fy"], &["/a/", "/a", "/a/1/b"]);
        check("/a/{id}/b/*", &["/a/1/b/", "/a/1/b/c/d"], &["/a/1/b", "/a//b/c"]);
    }

    #[test]
    fn parameters_are_found_where_they_stand() {
        let pattern = Pattern::read("/a/{x}/b/{y-2}").unwrap();
        assert_eq!(pattern.parameter("x", "/a/1/b/2"), Some("1"));
        assert_eq!(pattern.parameter("y-2", "/a/1/b/2"), Some("2"));
        assert_eq!(pattern.parameter("z", "/a/1/b/2"), None);
        assert_eq!(pattern.literal(), None);
        assert_eq!(Pattern::read("/a/b").unwrap().literal().as_deref(), Some("/a/b"));
        assert_eq!(Pattern::read("/").unwrap().literal().as_deref(), Some("/"));
    }

    #[test]
    fn what_is_no_pattern() {
        for (text, part) in [
            ("a/b", "a/b"),
            ("/a?x=1", "/a?x=1"),
            ("/a*", "/a*"),
            ("/a/{x}/{x}", "{x}"),
            ("/a/{}", "{}"),
            ("/a/x{y}", "x{y}"),
            ("/a/*/b", "*"),
        ] {
            assert_eq!(Pattern::read(text).unwrap_err().0, part, "{text}");
        }
    }
}
