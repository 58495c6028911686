//! Which channels a pattern fits, as the server sees it: one that fits two patterns of a tap comes
//! twice, and only one of the two is kept.

/// Whether a text fits a pattern of Redis: `*`, `?`, `[a-z]`, `[^a]`, and `\` before a character
/// that is meant as it is.
pub(crate) fn fits(pattern: &[u8], text: &[u8]) -> bool {
    if text.is_empty() {
        // Not even `*` fits it.
        return pattern.is_empty();
    }
    let (mut at, mut read) = (0, 0);
    // Where the latest `*` ends, and where the text goes on behind what it stands for.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if pattern.get(at) == Some(&b'*') {
            at += 1;
            star = Some((at, read));
            continue;
        }
        let step = match (pattern.get(at), text.get(read)) {
            (None, None) => return true,
            (Some(_), Some(byte)) => one(&pattern[at..], *byte),
            _ => None,
        };
        match (step, star) {
            (Some(length), _) => (at, read) = (at + length, read + 1),
            (None, Some((behind, from))) if from < text.len() => {
                star = Some((behind, from + 1));
                (at, read) = (behind, from + 1);
            }
            (None, _) => return false,
        }
    }
}

/// Length of the pattern's first element, if the byte fits it.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => {
            let (fits, length) = class(rest, byte);
            fits.then_some(length + 1)
        }
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [plain, ..] => (*plain == byte).then_some(1),
        [] => None,
    }
}

/// Whether the byte is in the class that begins behind its bracket, and the class's length. One
/// that does not end takes the rest of the pattern.
fn class(rest: &[u8], byte: u8) -> (bool, usize) {
    let negated = rest.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut found = false;
    while let Some(left) = rest.get(at..) {
        at += match left {
            [b'\\', escaped, ..] => {
                found |= *escaped == byte;
                2
            }
            [b']', ..] => {
                at += 1;
                break;
            }
            [from, b'-', to, ..] => {
                found |= (from.min(to)..=from.max(to)).contains(&&byte);
                3
            }
            [plain, ..] => {
                found |= *plain == byte;
                1
            }
            [] => break,
        };
    }
    (found != negated, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_documented() {
        for (pattern, text, expect) in [
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h*llo", "heeeello", true),
            ("h*llo", "hllo", true),
            ("h[ae]llo", "hillo", false),
            ("h[^e]llo", "hello", false),
            ("h[b-a]llo", "hbllo", true),
            ("*a*b", "xaxab", true),
            ("*a*b", "xaxabc", false),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("", "", true),
            ("*", "", false),
            ("?", "", false),
            ("[", "a", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), text.as_bytes()), expect, "{pattern} {text}");
        }
    }
}
