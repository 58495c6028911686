//! Every counter of a run, and how many samples each distribution has, against what the log says.

use std::collections::BTreeMap;

use sojourn_metrics::{Figure, SeriesKey, SeriesPhase};
use sojourn_record::RunFile;

/// Counters, and trends by their number of samples; zeros left out.
pub(crate) type Counts = BTreeMap<SeriesKey, u64>;

/// What happens to depend on connections, not on journeys.
const NOT_OF_JOURNEYS: [&str; 4] =
    ["step.dns", "step.connect", "step.tls", "health.connections_opened"];

pub(crate) fn key(metric: &str, tags: &[(&str, &str)], phase: SeriesPhase) -> SeriesKey {
    SeriesKey::new(metric, tags, phase)
}

pub(crate) fn count(counts: &mut Counts, key: SeriesKey, n: u64) {
    if n > 0 {
        *counts.entry(key).or_default() += n;
    }
}

/// No counter may differ, and none may be there that the log does not explain: no orphan, no refusal,
/// no re-read, no failed request.
pub(crate) fn compare(run: &RunFile, expected: &Counts) {
    let measured: Counts = run
        .store
        .figures()
        .filter(|(key, _)| !NOT_OF_JOURNEYS.contains(&key.metric.as_str()))
        .filter_map(|(key, figure)| match figure {
            Figure::Counter(n) => Some((key.clone(), *n)),
            Figure::Trend(histogram) => Some((key.clone(), histogram.count())),
            _ => None,
        })
        .filter(|(_, n)| *n > 0)
        .collect();
    let keys: std::collections::BTreeSet<_> = measured.keys().chain(expected.keys()).collect();
    let of = |counts: &Counts, key: &SeriesKey| counts.get(key).copied().unwrap_or(0);
    let differences: Vec<String> = keys
        .into_iter()
        .filter(|key| of(&measured, key) != of(expected, key))
        .map(|key| format!("{key}: log {}, ledger {}", of(expected, key), of(&measured, key)))
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
