//! What `--out csv=…` and `K6_CSV_*` say of the CSV output.

use super::time::TimeFormat;

/// The CSV output as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// The file; `-` is stdout.
    pub file_name: String,
    /// How often lines are written out, as it is written (`5s`); k6's own is a second.
    pub save_interval: Option<String>,
    /// How instants are written.
    pub time_format: TimeFormat,
}

/// What is wrong with them, in k6's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsvOptionError {
    /// A part of the argument that is no `key=value`.
    #[error("could not create the 'csv' output: couldn't parse \"{0}\" as argument for csv output")]
    Part(String),
    /// A key that the output does not have.
    #[error(
        "could not create the 'csv' output: unknown key \"{0}\" as argument for csv output; it has \
         fileName, saveInterval and timeFormat"
    )]
    Key(String),
    /// No format of instants.
    #[error(
        "could not create the 'csv' output: {0} does not belong to TimeFormat values: unix, \
         unix_milli, unix_micro, unix_nano, rfc3339 and rfc3339_nano"
    )]
    TimeFormat(String),
}

impl CsvOptions {
    /// From what stands behind `csv=`, a file's name or `key=value` with commas between, and from
    /// the environment, which the argument goes before.
    ///
    /// # Errors
    ///
    /// A key or a value is unknown.
    pub fn read(
        argument: Option<&str>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, CsvOptionError> {
        let mut options = Self {
            file_name: environment("K6_CSV_FILENAME").unwrap_or_else(|| "file.csv".to_owned()),
            save_interval: environment("K6_CSV_SAVE_INTERVAL"),
            time_format: TimeFormat::default(),
        };
        if let Some(word) = environment("K6_CSV_TIME_FORMAT") {
            options.time_format = format(&word)?;
        }
        match argument {
            None | Some("") => {}
            Some(name) if !name.contains('=') => options.file_name = name.to_owned(),
            Some(parts) => parts.split(',').try_for_each(|part| options.set(part))?,
        }
        Ok(options)
    }

    fn set(&mut self, part: &str) -> Result<(), CsvOptionError> {
        let (key, value) = match part.split_once('=') {
            Some((key, value)) if !value.is_empty() => (key, value),
            _ => return Err(CsvOptionError::Part(part.to_owned())),
        };
        match key {
            "fileName" => self.file_name = value.to_owned(),
            "saveInterval" => self.save_interval = Some(value.to_owned()),
            "timeFormat" => self.time_format = format(value)?,
            _ => return Err(CsvOptionError::Key(key.to_owned())),
        }
        Ok(())
    }
}

fn format(word: &str) -> Result<TimeFormat, CsvOptionError> {
    TimeFormat::from_word(word).ok_or_else(|| CsvOptionError::TimeFormat(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: Option<&str>, name: &str, value: &str) -> Result<CsvOptions, CsvOptionError> {
        CsvOptions::read(argument, |key| (key == name).then(|| value.to_owned()))
    }

    #[test]
    fn the_argument_goes_before_the_environment() {
        let plain = read(None, "", "").unwrap();
        assert_eq!((plain.file_name.as_str(), plain.time_format), ("file.csv", TimeFormat::Unix));
        let named = read(Some("a.csv.gz"), "K6_CSV_FILENAME", "b.csv").unwrap();
        assert_eq!(named.file_name, "a.csv.gz");
        let all = "fileName=a.csv,saveInterval=5s,timeFormat=rfc3339";
        let all = read(Some(all), "K6_CSV_TIME_FORMAT", "unix_nano").unwrap();
        assert_eq!(all.time_format, TimeFormat::Rfc3339);
        assert_eq!(all.save_interval.as_deref(), Some("5s"));
    }

    #[test]
    fn what_is_unknown_is_named() {
        for (argument, word, part) in [
            ("fileName=", "unix", "couldn't parse \"fileName=\""),
            ("file_name=a", "unix", "unknown key \"file_name\""),
            ("timeFormat=foo", "unix", "foo does not belong"),
            ("a.csv", "foo", "foo does not belong"),
        ] {
            let error = read(Some(argument), "K6_CSV_TIME_FORMAT", word).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
