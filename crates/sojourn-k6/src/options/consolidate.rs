//! One set of options from four: stronger tiers win, shortcuts become scenarios.

use crate::{
    duration::Nanos,
    executors::{ExecutorKind, Requirements, Scenario, requirements},
    options::{Options, OptionsError, ScenarioOptions, Scenarios, SystemTags, Table, Tier},
};

/// What was given, by where it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tiers {
    /// The JSON file of `-c`.
    pub config_file: Options,
    /// What the script exports.
    pub script: Options,
    /// Variables.
    pub environment: Options,
    /// Flags.
    pub flags: Options,
}

/// Everything decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consolidated {
    /// All options, shortcuts made scenarios.
    pub options: Options,
    /// The plans, by start time, then by name.
    pub scenarios: Vec<Scenario>,
    /// What to warn of.
    pub warnings: Vec<String>,
}

impl Consolidated {
    /// Which exported functions must exist, each once.
    pub fn exec_names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.scenarios.iter().map(|s| s.exec.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What the scenarios need together.
    pub fn requirements(&self) -> Requirements {
        requirements(&self.scenarios)
    }
}

/// Makes one set of options.
///
/// # Errors
/// Shortcuts of one tier that exclude each other, and values that make no sense.
pub fn consolidate(tiers: Tiers) -> Result<Consolidated, OptionsError> {
    let mut options = Options::default();
    let mut warnings = Vec::new();
    let ordered = [
        (Tier::ConfigFile, tiers.config_file),
        (Tier::Script, tiers.script),
        (Tier::Environment, tiers.environment),
        (Tier::Flags, tiers.flags),
    ];
    for (tier, stronger) in ordered {
        check_conflicts(tier, &stronger)?;
        if tells_what_runs(&stronger) {
            options.duration = None;
            options.iterations = None;
            options.stages = None;
            options.scenarios = None;
        }
        options.overlay(stronger);
    }
    derive_scenarios(&mut options, &mut warnings);
    let scenarios = plans(&options)?;
    Ok(Consolidated { options, scenarios, warnings })
}

fn tells_what_runs(options: &Options) -> bool {
    options.duration.is_some()
        || options.iterations.is_some()
        || options.stages.is_some()
        || options.scenarios.is_some()
}

fn check_conflicts(tier: Tier, options: &Options) -> Result<(), OptionsError> {
    let given = [
        ("iterations", options.iterations.is_some()),
        ("duration", options.duration.is_some()),
        ("stages", options.stages.is_some()),
        ("scenarios", options.scenarios.is_some()),
    ];
    let conflicts = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for (first, second) in conflicts {
        if given[first].1 && given[second].1 {
            let (first, second) = (given[first].0, given[second].0);
            return Err(OptionsError::Conflict { tier, first, second });
        }
    }
    Ok(())
}

/// Puts a scenario `default` in place of the shortcuts.
fn derive_scenarios(options: &mut Options, _warnings: &mut Vec<String>) {
    if options.scenarios.is_some() {
        return;
    }
    let scenario = if let Some(iterations) = options.iterations {
        ScenarioOptions {
            vus: options.vus,
            iterations: Some(iterations),
            max_duration: options.duration,
            ..ScenarioOptions::new(ExecutorKind::SharedIterations)
        }
    } else if let Some(duration) = options.duration {
        ScenarioOptions {
            vus: options.vus,
            duration: Some(duration),
            ..ScenarioOptions::new(ExecutorKind::ConstantVus)
        }
    } else if let Some(stages) = &options.stages {
        ScenarioOptions {
            start_vus: options.vus,
            stages: Some(stages.clone()),
            ..ScenarioOptions::new(ExecutorKind::RampingVus)
        }
    } else if let Some(vus) = options.vus {
        ScenarioOptions {
            vus: Some(vus),
            iterations: Some(vus),
            ..ScenarioOptions::new(ExecutorKind::SharedIterations)
        }
    } else {
        ScenarioOptions {
            vus: Some(1),
            iterations: Some(1),
            ..ScenarioOptions::new(ExecutorKind::PerVuIterations)
        }
    };
    let scenarios = [("default".to_owned(), scenario)];
    options.scenarios = Some(Scenarios(scenarios.into()));
}

/// The plans of all scenarios.
fn plans(options: &Options) -> Result<Vec<Scenario>, OptionsError> {
    let mut problems = Vec::new();
    let mut plans = Vec::new();
    for (name, written) in options.scenarios.iter().flat_map(|scenarios| &scenarios.0) {
        match Scenario::plan(name, written) {
            Ok(plan) => plans.push(plan),
            Err(texts) => {
                let texts = texts.into_iter();
                problems.extend(texts.map(|text| format!("scenario {name}: {text}")));
            }
        }
    }
    if !problems.is_empty() {
        return Err(OptionsError::Senseless(problems));
    }
    // By name already: the sort is stable.
    plans.sort_by_key(|plan| plan.start_time_ns);
    Ok(plans)
}

/// What holds where nothing was given.
impl Options {
    /// How long `setup()` may take.
    pub fn setup_timeout_or_default(&self) -> Nanos {
        self.setup_timeout.unwrap_or(Nanos::from_s(60))
    }

    /// How long `teardown()` may take.
    pub fn teardown_timeout_or_default(&self) -> Nanos {
        self.teardown_timeout.unwrap_or(Nanos::from_s(60))
    }

    /// How long `handleSummary()` may take.
    pub fn handle_summary_timeout_or_default(&self) -> Nanos {
        self.handle_summary_timeout.unwrap_or(Nanos::from_s(120))
    }

    /// Which system tags are set.
    pub fn system_tags_or_default(&self) -> SystemTags {
        self.system_tags.clone().unwrap_or_default()
    }

    /// How many redirects are followed.
    pub fn max_redirects_or_default(&self) -> u64 {
        self.max_redirects.map_or(10, |most| u64::try_from(most).unwrap_or(0))
    }

    /// How many requests of one batch at once.
    pub fn batch_or_default(&self) -> u64 {
        self.batch.map_or(20, |most| u64::try_from(most).unwrap_or(0))
    }

    /// How many of them to one host.
    pub fn batch_per_host_or_default(&self) -> u64 {
        self.batch_per_host.map_or(6, |most| u64::try_from(most).unwrap_or(0))
    }
}
