//! Which kept journeys the page shows in full, which it lists, and how many it leaves to the JSON
//! report.

use serde::Serialize;
use sojourn_analysis::words;

use super::waterfall::{Row, rows};
use crate::model::KeptJourney;

/// Journeys with a waterfall.
const DRAWN_MAX: usize = 60;
/// Journeys in a list below.
const LISTED_MAX: usize = 300;

/// The kept journeys of one journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct KeptView {
    /// With their waterfalls.
    pub(super) drawn: Vec<KeptRow>,
    /// One line each.
    pub(super) listed: Vec<KeptRow>,
    /// Not on the page.
    pub(super) left_out: usize,
}

/// A kept journey.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct KeptRow {
    pub(super) role: String,
    pub(super) name: String,
    /// `took 25.0 s`, or `not complete after 30.0 s`.
    pub(super) length: String,
    pub(super) started: String,
    pub(super) phase: String,
    pub(super) last_seen: String,
    pub(super) reason: Option<String>,
    pub(super) trace_id: Option<String>,
    pub(super) open: bool,
    pub(super) rows: Vec<Row>,
}

pub(super) fn view(kept: &[KeptJourney]) -> KeptView {
    let listed_end = kept.len().min(DRAWN_MAX + LISTED_MAX);
    let drawn_end = kept.len().min(DRAWN_MAX);
    let mut roles_open: Vec<&str> = Vec::new();
    let mut drawn = Vec::new();
    for journey in &kept[..drawn_end] {
        // The first of each kind stands open: one lost journey explains more than their number.
        let open = !roles_open.contains(&journey.role.as_str());
        roles_open.push(&journey.role);
        drawn.push(KeptRow { rows: rows(journey), ..row(journey, open) });
    }
    KeptView {
        drawn,
        listed: kept[drawn_end..listed_end].iter().map(|journey| row(journey, false)).collect(),
        left_out: kept.len() - listed_end,
    }
}

fn row(journey: &KeptJourney, open: bool) -> KeptRow {
    let duration = words::duration(journey.duration_ns as f64);
    KeptRow {
        role: journey.role.clone(),
        name: journey.key.clone().unwrap_or_else(|| format!("#{}", journey.id)),
        length: match journey.class.as_str() {
            "completed" | "late" => format!("took {duration}"),
            "lost" | "in_flight_at_cutoff" => format!("not complete after {duration}"),
            _ => format!("ended after {duration}"),
        },
        started: words::duration(journey.t0_ns as f64),
        phase: journey.phase.replace('_', "-"),
        last_seen: journey.last_seen.clone().unwrap_or_else(|| "no stage".to_owned()),
        reason: journey.reason.clone(),
        trace_id: journey.trace_id.clone(),
        open,
        rows: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_forgotten_and_the_page_stays_bounded() {
        let lost = KeptJourney { role: "lost".into(), ..KeptJourney::default() };
        let view = view(&vec![lost; 1_000]);
        assert_eq!(view.drawn.len() + view.listed.len() + view.left_out, 1_000);
        assert_eq!((view.drawn.len(), view.listed.len()), (DRAWN_MAX, LISTED_MAX));
        assert_eq!(view.drawn.iter().filter(|row| row.open).count(), 1);
    }
}
