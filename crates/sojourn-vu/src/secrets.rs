//! Where secrets come from: texts that scripts may use and logs must not show.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// All sources of a test.
#[derive(Clone, Default)]
pub struct Secrets {
    sources: BTreeMap<String, BTreeMap<String, String>>,
    /// Which one is meant where none is named.
    default: Option<String>,
}

/// Reads a file's text.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// What is wrong with a source.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// Sources of this type are not known.
    #[error("no secret source for type \"{kind}\" for configuration \"{text}\": mock or file")]
    Kind {
        /// The type.
        kind: String,
        /// The whole source.
        text: String,
    },
    /// A part is no `name=value`.
    #[error("the secret source \"{source_text}\" has \"{part}\", which is no name=value")]
    Part {
        /// The whole source.
        source_text: String,
        /// The part.
        part: String,
    },
    /// A file can't be read.
    #[error("the file of secrets {path}: {problem}")]
    File {
        /// Its path.
        path: String,
        /// What went wrong.
        problem: String,
    },
    /// Two sources have the same name, or both are the default.
    #[error("there are two secret sources {0}")]
    Twice(String),
}

impl Secrets {
    /// Reads sources as the flag `--secret-source` has them: `mock=name=value,…`,
    /// `file=path` or `file=filename=path`, each with `name=…` and `default` among its parts.
    pub fn read(texts: &[String]) -> Result<Self, SecretsError> {
        Self::read_from(texts, &|path| std::fs::read_to_string(path))
    }

    /// The same of files that are read so.
    pub fn read_from(texts: &[String], read: ReadFile<'_>) -> Result<Self, SecretsError> {
        let mut all = Self::default();
        for text in texts {
            let (kind, parts) = text.split_once('=').unwrap_or((text, ""));
            if !matches!(kind, "mock" | "file") {
                let kind = kind.to_owned();
                return Err(SecretsError::Kind { kind, text: text.clone() });
            }
            let mut source = Source::default();
            for part in parts.split(',').filter(|part| !part.is_empty()) {
                source.add(kind, part, text)?;
            }
            if let Some(path) = &source.path {
                source.values = of_file(path, read)?;
            }
            let name = source.name.unwrap_or_else(|| kind.to_owned());
            if source.is_default && all.default.replace(name.clone()).is_some() {
                return Err(SecretsError::Twice("that are the default".to_owned()));
            }
            if all.sources.insert(name.clone(), source.values).is_some() {
                return Err(SecretsError::Twice(format!("of the name \"{name}\"")));
            }
        }
        if all.sources.len() == 1 {
            all.default = all.sources.keys().next().cloned();
        }
        Ok(all)
    }

    /// A secret of the source of this name, or of the default one. The error says what is missing.
    pub(crate) fn get(&self, source: Option<&str>, key: &str) -> Result<&str, String> {
        self.check(source)?;
        let name = source.or(self.default.as_deref());
        let values = name.and_then(|name| self.sources.get(name));
        let value = values.and_then(|values| values.get(key));
        value.map(String::as_str).ok_or_else(|| "no value".to_owned())
    }

    /// Whether there is such a source.
    pub(crate) fn check(&self, source: Option<&str>) -> Result<(), String> {
        if self.sources.is_empty() {
            return Err("no secret sources are configured".to_owned());
        }
        match source {
            Some(name) if !self.sources.contains_key(name) => {
                Err(format!("no secret source with name \"{name}\" is configured"))
            }
            None if self.default.is_none() => Err("no default secret source".to_owned()),
            _ => Ok(()),
        }
    }
}

/// One source, as it is being read.
#[derive(Default)]
struct Source {
    name: Option<String>,
    is_default: bool,
    path: Option<String>,
    values: BTreeMap<String, String>,
}

impl Source {
    fn add(&mut self, kind: &str, part: &str, text: &str) -> Result<(), SecretsError> {
        match part.split_once('=') {
            None if part == "default" => self.is_default = true,
            None if kind == "file" => self.path = Some(part.to_owned()),
            Some(("name", name)) => self.name = Some(name.to_owned()),
            Some(("filename", path)) if kind == "file" => self.path = Some(path.to_owned()),
            Some((name, value)) if kind == "mock" => {
                self.values.insert(name.to_owned(), value.to_owned());
            }
            _ => {
                let (source_text, part) = (text.to_owned(), part.to_owned());
                return Err(SecretsError::Part { source_text, part });
            }
        }
        Ok(())
    }
}

/// Lines of `name=value`.
fn of_file(path: &str, read: ReadFile<'_>) -> Result<BTreeMap<String, String>, SecretsError> {
    let fail = |problem: String| SecretsError::File { path: path.to_owned(), problem };
    let text = read(Path::new(path)).map_err(|error| fail(error.to_string()))?;
    let mut values = BTreeMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| fail(format!("line {} is no name=value", at + 1)))?;
        values.insert(name.to_owned(), value.to_owned());
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Secrets, SecretsError> {
        Secrets::read(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn secrets_are_found_in_their_source() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secrets");
        std::fs::write(&path, "a=1\n\nb=x=y\n").expect("written");
        let file = format!("file={}", path.display());
        let all = read(&["mock=a=hidden,name=m,default", &file]).expect("read");
        assert_eq!(all.get(None, "a"), Ok("hidden"));
        assert_eq!(all.get(Some("file"), "b"), Ok("x=y"));
        assert_eq!(all.get(Some("m"), "b"), Err("no value".to_owned()));
        assert!(all.get(Some("x"), "b").is_err_and(|told| told.contains("\"x\"")));
        assert!(read(&[]).expect("none").get(None, "a").is_err());
        assert!(matches!(read(&["name=x"]), Err(SecretsError::Kind { .. })));
        assert!(matches!(read(&["mock=a"]), Err(SecretsError::Part { .. })));
        assert!(matches!(read(&["file=/none"]), Err(SecretsError::File { .. })));
        assert!(matches!(read(&["mock=a=1", "mock=b=1"]), Err(SecretsError::Twice(_))));
    }
}
