//! Options into settings, thresholds into submetrics.

use std::sync::{Arc, Mutex, PoisonError};

use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::metrics::{Registry, SystemTags};
use sojourn_k6::options::Consolidated;
use sojourn_k6::thresholds::{Spec, Thresholds};

use super::client;
use super::collect::Collected;
use super::journeys;
use super::test::RunError;
use crate::settings::{Counters, Role, Settings};

/// What a test is run with, and its thresholds. Errs when a function is missing that a scenario
/// calls, and when a threshold or metric is wrong.
pub(super) fn settle(
    collected: Collected,
    consolidated: &Consolidated,
    system_tags: SystemTags,
    no_thresholds: bool,
    role: Role,
) -> Result<(Arc<Settings>, Thresholds), RunError> {
    let invalid = |message: String| RunError::new(ExitCode::InvalidConfig, message);
    for name in consolidated.exec_names() {
        if !collected.functions.iter().any(|known| known == name) {
            return Err(invalid(format!("function '{name}' not found in exports")));
        }
    }
    let mut settings = collected.settings;
    settings.options = consolidated.options.clone();
    settings.tls = client::tls(&settings.options).map_err(invalid)?;
    settings.options_json = consolidated.options.to_json().to_string();
    settings.scenarios = consolidated.scenarios.clone();
    settings.users = consolidated.users.clone();
    settings.system_tags = system_tags;
    settings.role = role;
    settings.counters = settings.scenarios.iter().map(|_| Counters::default()).collect();
    settings.functions = collected.functions;
    let (registry, thresholds) = thresholds(&settings, consolidated, no_thresholds)?;
    settings.registry = Arc::new(Mutex::new(registry));
    Ok((Arc::new(settings), thresholds))
}

/// That thresholds can be read, and are of metrics that there are.
pub fn check_thresholds(
    collected: &Collected,
    consolidated: &Consolidated,
) -> Result<(), RunError> {
    thresholds(&collected.settings, consolidated, false).map(|_| ())
}

/// The script's metrics with submetrics for thresholds, and those.
fn thresholds(
    settings: &Settings,
    consolidated: &Consolidated,
    no_thresholds: bool,
) -> Result<(Registry, Thresholds), RunError> {
    let invalid = |message: String| RunError::new(ExitCode::InvalidConfig, message);
    let given = consolidated.options.thresholds.iter().flat_map(|given| &given.0);
    let specs = given.filter(|_| !no_thresholds).map(|(metric, conditions)| {
        let spec = |condition: &sojourn_k6::options::ThresholdOption| Spec {
            text: condition.threshold.clone(),
            abort_on_fail: condition.abort_on_fail,
            delay_abort_ns: condition.delay_abort_eval.map_or(0, |delay| delay.ns()),
        };
        (metric.clone(), conditions.iter().map(spec).collect())
    });
    let mut registry = settings.registry.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if !settings.journeys.declared().is_empty() {
        journeys::declare_metrics(&mut registry).map_err(invalid)?;
    }
    let thresholds =
        Thresholds::new(&mut registry, specs).map_err(|error| invalid(error.to_string()))?;
    Ok((registry, thresholds))
}
