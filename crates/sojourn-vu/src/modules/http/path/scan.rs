//! Where the parts of a path begin and end.

/// A key of a path.
#[derive(Debug, Default)]
pub(super) struct Key {
    /// Without escapes.
    pub(super) text: String,
    /// Letters, and `None` for `*`; a `?` that stands for any letter is `'\0'`. Empty without
    /// wildcards.
    pattern: Vec<Option<char>>,
}

impl Key {
    pub(super) fn has_wildcards(&self) -> bool {
        !self.pattern.is_empty()
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        let letters: Vec<char> = name.chars().collect();
        matches(&self.pattern, &letters)
    }
}

/// Whether a text fits a pattern of `*`, `?` and escaped letters.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let mut key = Key::default();
    read(pattern, &mut key, |_| false);
    let letters: Vec<char> = text.chars().collect();
    match key.has_wildcards() {
        true => matches(&key.pattern, &letters),
        false => key.text == text,
    }
}

const ANY_LETTER: char = '\0';

/// Greedy, going back to the last `*` alone: linear in practice, quadratic at worst.
fn matches(pattern: &[Option<char>], text: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some(None) => {
                star = Some((at, place));
                at += 1;
                continue;
            }
            Some(Some(wanted)) if *wanted == ANY_LETTER || *wanted == text[place] => {
                (at, place) = (at + 1, place + 1);
                continue;
            }
            _ => {}
        }
        let Some((star_at, star_place)) = star else { return false };
        star = Some((star_at, star_place + 1));
        (at, place) = (star_at + 1, star_place + 1);
    }
    pattern[at..].iter().all(Option::is_none)
}

/// The key that a path begins with, and what follows from its separator on.
pub(super) fn key(path: &str) -> (Key, &str) {
    let mut key = Key::default();
    let end = read(path, &mut key, |letter| matches!(letter, '.' | '|'));
    (key, &path[end..])
}

/// Reads letters until one ends them; where that is.
fn read(text: &str, key: &mut Key, ends: impl Fn(char) -> bool) -> usize {
    let mut has_wildcards = false;
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        if ends(letter) {
            end = at;
            break;
        }
        let (letter, is_escaped) = match letter {
            '\\' => match letters.next() {
                Some((_, escaped)) => (escaped, true),
                None => break,
            },
            plain => (plain, false),
        };
        key.text.push(letter);
        let is_wildcard = !is_escaped && matches!(letter, '*' | '?');
        has_wildcards |= is_wildcard;
        key.pattern.push(match letter {
            '*' if is_wildcard => None,
            '?' if is_wildcard => Some(ANY_LETTER),
            plain => Some(plain),
        });
    }
    if !has_wildcards {
        key.pattern.clear();
    }
    end
}

/// What stands between the brackets that a path begins with, and what follows them.
pub(super) fn bracketed(path: &str) -> Option<(&str, &str)> {
    let end = element(path, |_| false)?;
    Some((path.get(1..end - 1)?, &path[end..]))
}

/// Where the path has its first pipe outside brackets and quotes; its length without one.
pub(super) fn pipe(path: &str) -> usize {
    top_level(path, |letter| letter == '|').unwrap_or(path.len())
}

/// The parts of a list between commas.
pub(super) fn list(inner: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = inner;
    while let Some(end) = top_level(rest, |letter| letter == ',') {
        parts.push(rest[..end].trim());
        rest = &rest[end + 1..];
    }
    parts.push(rest.trim());
    parts
}

/// Name and path of a part of `{…}`: given before a colon, else the path's last key.
pub(super) fn named(part: &str) -> (String, &str) {
    if let Some(at) = top_level(part, |letter| letter == ':')
        && !part.starts_with('@')
    {
        let (name, path) = (part[..at].trim(), part[at + 1..].trim());
        let text = serde_json::from_str(name).unwrap_or_else(|_| name.to_owned());
        return (text, path);
    }
    let mut last = part;
    while let Some(at) = top_level(last, |letter| matches!(letter, '.' | '|')) {
        last = &last[at + 1..];
    }
    let is_simple =
        !last.is_empty() && !last.contains(['[', ']', '{', '}', '(', ')', '#', '!', '@']);
    (if is_simple { key(last).0.text } else { "_".to_owned() }, part)
}

/// Name, argument, and what follows of a modifier.
pub(super) fn modifier(path: &str) -> (&str, &str, &str) {
    let end = path.find(['.', '|', ':']).unwrap_or(path.len());
    let name = &path[1..end];
    let Some(argument) = path[end..].strip_prefix(':') else { return (name, "", &path[end..]) };
    let length = literal(argument);
    (name, &argument[..length], &argument[length..])
}

/// How long the JSON value or bare word is that a path begins with.
pub(super) fn literal(path: &str) -> usize {
    let end = match path.chars().next() {
        Some('{' | '[' | '(') => element(path, |_| false),
        _ => top_level(path, |letter| matches!(letter, '.' | '|')),
    };
    // A number's own dot.
    match end {
        Some(end) if path.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
            match path[end..].strip_prefix('.').map(digits) {
                Some(more) if more > 0 => end + 1 + more,
                _ => end,
            }
        }
        Some(end) => end,
        None => path.len(),
    }
}

/// Where the brackets end that a path begins with.
fn element(path: &str, ends: impl Fn(char) -> bool) -> Option<usize> {
    walk(path, ends, true)
}

/// Where the first such letter stands outside brackets and quotes.
fn top_level(path: &str, ends: impl Fn(char) -> bool) -> Option<usize> {
    walk(path, ends, false)
}

fn walk(path: &str, ends: impl Fn(char) -> bool, to_closing: bool) -> Option<usize> {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_u32, false, false);
    for (at, letter) in path.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match letter {
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if to_closing && depth == 0 {
                    return Some(at + 1);
                }
            }
            other if depth == 0 && ends(other) => return Some(at),
            _ => {}
        }
    }
    None
}
