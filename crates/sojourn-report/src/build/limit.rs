//! Limits and what came of them.

use sojourn_metrics::names;

use super::lookup::Lookup;
use crate::model::LimitRow;

/// A row for each limit, in the order of their names.
pub(super) fn rows(lookup: &Lookup<'_>) -> Vec<LimitRow> {
    let names = lookup.tag_values(names::LIMIT_COUNTED, &[], names::LIMIT);
    names.into_iter().flat_map(|name| row(lookup, name)).collect()
}

fn row(lookup: &Lookup<'_>, name: &str) -> Option<LimitRow> {
    let of = (names::LIMIT, name);
    let declared = lookup.tag_values(names::LIMIT_COUNTED, &[of], names::WHAT);
    let declared = *declared.first()?;
    let tags = [of, (names::WHAT, declared)];
    let gauge = |metric: &str| lookup.gauge(metric, &tags);
    let ns = |value: f64, unit: f64| (value * unit).round() as u64;
    Some(LimitRow {
        name: name.to_owned(),
        declared: declared.to_owned(),
        counted: lookup.whole(names::LIMIT_COUNTED, &tags),
        most: gauge(names::LIMIT_MOST).map_or(0.0, |(_, _, max)| max),
        violations: lookup.whole(names::LIMIT_VIOLATIONS, &tags),
        first_ns: gauge(names::LIMIT_FIRST_S).map(|(_, min, _)| ns(min, 1e9)),
        early_ns: gauge(names::LIMIT_EARLY_MS).map(|(_, _, max)| ns(max, 1e6)),
        unfinished: lookup.whole(names::LIMIT_UNFINISHED, &tags),
    })
}
