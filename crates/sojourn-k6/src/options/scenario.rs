//! Scenarios as written, and the plan that one of them means.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    duration::Nanos,
    executors::ExecutorKind,
    options::{
        error::Wrong,
        stages::Stage,
        table::{Kind, Table, object, table},
        values::Tags,
    },
};

table! {
    /// One scenario as written: the fields of every executor, `None` where nothing was given.
    /// Fields that its executor does not know are errors, so they are `None` here.
    pub struct ScenarioOptions {
        /// Which executor.
        executor: ExecutorKind = "executor";
        /// How long after the run's start it begins; 0.
        start_time: Nanos = "startTime";
        /// How long iterations may go on after its end; 30 s.
        graceful_stop: Nanos = "gracefulStop";
        /// Added to `__ENV` while it runs.
        env: Tags = "env";
        /// Which exported function; `default`.
        exec: String = "exec";
        /// Tags of its samples.
        tags: Tags = "tags";
        /// Settings of the browser.
        options: Value = "options";
        /// How many virtual users; 1.
        vus: i64 = "vus";
        /// How many iterations, in all or of each user; 1.
        iterations: i64 = "iterations";
        /// How long it takes, grace apart.
        duration: Nanos = "duration";
        /// How long it takes at most, grace apart; 10 minutes.
        max_duration: Nanos = "maxDuration";
        /// Virtual users at the start of a ramp; 1.
        start_vus: i64 = "startVUs";
        /// Iterations per `timeUnit` at the start of a ramp; 0.
        start_rate: i64 = "startRate";
        /// Iterations per `timeUnit`.
        rate: i64 = "rate";
        /// What rates are counted by; 1 s.
        time_unit: Nanos = "timeUnit";
        /// The ramp.
        stages: Vec<Stage> = "stages";
        /// How long iterations may go on after their user was ramped down; 30 s.
        graceful_ramp_down: Nanos = "gracefulRampDown";
        /// Virtual users made before the start.
        pre_allocated_vus: i64 = "preAllocatedVUs";
        /// Most virtual users.
        max_vus: i64 = "maxVUs";
    }
}

/// Fields of every executor, in the order in which k6 shows them.
const COMMON: &[&str] =
    &["executor", "startTime", "gracefulStop", "env", "exec", "tags", "options"];

impl ScenarioOptions {
    /// Of this executor, with nothing else given.
    pub fn new(kind: ExecutorKind) -> Self {
        Self { executor: Some(kind), ..Self::default() }
    }
}

impl Kind for ScenarioOptions {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let entries = object(value, "an object with an executor")?;
        let mut scenario = Self::default();
        let written = entries.iter().find(|(key, _)| key.eq_ignore_ascii_case("executor"));
        let Some((key, name)) = written else {
            return Err(Wrong::new("no `executor` is given"));
        };
        scenario.read_entry(key, name)?;
        let Some(kind) = scenario.executor else {
            return Err(Wrong::new("no `executor` is given"));
        };
        for (key, value) in entries {
            let knows = |known: &&str| known.eq_ignore_ascii_case(key);
            if !COMMON.iter().any(knows) && !kind.keys().iter().any(knows) {
                let problem = format!("unknown field `{key}` for executor {}", kind.name());
                return Err(Wrong::new(problem));
            }
            scenario.read_entry(key, value)?;
            if key.eq_ignore_ascii_case("stages") {
                only_stage_keys(value)?;
            }
            if key.eq_ignore_ascii_case("options") {
                only_browser(value)?;
            }
        }
        Ok(scenario)
    }

    fn to_json(&self) -> Value {
        let own = self.executor.map_or(&[][..], ExecutorKind::keys);
        let keys = COMMON.iter().chain(own);
        let keys = keys.filter(|key| **key != "options" || self.options.is_some());
        keys.map(|key| ((*key).to_owned(), self.entry(key))).collect()
    }
}

/// A scenario's `options` are those of the browser.
fn only_browser(options: &Value) -> Result<(), Wrong> {
    let mut keys = options.as_object().into_iter().flat_map(|options| options.keys());
    match keys.find(|key| !key.eq_ignore_ascii_case("browser")) {
        Some(key) => Err(Wrong::new(format!("unknown field `{key}`")).within("options")),
        None => Ok(()),
    }
}

/// Within scenarios, unknown fields of stages are errors too.
fn only_stage_keys(stages: &Value) -> Result<(), Wrong> {
    let stages = stages.as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, stage) in stages.iter().enumerate() {
        let mut keys = stage.as_object().into_iter().flat_map(|stage| stage.keys());
        let is_known =
            |key: &&String| Stage::KEYS.iter().any(|known| known.eq_ignore_ascii_case(key));
        if let Some(key) = keys.find(|key| !is_known(key)) {
            return Err(Wrong::new(format!("unknown field `{key}`")).within(at).within("stages"));
        }
    }
    Ok(())
}

/// Scenarios by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenarios(pub BTreeMap<String, ScenarioOptions>);

impl Kind for Scenarios {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let mut scenarios = BTreeMap::new();
        for (name, scenario) in object(value, "an object of scenarios by name")? {
            let scenario = ScenarioOptions::from_json(scenario).map_err(|w| w.within(name))?;
            scenarios.insert(name.clone(), scenario);
        }
        Ok(Self(scenarios))
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|(name, scenario)| (name.clone(), scenario.to_json())).collect()
    }
}
