//! What the options of all receivers have in common: variables, words and how secrets are hidden.

use crate::duration::Nanos;
use crate::options::Environment;

/// What is wrong with an output's options; never with a secret in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not create the '{output}' output: {why}")]
pub struct ReceiverOptionError {
    /// The output, as `--out` names it.
    pub output: &'static str,
    /// What is wrong, and what to do.
    pub why: String,
}

/// Reads one output's variables.
pub(super) struct Reader<'a> {
    pub(super) output: &'static str,
    /// What its variables begin with.
    pub(super) prefix: &'static str,
    pub(super) environment: &'a Environment,
}

type Read<T> = Result<T, ReceiverOptionError>;

impl Reader<'_> {
    /// A variable that is there and not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let value = self.environment.get(&format!("{}{name}", self.prefix))?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn text_or(&self, name: &str, otherwise: &str) -> String {
        self.text(name).unwrap_or(otherwise).to_owned()
    }

    /// A duration of at least a millisecond, ns.
    pub(super) fn duration_ns(&self, name: &str, otherwise_ns: u64) -> Read<u64> {
        let Some(text) = self.text(name) else { return Ok(otherwise_ns) };
        let parsed = Nanos::parse(text).ok().map(Nanos::ns);
        parsed.filter(|ns| *ns >= 1_000_000).ok_or_else(|| {
            self.wrong(format!(
                "{}{name}={text} is no duration such as 1s or 500ms, of 1ms at least",
                self.prefix
            ))
        })
    }

    /// `true`, `false` and what Go reads as such.
    pub(super) fn boolean(&self, name: &str, otherwise: bool) -> Read<bool> {
        match self.text(name) {
            None => Ok(otherwise),
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some(other) => {
                Err(self.wrong(format!("{}{name}={other} is neither true nor false", self.prefix)))
            }
        }
    }

    /// Variables that ask for what is not there.
    pub(super) fn refuse(&self, names: &[&str], why: &str) -> Read<()> {
        match names.iter().find(|name| self.text(name).is_some()) {
            Some(name) => Err(self.wrong(format!("{}{name}: {why}", self.prefix))),
            None => Ok(()),
        }
    }

    /// `http://…` or `https://…`.
    pub(super) fn url(&self, url: String, example: &str) -> Read<String> {
        if url.starts_with("http://") || url.starts_with("https://") {
            return Ok(url);
        }
        let told = "the URL must begin with http:// or https://, such as ";
        Err(self.wrong(format!("{told}{example}")))
    }

    /// A list with commas of pairs with `between`.
    pub(super) fn pairs(&self, name: &str, between: char) -> Read<Vec<(String, String)>> {
        let list = self.text(name).unwrap_or_default();
        let parts = list.split(',').map(str::trim).filter(|part| !part.is_empty());
        let pair = |part: &str| {
            let pair = part.split_once(between);
            pair.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).ok_or_else(
                || {
                    let prefix = self.prefix;
                    self.wrong(format!("{prefix}{name} is no list of name{between}value"))
                },
            )
        };
        parts.map(pair).collect()
    }

    pub(super) fn wrong(&self, why: String) -> ReceiverOptionError {
        ReceiverOptionError { output: self.output, why }
    }
}

/// A URL without its user and password.
pub fn without_password(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden() {
        for (url, shown) in [
            ("http://me:s3cret@host:8086/db", "http://host:8086/db"),
            ("https://me:s3@cret@host/write?p=s3cret", "https://host/write"),
            ("http://host:8086/a@b", "http://host:8086/a@b"),
            ("host:8086", "host:8086"),
            ("me:s3cret@host:8086/db", "host:8086/db"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
