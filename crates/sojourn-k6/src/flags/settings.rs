//! What is decided outside scripts: outputs, summaries, logs, addresses.

use serde_json::Value;

use crate::{
    flags::RunFlags,
    options::{Environment, Kind, OptionsError, Tier, Wrong, name_and_value},
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
    /// Whether it has profiles.
    pub profiling_enabled: bool,
    /// Features to switch on.
    pub features: Vec<String>,
    /// Where traces go.
    pub traces_output: Option<String>,
    /// Where secrets come from.
    pub secret_sources: Vec<String>,
    /// Whether exceptions, late generators and void runs fail the run.
    pub strict: bool,
    /// Whether percentiles are those of all samples.
    pub exact_percentiles: bool,
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
            profiling_enabled: sources.switch(
                flags.profiling_enabled,
                "K6_PROFILING_ENABLED",
                "",
            )?,
            features: sources.list(&flags.features, "K6_FEATURES", "")?,
            traces_output: sources.text(&flags.traces_output, "K6_TRACES_OUTPUT"),
            secret_sources: flags.secret_source.clone(),
            strict: flags.strict,
            exact_percentiles: flags.exact_percentiles,
            threads: flags.threads,
            ..Self::default()
        };
        for pair in &flags.env {
            settings.env.push(variable(pair, environment)?);
        }
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

/// `NAME=VALUE`, or a name whose value the environment has.
fn variable(pair: &str, environment: &Environment) -> Result<(String, String), OptionsError> {
    if pair.contains('=') {
        return name_and_value(pair).map_err(|wrong| wrong.at(Tier::Flags, "--env"));
    }
    let value = environment.get(pair).cloned().unwrap_or_default();
    Ok((pair.to_owned(), value))
}

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
            return Ok(flag.iter().flat_map(|text| text.split(',')).map(String::from).collect());
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

    /// `NO_COLOR` counts by being there.
    fn no_color(&self, flags: &RunFlags) -> Result<bool, OptionsError> {
        let by_word = self.variable("NO_COLOR").is_some();
        Ok(self.switch(flags.no_color, "K6_NO_COLOR", "")? || by_word)
    }
}
