//! `sojourn run script.js` is `sojourn k6 run script.js`, or `sojourn session run script.js`: the
//! file's name tells that it is a script, its text of which kind. Likewise `sojourn coordinator`.

use std::ffi::OsString;

/// Endings of files that are scripts.
const ENDINGS: [&str; 5] = [".js", ".mjs", ".cjs", ".ts", ".tar"];

/// Commands that may be given a script.
const COMMANDS: [&str; 2] = ["run", "coordinator"];

/// Puts `k6` or `session` before `run` or `coordinator` where that is given a script.
pub(crate) fn rewrite(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_run = words.get(1).is_some_and(|word| COMMANDS.iter().any(|command| word == command));
    let is_script = |word: &OsString| {
        let text = word.to_string_lossy();
        !text.starts_with('-') && ENDINGS.iter().any(|ending| text.ends_with(ending))
    };
    if is_run && let Some(script) = words.iter().skip(2).find(|word| is_script(word)) {
        let text = std::fs::read_to_string(script).unwrap_or_default();
        words.insert(1, if is_session(&text) { "session".into() } else { "k6".into() });
    }
    words
}

/// Whether a script's text declares sessions: it speaks of `definition` and exports nothing.
pub(crate) fn is_session(text: &str) -> bool {
    let lines = || text.lines().map(str::trim_start);
    lines().any(|line| line.starts_with("definition."))
        && !lines().any(|line| line.starts_with("export "))
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
        assert_eq!(rewritten("sojourn coordinator a.ts"), "sojourn k6 coordinator a.ts");
        assert!(is_session("// x\n  definition.setTarget('a')") && !is_session("let definition"));
        assert!(!is_session("definition.x();\nexport default function () {}"));
        for same in ["sojourn run a.yaml", "sojourn mock a.js", "sojourn"] {
            assert_eq!(rewritten(same), same);
        }
    }
}
