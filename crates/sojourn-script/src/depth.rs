//! How deep a script is, before anything reads it: parsers and what walks through their trees call
//! themselves for each level, and a stack has an end.
//!
//! The count is rough and errs to the upper side: brackets that are open, wherever they stand, and
//! words and signs that follow one another without `;`, `,` or braces, of which each may be a
//! level.

/// How deep a script may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Most open brackets.
    pub brackets_max: usize,
    /// Most words and signs in a row.
    pub run_max: usize,
}

/// Line and column, from 1, at which a script becomes deeper than it may be.
pub fn too_deep(text: &str, depth: Depth) -> Option<(u32, u32)> {
    let (mut brackets, mut run, mut is_word) = (0_usize, 0_usize, false);
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => brackets += 1,
            ')' | ']' | '}' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        let was_word = std::mem::replace(&mut is_word, letter.is_alphanumeric() || letter == '_');
        match letter {
            '\n' => quote = None,
            '\'' | '"' if quote == Some(letter) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            _ if quote.is_some() => {}
            ';' | ',' | '{' | '}' => run = 0,
            _ if letter.is_whitespace() || (is_word && was_word) => {}
            _ => run += 1,
        }
        if brackets > depth.brackets_max || run > depth.run_max {
            let before = &text[..at];
            let line = before.matches('\n').count() as u32 + 1;
            let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) as u32;
            return Some((line, column + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_scripts_are_told_from_long_ones() {
        let depth = Depth { brackets_max: 300, run_max: 10_000 };
        let too_deep = |text: &str| too_deep(text, depth);
        assert_eq!(too_deep(&"f(1, [2]);\n".repeat(50_000)), None);
        assert_eq!(too_deep(&format!("x('{}')", "<a b=\"1\"/>".repeat(20_000))), None);
        assert_eq!(too_deep(&"a += 1;\n".repeat(50_000)), None);
        assert_eq!(too_deep(&format!("\n {}", "[".repeat(301))), Some((2, 302)));
        assert!(too_deep(&"!".repeat(20_000)).is_some());
        assert!(too_deep(&"1+".repeat(20_000)).is_some());
        assert!(too_deep(&"new ".repeat(20_000)).is_some());
    }
}
