//! Variables: k6's own, and what scripts find in `__ENV`.

use std::collections::BTreeMap;

use sojourn_k6::flags::Settings;
use sojourn_k6::options::Environment;

use crate::shelf::Shelf;

/// The variables that came from a coordinator, or else those of this process.
pub(super) fn of(shelf: &Shelf) -> Environment {
    let Shelf::Sent(parcel) = shelf else { return of_process() };
    let sent = parcel.variables.iter();
    sent.filter_map(|(name, value)| Some((name.clone(), value.clone()?))).collect()
}

/// The variables of this process that are text.
pub(super) fn of_process() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// What scripts find: the process's variables unless switched off, and those given by flags.
pub(super) fn of_script(
    environment: &Environment,
    settings: &Settings,
    is_included: bool,
) -> BTreeMap<String, String> {
    let is_included = settings.include_system_env_vars.unwrap_or(is_included);
    let mut env = if is_included { environment.clone() } else { BTreeMap::new() };
    env.extend(settings.env.iter().cloned());
    env
}
