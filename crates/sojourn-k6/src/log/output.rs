//! `--log-output`.

use super::LokiOptions;

/// Where log lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogOutput {
    /// Standard error.
    Stderr,
    /// Standard output.
    Stdout,
    /// Nowhere.
    None,
    /// A file that they are appended to.
    File {
        /// Which.
        path: String,
        /// From which level on.
        least: LeastLevel,
    },
    /// A server of Loki's.
    Loki(LokiOptions),
}

/// The least level that is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeastLevel {
    /// All that is said.
    #[default]
    Debug,
    /// What goes on, and what is worse.
    Info,
    /// What may be wrong, and what is.
    Warning,
    /// What is wrong.
    Error,
    /// More than anything has.
    Nothing,
}

impl LogOutput {
    /// Reads it.
    ///
    /// # Errors
    /// What is no output, or no word of one. The text shows nothing that may be secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, rest) = match text.split_once('=') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        match (kind, rest) {
            ("" | "stderr", None) => Ok(Self::Stderr),
            ("stdout", None) => Ok(Self::Stdout),
            ("none", None) => Ok(Self::None),
            ("file", rest) => Self::file(rest.unwrap_or_default()),
            ("loki", rest) => LokiOptions::parse(rest).map(Self::Loki),
            _ => Err(format!(
                "{kind}: it is none of stderr, stdout, none, file=PATH[,level=…] and loki=URL[,…]"
            )),
        }
    }

    fn file(text: &str) -> Result<Self, String> {
        let mut words = words(text)?.into_iter();
        let path = words.next().unwrap_or_default();
        if path.is_empty() {
            return Err("file: it has no path: file=PATH".to_owned());
        }
        let mut least = LeastLevel::default();
        for word in words {
            match word.split_once('=') {
                Some(("level", level)) => least = LeastLevel::parse(level)?,
                _ => return Err(format!("file: `{word}` is not level=…")),
            }
        }
        Ok(Self::File { path: path.to_owned(), least })
    }

    /// The least level that is told.
    pub fn least(&self) -> LeastLevel {
        match self {
            Self::File { least, .. } => *least,
            Self::Loki(options) => options.least,
            Self::Stderr | Self::Stdout | Self::None => LeastLevel::Debug,
        }
    }
}

impl LeastLevel {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "trace" | "debug" => Ok(Self::Debug),
            "info" => Ok(Self::Info),
            "warn" | "warning" => Ok(Self::Warning),
            "error" => Ok(Self::Error),
            "fatal" | "panic" => Ok(Self::Nothing),
            _ => Err(format!("`{text}` is no level: there are debug, info, warning and error")),
        }
    }
}

/// What stands between commas, but for those in brackets.
pub(super) fn words(text: &str) -> Result<Vec<&str>, String> {
    let (mut words, mut from, mut is_inside) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => is_inside = true,
            ']' => is_inside = false,
            ',' if !is_inside => {
                words.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[from..]);
    match is_inside {
        true => Err("a bracket is left open".to_owned()),
        false => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_levels_and_nothing_else() {
        let file = |path: &str, least| LogOutput::File { path: path.to_owned(), least };
        for (text, output) in [
            ("stderr", LogOutput::Stderr),
            ("stdout", LogOutput::Stdout),
            ("none", LogOutput::None),
            ("file=a.log", file("a.log", LeastLevel::Debug)),
            ("file=a.log,level=warn", file("a.log", LeastLevel::Warning)),
            ("file=a=b,level=fatal", file("a=b", LeastLevel::Nothing)),
        ] {
            assert_eq!(LogOutput::parse(text).as_ref(), Ok(&output), "{text}");
        }
        for wrong in ["file", "file=", "file=,level=warn", "file=a,level=zz", "file=a,size=3", "x"]
        {
            assert!(LogOutput::parse(wrong).is_err(), "{wrong}");
        }
        let told = LogOutput::parse("syslog=http://me:secret@x").expect_err("no output");
        assert!(told.starts_with("syslog: ") && !told.contains("secret"), "{told}");
    }
}
