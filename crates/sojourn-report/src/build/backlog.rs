//! Backlogs read from the brokers.

use sojourn_metrics::{SeriesKey, names};

use super::lookup::Lookup;
use crate::model::BacklogRow;

/// A row for each figure of each consumer, in the order of channels and names.
pub(super) fn rows(lookup: &Lookup<'_>) -> Vec<BacklogRow> {
    let keys = lookup.run.store.series().map(|(key, _)| key);
    let mut rows: Vec<BacklogRow> = keys
        .filter(|key| key.metric == names::BACKLOG)
        .filter_map(|key| {
            let (last, _, max) = lookup.run.store.gauge(key)?;
            let [channel, of, figure] = tags(key)?.map(str::to_owned);
            Some(BacklogRow { channel, of, figure, max, last })
        })
        .collect();
    rows.sort_by(|a, b| (&a.channel, &a.of, &a.figure).cmp(&(&b.channel, &b.of, &b.figure)));
    rows
}

/// Channel, consumer and figure of a backlog's series.
fn tags(key: &SeriesKey) -> Option<[&str; 3]> {
    Some([key.tag(names::CHANNEL)?, key.tag(names::OF)?, key.tag(names::FIGURE)?])
}
