//! What is decided outside scripts: outputs, summaries, logs, addresses.

use serde_json::Value;

use crate::{
    flags::{DashboardSettings, RunFlags},
    options::{Environment, Kind, OptionsError, Tier, Wrong},
};

/// How the summary looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryMode {
    /// The default.
    #[default]
    Compact,
    /// With groups and scenarios.
    Full,
    /// As k6 had it before its first version ended.
    Legacy,
    /// None, and no `handleSummary()`.
    Disabled,
}

/// Settings of a run that no script can export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Outputs, as written: `json=FILE`.
    pub out: Vec<String>,
    /// Variables for `__ENV`, of `-e`; the system's are the caller's to add.
    pub env: Vec<(String, String)>,
    /// Whether the system's variables are in `__ENV`; `None`: the command's default.
    pub include_system_env_vars: Option<bool>,
    /// How the summary looks.
    pub summary_mode: SummaryMode,
    /// File for the summary as JSON.
    pub summary_export: Option<String>,
    /// Whether that has the new machine-readable form.
    pub new_machine_readable_summary: bool,
    /// Whether thresholds are left out.
    pub no_thresholds: bool,
    /// Whether the process stays after the run.
    pub linger: bool,
    /// Whether progress is not shown.
    pub quiet: bool,
    /// Whether to say more.
    pub verbose: bool,
    /// Whether colours are off.
    pub no_color: bool,
    /// `base` or `extended`.
    pub compatibility_mode: Option<String>,
    /// `js` or `archive`.
    pub kind: Option<String>,
    /// Where the log goes.
    pub log_output: Option<String>,
    /// The log's form.
    pub log_format: Option<String>,
    /// Where the REST interface listens.
    pub address: Option<String>,
    /// Whether it has the process's own figures.
    pub profiling: bool,
    /// The dashboard that k6's words ask for.
    pub dashboard: Option<DashboardSettings>,
    /// Where secrets come from.
    pub secret_sources: Vec<String>,
    /// Whether exceptions, late generators and void runs fail the run.
    pub strict: bool,
    /// Whether percentiles are those of all samples.
    pub exact_percentiles: bool,
    /// Where the run file of journeys goes.
    pub run_file: Option<String>,
    /// Further reports of journeys.
    pub reports: Vec<String>,
    /// How many threads run the script.
    pub threads: Option<usize>,
    /// What to warn of.
    pub warnings: Vec<String>,
}

impl Settings {
    /// From flags, else variables, else the configuration file (`Value::Null` without one).
    ///
    /// # Errors
    /// A value that is not of its flag's or variable's form.
    pub fn new(
        flags: &RunFlags,
        environment: &Environment,
        config_file: &Value,
    ) -> Result<Self, OptionsError> {
        let sources = Sources { environment, config_file };
        let mut settings = Self {
            out: sources.list(&flags.out, "K6_OUT", "out")?,
            include_system_env_vars: flags.include_system_env_vars,
            summary_export: sources.text(&flags.summary_export, "K6_SUMMARY_EXPORT"),
            new_machine_readable_summary: sources.switch(
                flags.new_machine_readable_summary,
                "K6_NEW_MACHINE_READABLE_SUMMARY",
                "",
            )?,
            no_thresholds: sources.switch(flags.no_thresholds, "K6_NO_THRESHOLDS", "")?,
            linger: sources.switch(flags.linger, "K6_LINGER", "linger")?,
            quiet: flags.quiet.unwrap_or(false),
            verbose: flags.verbose.unwrap_or(false),
            no_color: sources.no_color(flags)?,
            compatibility_mode: sources.text(&flags.compatibility_mode, "K6_COMPATIBILITY_MODE"),
            kind: sources.text(&flags.kind, "K6_TYPE"),
            log_output: sources.text(&flags.log_output, "K6_LOG_OUTPUT"),
            log_format: sources.text(&flags.log_format, "K6_LOG_FORMAT"),
            address: sources.text(&flags.address, "K6_ADDRESS"),
            profiling: sources.switch(flags.profiling_enabled, "K6_PROFILING_ENABLED", "")?,
            secret_sources: flags.secret_source.clone(),
            strict: flags.strict,
            exact_percentiles: flags.exact_percentiles,
            run_file: flags.run_file.clone(),
            reports: flags.report.clone(),
            threads: flags.threads,
            ..Self::default()
        };
        for pair in &flags.env {
            settings.env.push(variable(pair)?);
        }
        let mut warnings = sources.without_effect(flags)?;
        settings.dashboard =
            DashboardSettings::take(&mut settings.out, environment, &mut warnings)?;
        settings.warnings = warnings;
        settings.read_summary_mode(flags, &sources)?;
        Ok(settings)
    }

    fn read_summary_mode(
        &mut self,
        flags: &RunFlags,
        sources: &Sources<'_>,
    ) -> Result<(), OptionsError> {
        let written = sources.text(&flags.summary_mode, "K6_SUMMARY_MODE");
        self.summary_mode = match written.as_deref() {
            None | Some("compact") => SummaryMode::Compact,
            Some("full") => SummaryMode::Full,
            Some("legacy") => SummaryMode::Legacy,
            Some("disabled") => SummaryMode::Disabled,
            Some(other) => {
                let problem = format!("`{other}` is none of compact, full, legacy and disabled");
                return Err(Wrong::new(problem).at(Tier::Flags, "--summary-mode"));
            }
        };
        if sources.switch(flags.no_summary, "K6_NO_SUMMARY", "")? {
            self.summary_mode = SummaryMode::Disabled;
        }
        Ok(())
    }
}

impl RunFlags {
    /// Where the configuration file is, if one was named (`-c`, `K6_CONFIG`).
    pub fn config_path(&self, environment: &Environment) -> Option<String> {
        Sources { environment, config_file: &Value::Null }.text(&self.config, "K6_CONFIG")
    }
}

/// `NAME=VALUE`, or a name alone: empty.
fn variable(pair: &str) -> Result<(String, String), OptionsError> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty()
        || name.starts_with(|c: char| c.is_ascii_digit())
        || !name.chars().all(is_part)
    {
        let wrong = Wrong::new(format!("invalid environment variable name '{name}'"));
        return Err(wrong.at(Tier::Flags, "--env"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// The feature that nobody has to ask for: `group()` takes asynchronous functions.
const IS_ALWAYS_ON: &str = "async-metric-context";

/// Where a setting comes from when its flag is not given.
struct Sources<'a> {
    environment: &'a Environment,
    config_file: &'a Value,
}

impl Sources<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    fn text(&self, flag: &Option<String>, variable: &str) -> Option<String> {
        flag.clone().or_else(|| self.variable(variable).map(String::from))
    }

    fn switch(&self, flag: Option<bool>, variable: &str, key: &str) -> Result<bool, OptionsError> {
        if let Some(on) = flag {
            return Ok(on);
        }
        if let Some(text) = self.variable(variable) {
            return bool::from_text(text).map_err(|wrong| wrong.at(Tier::Environment, variable));
        }
        match self.config_file.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(value) => bool::from_json(value).map_err(|wrong| wrong.at(Tier::ConfigFile, key)),
        }
    }

    fn list(
        &self,
        flag: &[String],
        variable: &str,
        key: &str,
    ) -> Result<Vec<String>, OptionsError> {
        if !flag.is_empty() {
            return Ok(flag.to_vec());
        }
        if let Some(text) = self.variable(variable) {
            return Ok(text.split(',').map(String::from).collect());
        }
        match self.config_file.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(list) => Vec::from_json(list).map_err(|wrong| wrong.at(Tier::ConfigFile, key)),
        }
    }

    /// What is asked for and changes nothing here, a sentence each: nobody is to wait for it.
    fn without_effect(&self, flags: &RunFlags) -> Result<Vec<String>, OptionsError> {
        let mut warnings = Vec::new();
        let is_profiled = self.switch(flags.profiling_enabled, "K6_PROFILING_ENABLED", "")?;
        if is_profiled && self.text(&flags.address, "K6_ADDRESS").is_none() {
            warnings.push(
                "--profiling-enabled (K6_PROFILING_ENABLED) has no effect without --address: the \
                 process's own figures are on the REST interface"
                    .to_owned(),
            );
        }
        let traces = self.text(&flags.traces_output, "K6_TRACES_OUTPUT");
        if let Some(traces) = traces.filter(|to| to != "none") {
            let to = traces.split('=').next().unwrap_or_default();
            warnings.push(format!(
                "--traces-output {to} (K6_TRACES_OUTPUT) has no effect: no traces are made"
            ));
        }
        // Of features alone several may stand in one word.
        for feature in
            self.list(&flags.features, "K6_FEATURES", "")?.iter().flat_map(|it| it.split(','))
        {
            if ![IS_ALWAYS_ON, ""].contains(&feature) {
                warnings.push(format!("--features {feature} (K6_FEATURES) has no effect"));
            }
        }
        Ok(warnings)
    }

    /// `NO_COLOR` counts by being there.
    fn no_color(&self, flags: &RunFlags) -> Result<bool, OptionsError> {
        let by_word = self.variable("NO_COLOR").is_some();
        Ok(self.switch(flags.no_color, "K6_NO_COLOR", "")? || by_word)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        run: RunFlags,
    }

    fn flags(words: &[&str]) -> RunFlags {
        Cli::try_parse_from([&["k6"], words].concat()).expect("flags").run
    }

    fn settings(words: &[&str]) -> Result<Settings, String> {
        Settings::new(&flags(words), &Environment::new(), &Value::Null)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_of_several_wins_and_lists_gather() {
        let flags =
            flags(&["-d", "5s", "-d9s", "-u=3", "--throw=false", "-w", "-s", "1s:2", "-s", "3s:4"]);
        assert_eq!(flags.duration.as_deref(), Some("9s"));
        assert_eq!((flags.vus.as_deref(), flags.throw), (Some("3"), Some(true)));
        assert_eq!(flags.options().expect("options").stages.map(|stages| stages.len()), Some(2));
    }

    #[test]
    fn variables_and_outputs_are_not_cut_at_commas() {
        let given = settings(&["-e", "A=b,C=d=e", "-e", "F", "-o", "json=a,csv=b", "-o", "csv"]);
        let given = given.expect("settings");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(given.env, [pair("A", "b,C=d=e"), pair("F", "")]);
        assert_eq!(given.out, ["json=a,csv=b", "csv"]);
        for name in ["=x", "1A=b", "A-B=c"] {
            assert!(settings(&["-e", name]).is_err(), "{name}");
        }
    }

    #[test]
    fn what_changes_nothing_is_said_once_for_each() {
        let warned = |words: &[&str], variables: &[(&str, &str)]| {
            let environment =
                variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            let environment: Environment = environment.collect();
            let given = Settings::new(&flags(words), &environment, &Value::Null).expect("settings");
            given.warnings
        };
        assert_eq!(warned(&[], &[]), [""; 0]);
        let quiet = ["--traces-output=none", "--profiling-enabled=false"];
        let always = [("K6_FEATURES", "async-metric-context")];
        assert_eq!(warned(&quiet, &always), [""; 0]);
        let words = [
            "--profiling-enabled",
            "--traces-output=otel=http://me:secret@x",
            "--features=freeze-env",
        ];
        let by_words = warned(&words, &[]);
        let variables = [
            ("K6_PROFILING_ENABLED", "true"),
            ("K6_TRACES_OUTPUT", "otel"),
            ("K6_FEATURES", "freeze-env"),
        ];
        assert_eq!(warned(&[], &variables), by_words);
        assert_eq!(by_words.len(), 3, "{by_words:?}");
        for (warning, word) in
            by_words.iter().zip(["--profiling", "--traces-output otel", "freeze"])
        {
            assert!(warning.contains(word) && warning.contains("has no effect"), "{warning}");
            assert!(!warning.contains("secret"), "{warning}");
        }
    }

    #[test]
    fn flags_are_stronger_than_variables_and_those_than_the_file() {
        let file = serde_json::json!({"linger": true, "out": ["csv"]});
        let environment: Environment = [("K6_OUT", "json=a,csv=b"), ("K6_SUMMARY_MODE", "full")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let given = |words: &[&str], environment: &Environment| {
            Settings::new(&flags(words), environment, &file).expect("settings")
        };
        let plain = given(&[], &Environment::new());
        assert_eq!((plain.linger, plain.out), (true, vec!["csv".to_owned()]));
        let by_variables = given(&["--linger=false"], &environment);
        assert_eq!(by_variables.summary_mode, SummaryMode::Full);
        assert_eq!((by_variables.linger, by_variables.out.len()), (false, 2));
        let by_flags = given(&["--summary-mode=legacy", "-o", "json=c"], &environment);
        assert_eq!(by_flags.summary_mode, SummaryMode::Legacy);
        assert_eq!(by_flags.out, ["json=c"]);
    }
}
