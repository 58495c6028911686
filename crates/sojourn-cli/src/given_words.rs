//! What was given on this program's command line, as words for another command.

use std::ffi::OsStr;

use clap::{ArgAction, ArgMatches, Command, CommandFactory, parser::ValueSource};

/// The flags that were given to a command of this process's command line, such as `run`, but for
/// some of them: `--name=value` each, in the order of the help. Files given by place are left out.
pub(crate) fn flags_given(path: &[&str], without: &[&str]) -> Vec<String> {
    flags_given_by_id(path, without).into_iter().map(|(_, word)| word).collect()
}

/// The same, each with its id before it.
pub(crate) fn flags_given_by_id(path: &[&str], without: &[&str]) -> Vec<(String, String)> {
    let words = crate::rewritten(std::env::args_os().collect());
    // They were understood before, or nobody would ask.
    let Ok(matches) = crate::Cli::command().try_get_matches_from(words) else { return Vec::new() };
    let whole = crate::Cli::command();
    let (mut command, mut matches) = (&whole, &matches);
    for name in path {
        let inner = command.find_subcommand(name).zip(matches.subcommand_matches(name));
        let Some(inner) = inner else { return Vec::new() };
        (command, matches) = inner;
    }
    flags_of(command, matches, without)
}

fn flags_of(command: &Command, matches: &ArgMatches, without: &[&str]) -> Vec<(String, String)> {
    let mut words = Vec::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(long) = argument.get_long() else { continue };
        if !is_given || without.contains(&id) {
            continue;
        }
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            words.push((id.to_owned(), format!("--{long}")));
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten();
        let word = |value: &OsStr| format!("--{long}={}", value.display());
        words.extend(values.map(|value| (id.to_owned(), word(value))));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_said_again_but_for_some() {
        let line = "sojourn run a.yaml -e A=1 --once --label x=1 --threads 2 --label y=2 -q";
        let words = line.split(' ').map(Into::into).collect();
        let whole = crate::Cli::command();
        let matches = crate::Cli::command().get_matches_from(crate::rewritten(words));
        let run = whole.find_subcommand("run").unwrap();
        let matches = matches.subcommand_matches("run").unwrap();
        let flags = flags_of(run, matches, &["env", "quiet"]).into_iter();
        let mut flags: Vec<_> = flags.map(|(_, word)| word).collect();
        flags.sort();
        assert_eq!(flags, ["--label=x=1", "--label=y=2", "--once", "--threads=2"]);
    }
}
