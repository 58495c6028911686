//! `sojourn run script.js` is `sojourn k6 run script.js`: the file's name tells.

use std::ffi::OsString;

/// Endings of files that are scripts.
const ENDINGS: [&str; 5] = [".js", ".mjs", ".cjs", ".ts", ".tar"];

/// Puts `k6` before `run` where that is given a script.
pub(crate) fn rewrite(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_run = words.get(1).is_some_and(|word| word == "run");
    let is_script = |word: &OsString| {
        let text = word.to_string_lossy();
        !text.starts_with('-') && ENDINGS.iter().any(|ending| text.ends_with(ending))
    };
    if is_run && words.iter().skip(2).any(is_script) {
        words.insert(1, "k6".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words: Vec<_> =
            rewrite(words).into_iter().filter_map(|word| word.into_string().ok()).collect();
        words.join(" ")
    }

    #[test]
    fn scripts_are_known_by_their_names() {
        assert_eq!(rewritten("sojourn run a.js"), "sojourn k6 run a.js");
        assert_eq!(rewritten("sojourn run -u 5 lib/a.ts -q"), "sojourn k6 run -u 5 lib/a.ts -q");
        for same in ["sojourn run a.yaml", "sojourn mock a.js", "sojourn"] {
            assert_eq!(rewritten(same), same);
        }
    }
}
