//! The command before each run of a sweep. There is no shell in it: a text is cut into words once,
//! then values are put into words, so that a value can never become a word of its own.

use std::process::{Command, Stdio};

use crate::errors::UsageError;

/// Bytes of a failed command's output that are shown, the last ones.
const SHOWN_MAX: usize = 8_000;

/// A command with places for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Before {
    words: Vec<String>,
}

impl Before {
    /// Cuts the text into words. Errs on quotes without their end, an empty command, and places
    /// that look like variables which are not varied.
    pub(super) fn parse(text: &str, variables: &[String]) -> Result<Self, UsageError> {
        let Some(words) = shlex::split(text) else {
            return Err(UsageError::new(
                format!("--before {text}: a quote or backslash without its end"),
                "write it as in a shell: --before 'scale --to {REPLICAS} \"two words\"'",
            ));
        };
        if words.first().is_none_or(String::is_empty) {
            return Err(UsageError::new(
                "--before names no command",
                "write --before 'scale {REPLICAS}', or leave it out",
            ));
        }
        for name in words.iter().flat_map(|word| places(word)) {
            if !variables.iter().any(|known| known == name) {
                return Err(UsageError::new(
                    format!("--before {text}: {{{name}}} is not varied"),
                    format!("there is {}; or add --vary {name}=A,B", listed(variables)),
                ));
            }
        }
        Ok(Self { words })
    }

    /// The words with these values.
    fn with(&self, values: &[(String, String)]) -> Vec<String> {
        self.words.iter().map(|word| filled(word, values)).collect()
    }

    /// Runs it, with the values in its environment too. Errs with its output when it cannot be
    /// started or fails.
    pub(super) fn run(&self, values: &[(String, String)]) -> Result<(), UsageError> {
        let words = self.with(values);
        let shown = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
        let (program, arguments) =
            words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        command.envs(values.iter().map(|(name, value)| (name, value)));
        let output = command.output().map_err(|error| {
            UsageError::new(
                format!("cannot run `{shown}`: {error}"),
                "--before starts a program, not a shell: for pipes and the like give a script",
            )
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = [tail(&output.stdout), tail(&output.stderr)].concat();
        let said = if said.trim().is_empty() { "(no output)".to_owned() } else { said };
        Err(UsageError::plain(format!(
            "`{shown}` failed ({}), so nothing more is run\n{}",
            output.status,
            said.trim_end()
        )))
    }
}

/// A word with each `{NAME}` replaced by its value. Values are not looked through again.
fn filled(word: &str, values: &[(String, String)]) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = values.iter().find_map(|(name, value)| {
            let after = rest[1..].strip_prefix(name.as_str())?.strip_prefix('}')?;
            Some((value, after))
        });
        match known {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// What stands in braces and looks like a variable's name: capitals, digits and `_`. Other braces
/// are the command's own business.
fn places(word: &str) -> Vec<&str> {
    let inside = word.split('{').skip(1).filter_map(|part| part.split_once('}'));
    inside
        .map(|(name, _)| name)
        .filter(|name| {
            name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        })
        .collect()
}

fn listed(variables: &[String]) -> String {
    let all: Vec<String> = variables.iter().map(|name| format!("{{{name}}}")).collect();
    all.join(", ")
}

/// The last part of what a program said.
fn tail(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(SHOWN_MAX);
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn before(text: &str) -> Result<Before, UsageError> {
        Before::parse(text, &["REPLICAS".to_owned(), "A".to_owned()])
    }

    #[test]
    fn a_value_never_becomes_a_second_word() {
        let command = before("scale --to={REPLICAS} '{A} b' {A}").unwrap();
        let words = command.with(&values(&[("REPLICAS", "2; rm -rf /"), ("A", "$(x) {REPLICAS}")]));
        let expected = ["scale", "--to=2; rm -rf /", "$(x) {REPLICAS} b", "$(x) {REPLICAS}"];
        assert_eq!(words, expected);
    }

    #[test]
    fn other_braces_stay() {
        let command = before(r#"awk '{print $1}' {"a":{REPLICAS}} {}"#).unwrap();
        let words = command.with(&values(&[("REPLICAS", "3")]));
        assert_eq!(words, ["awk", "{print $1}", "{a:3}", "{}"]);
    }

    #[test]
    fn what_cannot_be_a_command_is_refused() {
        for (text, said) in [
            ("scale 'open", "without its end"),
            ("", "no command"),
            ("''", "no command"),
            ("scale {REPLICA}", "{REPLICA} is not varied"),
        ] {
            assert!(before(text).unwrap_err().to_string().contains(said), "{text}");
        }
    }

    #[test]
    fn the_environment_has_the_values_and_a_failure_its_output() {
        let one = values(&[("REPLICAS", "7"), ("A", "x")]);
        assert!(before("sh -c 'test \"$REPLICAS\" = 7'").unwrap().run(&one).is_ok());
        let failed = before("sh -c 'echo told; echo said >&2; exit 4' {A}").unwrap().run(&one);
        let failed = failed.unwrap_err().to_string();
        for words in ["exit status: 4", "told\nsaid", "sh -c"] {
            assert!(failed.contains(words), "{failed}");
        }
        let missing = before("no-such-program-at-all").unwrap().run(&one).unwrap_err();
        assert!(missing.to_string().contains("cannot run `no-such-program-at-all`"), "{missing}");
    }
}
