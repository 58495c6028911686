//! `sojourn k6 -q run script.js` is `sojourn k6 run -q script.js`: k6 takes flags before its
//! command.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// Puts what stands between `k6` and its command behind that. Flags that the command has no use for
/// are left out, as k6 takes those of a run before every command.
pub(crate) fn rewrite(mut words: Vec<OsString>, all: &Command) -> Vec<OsString> {
    let Some(k6) = all.find_subcommand("k6") else { return words };
    let Some(run) = k6.find_subcommand("run") else { return words };
    if words.get(1).is_none_or(|word| word != "k6") {
        return words;
    }
    let mut at = 2;
    let mut flags = Vec::new();
    while let Some(word) = words.get(at).and_then(|word| word.to_str())
        && word.starts_with('-')
    {
        // What is no flag of a run is clap's to judge: help, the version, mistakes.
        let Some(flag) = flag_of(run, word) else { return words };
        let length = if takes_next(flag, word) { 2 } else { 1 };
        flags.push((flag.get_id().clone(), at..at + length));
        at += length;
    }
    let command = words.get(at).and_then(|word| word.to_str());
    let Some(command) = command.and_then(|name| k6.find_subcommand(name)) else { return words };
    let rest = words.split_off(at);
    let knows = |id: &clap::Id| command.get_arguments().any(|own| own.get_id() == id);
    let kept = flags.into_iter().filter(|(id, _)| knows(id)).flat_map(|(_, range)| range);
    let kept: Vec<OsString> = kept.filter_map(|at| words.get(at).cloned()).collect();
    words.truncate(2);
    let mut rest = rest.into_iter();
    words.extend(rest.next());
    words.extend(kept);
    words.extend(rest);
    words
}

/// The flag that a word begins with, as far as words have one flag each.
fn flag_of<'c>(run: &'c Command, word: &str) -> Option<&'c Arg> {
    let mut flags = run.get_arguments();
    match word.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next().unwrap_or_default();
            let is_it = |flag: &&Arg| {
                let aliases = flag.get_all_aliases().unwrap_or_default();
                flag.get_long() == Some(name) || aliases.contains(&name)
            };
            flags.find(is_it)
        }
        None => {
            let letter = word.chars().nth(1)?;
            flags.find(|flag| flag.get_short() == Some(letter))
        }
    }
}

/// Whether the flag's value is the next word.
fn takes_next(flag: &Arg, word: &str) -> bool {
    let is_whole = if word.starts_with("--") { !word.contains('=') } else { word.len() == 2 };
    let takes = matches!(flag.get_action(), ArgAction::Set | ArgAction::Append);
    is_whole && takes && !flag.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn rewritten(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = rewrite(words, &crate::Cli::command());
        let words: Vec<_> = words.into_iter().filter_map(|word| word.into_string().ok()).collect();
        words.join(" ")
    }

    #[test]
    fn flags_before_the_command_stand_behind_it() {
        for (line, as_clap_has_it) in [
            ("sojourn k6 -q run a.js", "sojourn k6 run -q a.js"),
            (
                "sojourn k6 --vus 2 -c x.json run -q a.js",
                "sojourn k6 run --vus 2 -c x.json -q a.js",
            ),
            ("sojourn k6 -u2 --no-color run a.js", "sojourn k6 run -u2 --no-color a.js"),
            ("sojourn k6 --logformat raw inspect a.js", "sojourn k6 inspect --logformat raw a.js"),
            ("sojourn k6 -v --address x:1 status", "sojourn k6 status --address x:1"),
            ("sojourn k6 -v version", "sojourn k6 version"),
        ] {
            assert_eq!(rewritten(line), as_clap_has_it);
        }
        let lines = ["sojourn k6 --help", "sojourn k6 -q", "sojourn k6 --nope run a.js"];
        for same in lines.into_iter().chain(["sojourn -q run a.yaml", "sojourn k6 run -q a.js"]) {
            assert_eq!(rewritten(same), same);
        }
    }
}
