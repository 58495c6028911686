//! Licence expressions (SPDX specification, annex "License expressions"): `A OR B`, `A AND B`,
//! `A WITH exception`, parentheses, and the old `A/B` for `A OR B`.

/// Whether the expression can be satisfied with allowed licences only. A licence with an exception
/// counts as a licence of its own, named in full.
pub(crate) fn allowed(expression: &str, allowed: &[String]) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut parser = Parser { words: spaced.split_whitespace().collect(), next: 0, allowed };
    let result = parser.any();
    match result {
        Some(result) if parser.next == parser.words.len() => Ok(result),
        _ => Err(format!("`{expression}` is no licence expression")),
    }
}

struct Parser<'a> {
    words: Vec<&'a str>,
    next: usize,
    allowed: &'a [String],
}

impl Parser<'_> {
    /// `all OR all …`; none when the text is malformed.
    fn any(&mut self) -> Option<bool> {
        let mut result = self.all()?;
        while self.take("OR") {
            result |= self.all()?;
        }
        Some(result)
    }

    /// `one AND one …`
    fn all(&mut self) -> Option<bool> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Some(result)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let result = self.any()?;
            return self.take(")").then_some(result);
        }
        let name = self.word()?;
        if !self.take("WITH") {
            return Some(self.allowed.contains(&name));
        }
        let exception = self.word()?;
        let name = format!("{name} WITH {exception}");
        Some(self.allowed.contains(&name))
    }

    fn word(&mut self) -> Option<String> {
        let word = *self.words.get(self.next)?;
        self.next += 1;
        (!["(", ")", "AND", "OR", "WITH"].contains(&word)).then(|| word.to_owned())
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.words.get(self.next) == Some(&word);
        self.next += usize::from(there);
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str) -> Result<bool, String> {
        allowed(expression, &["MIT".to_owned(), "Zlib".to_owned(), "A WITH e".to_owned()])
    }

    #[test]
    fn expressions_are_weighed() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("MIT AND Zlib", true),
            // AND binds tighter.
            ("MIT OR GPL-3.0 AND BSD", true),
            ("GPL-3.0 AND MIT OR Zlib", true),
            ("(MIT OR GPL-3.0) AND BSD", false),
            ("(MIT OR GPL-3.0) AND (BSD OR Zlib)", true),
            ("A", false),
            ("A WITH e", true),
            ("MIT WITH e", false),
        ] {
            assert_eq!(check(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn nonsense_is_not_allowed() {
        for nonsense in ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Zlib", "A WITH"] {
            assert!(check(nonsense).is_err(), "{nonsense}");
        }
    }
}
