//! One set of options from four: stronger tiers win, shortcuts become scenarios.

use serde_json::Value;

use crate::{
    duration::Nanos,
    executors::{ExecutorKind, Requirements, Scenario, Segments, Stripes, requirements},
    options::{Kind, Options, OptionsError, ScenarioOptions, Scenarios, SystemTags, Table},
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
    /// The same with the shortcuts as they were given.
    pub written: Options,
    /// The plans, by start time, then by name.
    pub scenarios: Vec<Scenario>,
    /// Which users are this process's, of those of all segments: its `n`-th user (from 1) has the
    /// number `users.number(n - 1) + 1` in the whole test.
    pub users: Stripes,
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

    /// That every function which a scenario runs is there; `is_exported` knows the script's.
    ///
    /// # Errors
    /// The scenarios whose function is missing.
    pub fn check_exports(&self, is_exported: impl Fn(&str) -> bool) -> Result<(), OptionsError> {
        let missing = self.scenarios.iter().filter(|scenario| !is_exported(&scenario.exec));
        let problems: Vec<_> = missing
            .map(|scenario| {
                let Scenario { name, exec, .. } = scenario;
                format!("executor {name}: function '{exec}' not found in exports")
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(OptionsError::Senseless(problems)) }
    }

    /// What `k6 inspect --execution-requirements` prints.
    pub fn inspected(&self) -> Value {
        let mut entries = self.options.inspected();
        let needed = self.requirements();
        let duration =
            needed.max_duration_ns.map(|ns| Nanos(i64::try_from(ns).unwrap_or(i64::MAX)));
        entries.insert("totalDuration".to_owned(), duration.unwrap_or_default().to_json());
        entries.insert("maxVUs".to_owned(), needed.max_vus.into());
        Value::Object(entries)
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
        ("config", tiers.config_file),
        ("script", tiers.script),
        ("env", tiers.environment),
        ("cli", tiers.flags),
    ];
    for (level, stronger) in ordered {
        // What a stronger tier lets run takes the place of all that weaker ones do.
        if tells_what_runs(&stronger) {
            options.duration = None;
            options.iterations = None;
            options.stages = None;
            let overrides = options.scenarios.take().is_some() && stronger.scenarios.is_none();
            if overrides {
                warnings.push(format!(
                    "\"{level}\" level configuration overrode scenarios configuration entirely"
                ));
            }
        }
        options.overlay(stronger);
    }
    check_conflicts(&options)?;
    let written = options.clone();
    derive_scenarios(&mut options, &mut warnings)?;
    let (scenarios, users) = plans(&options)?;
    Ok(Consolidated { options, written, scenarios, users, warnings })
}

fn tells_what_runs(options: &Options) -> bool {
    options.duration.is_some()
        || options.iterations.is_some()
        || has_stages(options)
        || options.scenarios.is_some()
}

/// Stages count as given when the first has a duration.
fn has_stages(options: &Options) -> bool {
    let first = options.stages.as_ref().and_then(|stages| stages.first());
    first.is_some_and(|stage| stage.duration.is_some())
}

fn has_scenarios(options: &Options) -> bool {
    options.scenarios.as_ref().is_some_and(|scenarios| !scenarios.0.is_empty())
}

/// Only one tier's are left here.
fn check_conflicts(options: &Options) -> Result<(), OptionsError> {
    let given = [
        ("iterations", options.iterations.is_some()),
        ("duration", options.duration.is_some()),
        ("stages", has_stages(options)),
        ("scenarios", options.scenarios.is_some()),
    ];
    let conflicts = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for (first, second) in conflicts {
        if given[first].1 && given[second].1 {
            return Err(OptionsError::Conflict { first: given[first].0, second: given[second].0 });
        }
    }
    Ok(())
}

/// Puts a scenario `default` in place of the shortcuts.
fn derive_scenarios(options: &mut Options, warnings: &mut Vec<String>) -> Result<(), OptionsError> {
    let scenario = if let Some(iterations) = options.iterations {
        ScenarioOptions {
            vus: options.vus,
            iterations: Some(iterations),
            max_duration: options.duration,
            ..ScenarioOptions::new(ExecutorKind::SharedIterations)
        }
    } else if let Some(duration) = options.duration {
        if duration.0 <= 0 {
            return Err(OptionsError::Endless);
        }
        ScenarioOptions {
            vus: options.vus,
            duration: Some(duration),
            ..ScenarioOptions::new(ExecutorKind::ConstantVus)
        }
    } else if has_stages(options) {
        ScenarioOptions {
            start_vus: options.vus,
            stages: options.stages.clone(),
            ..ScenarioOptions::new(ExecutorKind::RampingVus)
        }
    } else if let (Some(vus), None) = (options.vus, &options.stages) {
        if options.scenarios.is_some() {
            warnings.push(format!("`vus={vus}` overrides scenarios configuration"));
        }
        options.iterations = Some(vus);
        ScenarioOptions {
            vus: Some(vus),
            iterations: Some(vus),
            ..ScenarioOptions::new(ExecutorKind::SharedIterations)
        }
    } else if has_scenarios(options) {
        return Ok(());
    } else {
        for (name, given) in
            [("stages", options.stages.is_some()), ("scenarios", options.scenarios.is_some())]
        {
            if given {
                warnings.push(format!(
                    "`{name}` was explicitly set to an empty value, running the script with \
                     1 iteration in 1 VU"
                ));
            }
        }
        ScenarioOptions::new(ExecutorKind::PerVuIterations)
    };
    options.scenarios = Some(Scenarios([("default".to_owned(), scenario)].into()));
    Ok(())
}

/// The plans of all scenarios, and whose users are whose.
fn plans(options: &Options) -> Result<(Vec<Scenario>, Stripes), OptionsError> {
    let mut problems = options.problems();
    let mut plans = Vec::new();
    let segments = options.segments(&mut problems);
    for (name, written) in options.scenarios.iter().flat_map(|scenarios| &scenarios.0) {
        match Scenario::plan(name, written) {
            Ok(plan) => plans.push(match &segments {
                Some(segments) => plan.striped(segments),
                None => plan,
            }),
            Err(texts) => {
                let texts = texts.join(", ");
                problems.push(format!("scenario {name} has configuration errors: {texts}"));
            }
        }
    }
    if !problems.is_empty() {
        return Err(OptionsError::Senseless(problems));
    }
    // By name already: the sort is stable.
    plans.sort_by_key(|plan| plan.start_time_ns);
    let users = segments.map_or_else(Stripes::default, |segments| segments.own().clone());
    Ok((plans, users))
}

impl Options {
    /// What makes no sense outside scenarios.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.setup_timeout.is_some_and(|timeout| timeout.0 <= 0) {
            problems.push("setupTimeout must be positive".to_owned());
        }
        for stat in self.summary_trend_stats.iter().flatten() {
            if !is_trend_stat(stat) {
                problems.push(format!("invalid trend stat '{stat}', unknown format"));
            }
        }
        problems
    }
}

impl Options {
    /// How the load is shared with other processes; `None` where it is not.
    fn segments(&self, problems: &mut Vec<String>) -> Option<Segments> {
        let segment = self.execution_segment.unwrap_or_default();
        let sequence = self.execution_segment_sequence.as_ref();
        if self.execution_segment.is_none() && sequence.is_none() {
            return None;
        }
        let segments = Segments::new(segment, sequence);
        let is_in = sequence.is_none_or(|sequence| sequence.0.contains(&segment));
        if !is_in {
            let all = sequence.map(Kind::to_json).unwrap_or_default();
            let all = all.as_str().unwrap_or_default();
            problems.push(format!("provided segment {segment} can't be found in sequence {all}"));
        } else if segments.is_none() {
            problems.push(format!("the segments around {segment} are too fine"));
        }
        segments
    }
}

/// `avg`, `min`, `med`, `max`, `count` or `p(N)` with N from 0 to 100.
fn is_trend_stat(stat: &str) -> bool {
    let percentile = stat.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
    match percentile {
        Some(number) => number.parse::<f64>().is_ok_and(|number| (0.0..=100.0).contains(&number)),
        None => ["avg", "min", "med", "max", "count"].contains(&stat),
    }
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
