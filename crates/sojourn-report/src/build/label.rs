//! A journey's figures by label.

use sojourn_analysis::fairness::{self, Label};
use sojourn_metrics::names;
use sojourn_record::JourneyShape;

use super::{figures::distribution, lookup::Lookup};
use crate::model::{LabelReport, LabelRow};

/// `None` for a journey without labels.
pub(super) fn report(lookup: &Lookup<'_>, shape: &JourneyShape) -> Option<LabelReport> {
    let journey = [(names::JOURNEY, shape.name.as_str())];
    let labels = lookup.tag_values(names::LABEL_ENDED, &journey, names::LABEL);
    let row = |label: &str| row(lookup, &shape.name, label);
    let mut rows: Vec<LabelRow> =
        labels.into_iter().map(row).filter(|row| row.started > 0).collect();
    if rows.is_empty() {
        return None;
    }
    let p50 = |row: &LabelRow| row.duration_ns.map_or(i64::MAX, |duration_ns| duration_ns.p50);
    rows.sort_by_key(|row| std::cmp::Reverse(p50(row)));
    // Those beyond the bound are nobody's in particular.
    let told_apart = rows.iter().filter(|row| row.label != names::OTHER_LABELS);
    let compared: Vec<Label> = told_apart.map(compared).collect();
    Some(LabelReport { fairness: fairness::fairness(&compared), rows })
}

fn row(lookup: &Lookup<'_>, journey: &str, label: &str) -> LabelRow {
    let tags = [(names::JOURNEY, journey), (names::LABEL, label)];
    let ended =
        |class: &str| lookup.steady(names::LABEL_ENDED, &[tags[0], tags[1], (names::CLASS, class)]);
    let mut row = LabelRow {
        label: label.to_owned(),
        started: 0,
        completed: ended("completed"),
        late: ended("late"),
        lost: ended("lost"),
        failed: ended("failed"),
        root_failed: ended("root_failed"),
        in_flight_at_cutoff: ended("in_flight_at_cutoff"),
        duration_ns: distribution(lookup.trend(names::LABEL_DURATION, &tags)),
    };
    let LabelRow { completed, late, lost, failed, root_failed, in_flight_at_cutoff, .. } = row;
    row.started = completed + late + lost + failed + root_failed + in_flight_at_cutoff;
    row
}

fn compared(row: &LabelRow) -> Label {
    Label {
        name: row.label.clone(),
        ended: row.started - row.in_flight_at_cutoff,
        completed: row.completed + row.late,
        mean_ns: row.duration_ns.map(|duration_ns| duration_ns.mean),
        stddev_ns: row.duration_ns.map_or(0.0, |duration_ns| duration_ns.stddev),
    }
}
