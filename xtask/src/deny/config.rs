//! Reads the part of `deny.toml` that we check: sections with strings and lists of strings.
//!
//! Not all of TOML, and strict about it: a line that is not understood is an error, so that the
//! file cannot mean one thing to cargo-deny and another to us.

/// The rules of `deny.toml`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// The platforms whose dependencies count.
    pub(crate) targets: Vec<String>,
    /// SPDX identifiers.
    pub(crate) licenses: Vec<String>,
    /// Crates that must not be there.
    pub(crate) denied: Vec<Spec>,
    /// Versions that may be there beside another.
    pub(crate) skipped: Vec<Spec>,
    /// Index addresses.
    pub(crate) registries: Vec<String>,
}

/// A crate, and perhaps the beginning of its version: `syn:2` is any 2.x of syn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    name: String,
    version: Option<String>,
}

impl Spec {
    pub(crate) fn matches(&self, name: &str, version: &str) -> bool {
        self.name == name
            && self.version.as_ref().is_none_or(|wanted| {
                let rest = version.strip_prefix(wanted.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
    }

    fn read(text: String) -> Self {
        match text.split_once(':') {
            Some((name, version)) => {
                Self { name: name.to_owned(), version: Some(version.to_owned()) }
            }
            None => Self { name: text, version: None },
        }
    }
}

impl Config {
    /// Reads the file's text; errors name the line.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut config = Self::default();
        let mut section = String::new();
        let mut lines = text.lines().enumerate();
        while let Some((at, line)) = lines.next() {
            let line = without_comment(line);
            let number = at + 1;
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = name.to_owned();
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                return Err(format!("line {number}: neither a [section] nor `key = value`"));
            };
            let mut value = value.trim().to_owned();
            while value.starts_with('[') && !value.ends_with(']') {
                let (_, next) =
                    lines.next().ok_or_else(|| format!("line {number}: the list has no end"))?;
                value.push_str(without_comment(next));
            }
            let values = strings(&value).map_err(|error| format!("line {number}: {error}"))?;
            config.set(&section, key.trim(), values, number)?;
        }
        Ok(config)
    }

    fn set(
        &mut self,
        section: &str,
        key: &str,
        values: Vec<String>,
        line: usize,
    ) -> Result<(), String> {
        let specs = |values: Vec<String>| values.into_iter().map(Spec::read).collect();
        match (section, key) {
            ("graph", "targets") => self.targets = values,
            ("licenses", "allow") => self.licenses = values,
            ("bans", "deny") => self.denied = specs(values),
            ("bans", "skip") => self.skipped = specs(values),
            ("sources", "allow-registry") => self.registries = values,
            // What we always do.
            ("bans", "multiple-versions") if values == ["deny"] => {}
            ("sources", "unknown-registry" | "unknown-git") if values == ["deny"] => {}
            ("sources", "allow-git") if values.is_empty() => {}
            _ => {
                return Err(format!(
                    "line {line}: `{key} = {values:?}` in [{section}] is not understood by xtask"
                ));
            }
        }
        Ok(())
    }
}

/// Nothing in this file has a `#` inside a string.
fn without_comment(line: &str) -> &str {
    line.split_once('#').map_or(line, |(before, _)| before).trim()
}

/// `"a"` or `["a", "b",]`.
fn strings(value: &str) -> Result<Vec<String>, String> {
    let list = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let items = list.unwrap_or(value).split(',').map(str::trim);
    items
        .filter(|item| !item.is_empty())
        .map(|item| {
            let inner = item.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            inner
                .filter(|inner| !inner.contains(['"', '\\']))
                .map(str::to_owned)
                .ok_or_else(|| format!("`{item}` is not a plain string"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_lists_and_comments() {
        let text = "# top\n[licenses]\nallow = [ # why\n  \"MIT\", # x\n\n  \"ISC\",\n]\n\
                    [bans]\nmultiple-versions = \"deny\"\nskip = [\"syn:2\", \"getrandom\"]\n";
        let config = Config::read(text).unwrap();
        assert_eq!(config.licenses, ["MIT", "ISC"]);
        assert!(config.skipped[0].matches("syn", "2.0.119"));
        assert!(config.skipped[0].matches("syn", "2"));
        assert!(!config.skipped[0].matches("syn", "20.0.0"));
        assert!(!config.skipped[0].matches("sync", "2.0.0"));
        assert!(config.skipped[1].matches("getrandom", "0.4.1"));
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        for (text, expected) in [
            ("\nwords", "line 2: neither"),
            ("[licenses]\nallow = [\"MIT\"", "line 2: the list has no end"),
            ("[licenses]\nallow = [MIT]", "line 2: `MIT` is not a plain string"),
            ("[bans]\nmultiple-versions = \"warn\"", "line 2: `multiple-versions"),
            ("[sources]\nallow-git = [\"https://x\"]", "line 2: `allow-git"),
        ] {
            let error = Config::read(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
