//! The flag grammar of Go's programs, for the commands that scripts written for Vegeta call.
//!
//! There `-flag` and `--flag` are the same, a value follows after `=` or as the next word whatever
//! that looks like (`-redirects -1`), a switch takes its value only after `=` (`-http2=false`), and
//! the last of several wins. Words are rewritten into what clap understands, so that help, hints
//! and errors stay clap's. Unlike in Go, flags may also follow files: only `--` ends them.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
};

use clap::{Arg, ArgAction, Command};

/// The commands whose flags are of this grammar.
const COMMANDS: [&str; 5] = ["attack", "dump", "encode", "plot", "report"];

/// The words of a command line as clap understands them. `cli` is what they are parsed with.
pub(crate) fn rewrite(
    words: impl IntoIterator<Item = OsString>,
    mut cli: Command,
) -> Vec<OsString> {
    cli.build();
    let mut words = words.into_iter();
    let mut rewritten: Vec<OsString> = words.next().into_iter().collect();
    let command = loop {
        let Some(word) = words.next() else { return rewritten };
        if !word.as_bytes().starts_with(b"-") {
            let command = word.to_str().filter(|name| COMMANDS.contains(name));
            let command = command.and_then(|name| cli.find_subcommand(name));
            rewritten.push(word);
            break command;
        }
        let (flag, value) = split(word.as_bytes());
        let takes_next = value.is_none() && takes_value(&cli, flag);
        let is_long = word.as_bytes().len() > 2;
        rewritten.push(if is_long { double_dash(word.as_bytes()) } else { word });
        if takes_next {
            rewritten.extend(words.next());
        }
    };
    match command {
        Some(command) => Rewriter { command, out: rewritten, places: HashMap::new() }.all(words),
        None => rewritten.into_iter().chain(words).collect(),
    }
}

/// Whether a flag in front of the command is one with a value.
fn takes_value(cli: &Command, flag: &OsStr) -> bool {
    let mut args = cli.get_arguments();
    args.any(|arg| {
        arg.get_long().is_some_and(|long| flag == long) && arg.get_action().takes_values()
    })
}

/// Reads what Go takes for a switch's value: the parser of switches that can be switched off.
pub(crate) fn boolean(word: &str) -> Result<bool, String> {
    match word {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("neither true nor false".to_owned()),
    }
}

struct Rewriter<'c> {
    command: &'c Command,
    out: Vec<OsString>,
    /// Where the last value of a flag stands that can have only one.
    places: HashMap<clap::Id, usize>,
}

impl<'c> Rewriter<'c> {
    fn all(mut self, words: impl Iterator<Item = OsString>) -> Vec<OsString> {
        let mut words = words;
        while let Some(word) = words.next() {
            let bytes = word.as_bytes();
            if bytes == b"--" {
                self.out.push(word);
                self.out.extend(words);
                break;
            }
            if !bytes.starts_with(b"-") || bytes == b"-" {
                self.out.push(word);
                continue;
            }
            let (flag, value) = split(bytes);
            match self.find(flag) {
                Some(arg) => self.flag(arg, value, &mut words),
                None => self.out.push(double_dash(bytes)),
            }
        }
        self.out
    }

    /// The flag of this name, be it long, an alias or a single letter.
    fn find(&self, name: &OsStr) -> Option<&'c Arg> {
        let name = name.to_str()?;
        let is_it = |arg: &&Arg| {
            let is_long = arg.get_long() == Some(name);
            let is_alias = arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name));
            let is_short = arg.get_short().is_some_and(|short| name.chars().eq([short]));
            is_long || is_alias || is_short
        };
        let command: &'c Command = self.command;
        command.get_arguments().find(is_it)
    }

    fn flag(
        &mut self,
        arg: &Arg,
        value: Option<&OsStr>,
        words: &mut impl Iterator<Item = OsString>,
    ) {
        let takes_word = arg.get_action().takes_values() && !arg.is_require_equals_set();
        let value = value.map(OsStr::to_os_string);
        let value = if takes_word { value.or_else(|| words.next()) } else { value };
        let mut word = format!("--{}", arg.get_long().unwrap_or_default()).into_bytes();
        if let Some(value) = value {
            word.push(b'=');
            word.extend(value.into_vec());
        }
        let word = OsString::from_vec(word);
        let is_single = !matches!(arg.get_action(), ArgAction::Append | ArgAction::Count);
        match self.places.get(arg.get_id()).filter(|_| is_single) {
            Some(place) => self.out[*place] = word,
            None => {
                self.places.insert(arg.get_id().clone(), self.out.len());
                self.out.push(word);
            }
        }
    }
}

/// Name and value of `-name=value`.
fn split(word: &[u8]) -> (&OsStr, Option<&OsStr>) {
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let word = word.strip_prefix(b"-").unwrap_or(word);
    match word.iter().position(|byte| *byte == b'=') {
        Some(at) => (OsStr::from_bytes(&word[..at]), Some(OsStr::from_bytes(&word[at + 1..]))),
        None => (OsStr::from_bytes(word), None),
    }
}

/// `-name` with the dashes that clap wants.
fn double_dash(word: &[u8]) -> OsString {
    let name = word.strip_prefix(b"--").or_else(|| word.strip_prefix(b"-")).unwrap_or(word);
    OsString::from_vec([b"--", name].concat())
}

#[cfg(test)]
mod tests {
    use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Sample {
        #[arg(long)]
        cpus: Option<u32>,
        #[command(subcommand)]
        command: SampleCommand,
    }

    #[derive(Debug, clap::Subcommand)]
    enum SampleCommand {
        Attack(Attack),
        Other { word: String },
    }

    #[derive(Clone, Debug, Default, PartialEq, clap::Args)]
    struct Attack {
        #[arg(long, allow_hyphen_values = true)]
        redirects: Option<i32>,
        #[arg(long, short, alias = "out")]
        output: Option<OsString>,
        #[arg(long)]
        header: Vec<String>,
        #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        #[arg(default_value = "true", value_parser = boolean)]
        http2: bool,
        #[arg(long)]
        lazy: bool,
        files: Vec<OsString>,
    }

    fn matches(words: &[&str]) -> Result<ArgMatches, clap::Error> {
        let words = ["sojourn"].iter().chain(words).map(OsString::from);
        Sample::command().try_get_matches_from(rewrite(words, Sample::command()))
    }

    fn attack(words: &[&str]) -> Result<Attack, clap::Error> {
        let words: Vec<&str> = ["attack"].iter().chain(words).copied().collect();
        let sample = Sample::from_arg_matches(&matches(&words)?)?;
        match sample.command {
            SampleCommand::Attack(attack) => Ok(attack),
            SampleCommand::Other { word } => panic!("{word}"),
        }
    }

    fn usual() -> Attack {
        Attack { http2: true, ..Attack::default() }
    }

    #[test]
    fn one_dash_and_two_are_the_same() {
        let expected = Attack { redirects: Some(3), output: Some("f".into()), ..usual() };
        for words in [
            ["-redirects=3", "-output=f"].as_slice(),
            &["--redirects=3", "--output=f"],
            &["-redirects", "3", "-output", "f"],
            &["--redirects", "3", "-o", "f"],
            &["-out", "f", "-redirects", "3"],
        ] {
            assert_eq!(attack(words).unwrap(), expected, "{words:?}");
        }
    }

    #[test]
    fn a_value_may_look_like_a_flag() {
        let expected = Attack { redirects: Some(-1), output: Some("--".into()), ..usual() };
        assert_eq!(attack(&["-redirects", "-1", "-output", "--"]).unwrap(), expected);
        let expected = Attack { header: vec!["-a: =b".into(), String::new()], ..usual() };
        assert_eq!(attack(&["-header", "-a: =b", "-header="]).unwrap(), expected);
    }

    #[test]
    fn switches_take_their_value_after_an_equals_sign_only() {
        for (word, is_on) in [("-http2", true), ("--http2=T", true), ("-http2=0", false)] {
            assert_eq!(attack(&[word]).unwrap().http2, is_on, "{word}");
        }
        let read = attack(&["-http2", "false"]).unwrap();
        assert_eq!(read, Attack { files: vec!["false".into()], ..usual() });
        assert!(attack(&["-http2=yes"]).is_err());
        assert!(attack(&["-lazy"]).unwrap().lazy);
    }

    #[test]
    fn the_last_of_several_wins_and_lists_grow() {
        let words = ["-redirects=1", "-http2", "-redirects=2", "-lazy", "-http2=f", "-lazy"];
        let read = attack(&words).unwrap();
        assert_eq!((read.redirects, read.http2, read.lazy), (Some(2), false, true));
        assert_eq!(attack(&["-header", "a", "-header=b"]).unwrap().header, ["a", "b"]);
    }

    #[test]
    fn files_follow_and_nothing_is_a_flag_after_two_dashes() {
        let read = attack(&["a", "-redirects=1", "-", "--", "-b", "--redirects=2"]).unwrap();
        assert_eq!(read.redirects, Some(1));
        assert_eq!(read.files, ["a", "-", "-b", "--redirects=2"]);
    }

    #[test]
    fn what_is_unknown_or_lacks_its_value_is_for_clap_to_say() {
        let said = |words: &[&str]| attack(words).unwrap_err().to_string();
        assert!(said(&["-redirect", "1"]).contains("'--redirects'"));
        assert!(said(&["-redirects"]).contains("--redirects"));
        assert!(said(&["-redirects", "many"]).contains("many"));
        for help in ["-h", "-help", "--help"] {
            let error = attack(&[help]).unwrap_err();
            assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp, "{help}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_pass_through() {
        let odd = OsString::from_vec(vec![b'f', 0xff]);
        let words = ["sojourn", "attack", "-output"].map(OsString::from).into_iter();
        let rewritten = rewrite(words.chain([odd.clone(), odd.clone()]), Sample::command());
        let expected = OsString::from_vec(b"--output=f\xff".to_vec());
        assert_eq!(rewritten[2..], [expected, odd]);
    }

    #[test]
    fn flags_in_front_of_the_command_have_values_too() {
        for front in [["-cpus", "3"].as_slice(), &["--cpus", "3"], &["-cpus=3"]] {
            let words: Vec<&str> =
                front.iter().copied().chain(["attack", "-redirects", "-1"]).collect();
            let sample = Sample::from_arg_matches(&matches(&words).unwrap()).unwrap();
            let SampleCommand::Attack(attack) = sample.command else { panic!("{words:?}") };
            assert_eq!((sample.cpus, attack.redirects), (Some(3), Some(-1)), "{words:?}");
        }
        assert!(matches(&["-cpus"]).is_err());
    }

    #[test]
    fn other_commands_keep_their_words() {
        let words = ["sojourn", "other", "-word", "-x"].map(OsString::from);
        assert_eq!(rewrite(words.clone(), Sample::command()), words);
        assert!(rewrite(Vec::new(), Sample::command()).is_empty());
        let version = ["sojourn", "-version"].map(OsString::from);
        assert_eq!(rewrite(version, Sample::command())[1], "--version");
    }
}
