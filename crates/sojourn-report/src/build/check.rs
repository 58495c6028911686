//! Checks and assertions of sessions.

use sojourn_metrics::names;

use super::lookup::Lookup;
use crate::model::CheckRow;

/// A row for each check that was made, in the order of their names.
pub(super) fn rows(lookup: &Lookup<'_>) -> Vec<CheckRow> {
    let names = lookup.tag_values(names::CHECKS, &[], names::CHECK);
    let rows = names.into_iter().map(|name| {
        let count = |result: &str| {
            lookup.steady(names::CHECKS, &[(names::CHECK, name), (names::RESULT, result)])
        };
        let (held, failed) = (count(names::CHECK_OK), count(names::CHECK_FAILED));
        CheckRow { name: name.to_owned(), held, failed }
    });
    rows.filter(|row| row.held + row.failed > 0).collect()
}
