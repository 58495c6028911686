//! Colour where it is wanted, foreign text made harmless, and lines folded.

/// Colours text, or leaves it.
pub(crate) struct Paint {
    /// Whether to.
    pub(crate) colour: bool,
}

impl Paint {
    pub(crate) fn bold(&self, text: &str) -> String {
        self.code("1", text)
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.code("2", text)
    }

    pub(crate) fn green(&self, text: &str) -> String {
        self.code("1;32", text)
    }

    pub(crate) fn red(&self, text: &str) -> String {
        self.code("1;31", text)
    }

    pub(crate) fn yellow(&self, text: &str) -> String {
        self.code("1;33", text)
    }

    fn code(&self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Foreign text without control characters: a key must not move the cursor or paint the terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_directional(c) { '\u{fffd}' } else { c }).collect()
}

/// Characters that reorder the text around them.
fn is_directional(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Folds text at spaces: the first line after `first`, the others after `indent` spaces. A word
/// longer than a line is cut.
pub(crate) fn wrap(text: &str, first: &str, indent: usize, width: usize) -> String {
    let mut out = first.to_owned();
    let mut column = first.chars().count();
    let mut empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let space = usize::from(!empty);
            if column + space + word.len() <= width {
                if !empty {
                    out.push(' ');
                }
                out.extend(&word);
                column += space + word.len();
                empty = false;
                break;
            }
            if empty {
                let rest = word.split_off((width - column).min(word.len()));
                out.extend(&word);
                word = rest;
            }
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
            empty = true;
            if word.is_empty() {
                break;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31m\r\nb\u{202e}c"), "a\u{fffd}[31m\u{fffd}\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn lines_fold_at_spaces_and_long_words_are_cut() {
        assert_eq!(wrap("one two three", "- ", 2, 9), "- one two\n  three");
        assert_eq!(wrap("abcdefghij k", "", 1, 4), "abcd\n efg\n hij\n k");
        assert_eq!(wrap("", "x ", 2, 10), "x ");
    }

    #[test]
    fn colour_is_absent_unless_wanted() {
        assert_eq!(Paint { colour: false }.red("x"), "x");
        assert_eq!(Paint { colour: true }.red("x"), "\u{1b}[1;31mx\u{1b}[0m");
    }
}
