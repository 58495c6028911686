//! Which kept journeys the page draws, which it lists, and how many it leaves to the NDJSON.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use sojourn_analysis::words;

use super::waterfall::{Row, rows};
use crate::model::{KeptJourney, KeptMessage};

/// Journeys that a list shows, drawn or in one line.
const GROUP_MAX: usize = 50;
/// Bars that all waterfalls of a page have together, so that it stays below a megabyte.
const BARS_MAX: usize = 1_000;
/// Bytes that all messages of a page have together.
const MESSAGE_BYTES_MAX: usize = 100_000;
/// Longest anchor.
const ANCHOR_MAX: usize = 80;

/// Whether a journey belongs to a list.
type IsOf = fn(&KeptJourney) -> bool;

/// The lists, and which journeys belong to them.
const GROUPS: [(&str, IsOf); 8] = [
    ("Median", |it| it.role == "median"),
    ("Slowest", |it| it.role == "slowest" || it.kept_as.iter().any(|role| role == "slowest")),
    ("Lost", |it| it.class == "lost"),
    ("Failed", |it| matches!(it.class.as_str(), "failed" | "root_failed")),
    ("Late", |it| it.class == "late"),
    ("Duplicated", |it| !it.duplicates.is_empty() || it.duplicates_beyond > 0),
    ("Out of order", |it| !it.order_violations.is_empty()),
    ("In flight at the cutoff", |it| it.class == "in_flight_at_cutoff"),
];

/// What a page still has room for.
pub(super) struct Page {
    /// For each of the journeys that are still to come.
    bars: usize,
    message_bytes: usize,
    anchors: HashSet<String>,
}

/// The kept journeys of one journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct KeptView {
    /// List by list.
    pub(super) groups: Vec<KeptGroup>,
}

/// One list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct KeptGroup {
    pub(super) title: &'static str,
    /// Journeys in it, shown or not.
    pub(super) count: u64,
    /// With their waterfalls.
    pub(super) drawn: Vec<KeptRow>,
    /// One line each.
    pub(super) listed: Vec<KeptRow>,
    /// Not on the page.
    pub(super) left_out: u64,
}

/// A kept journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct KeptRow {
    pub(super) role: String,
    pub(super) name: String,
    /// The id of its waterfall.
    pub(super) anchor: String,
    /// Its waterfall is in a list above.
    pub(super) is_above: bool,
    /// `took 25.0 s`, or `not complete after 30.0 s`.
    pub(super) length: String,
    pub(super) started: String,
    pub(super) phase: String,
    pub(super) last_seen: String,
    pub(super) reason: Option<String>,
    pub(super) trace_id: Option<String>,
    pub(super) open: bool,
    pub(super) rows: Vec<Row>,
    pub(super) messages: Vec<MessageView>,
}

/// A message of a kept journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct MessageView {
    pub(super) title: String,
    /// Headers and body; empty where it is no longer held, or where the page has no room for it.
    pub(super) text: String,
}

impl Page {
    /// A page of so many journeys.
    pub(super) fn new(journeys: usize) -> Self {
        Self {
            bars: BARS_MAX / journeys.max(1),
            message_bytes: MESSAGE_BYTES_MAX,
            anchors: (0..journeys).map(|index| format!("journey-{index}")).collect(),
        }
    }

    /// The lists of one journey.
    pub(super) fn view(&mut self, kept: &[KeptJourney]) -> KeptView {
        let lists: Vec<(&'static str, Vec<usize>)> = GROUPS
            .into_iter()
            .map(|(title, is_of)| (title, (0..kept.len()).filter(|&at| is_of(&kept[at])).collect()))
            .filter(|(_, own): &(_, Vec<usize>)| !own.is_empty())
            .collect();
        let mut bars = self.bars;
        // By its place in `kept`: the anchor of one that has been drawn.
        let mut drawn: HashMap<usize, String> = HashMap::new();
        let mut groups = Vec::new();
        for (place, (title, own)) in lists.iter().enumerate() {
            // What a list does not need is left to those after it.
            let mut share = bars / (lists.len() - place);
            let mut group = KeptGroup { title, count: own.len() as u64, ..KeptGroup::default() };
            group.left_out = own.len().saturating_sub(GROUP_MAX) as u64;
            for &at in own.iter().take(GROUP_MAX) {
                let journey = &kept[at];
                let cost = journey.spans.len() + journey.duplicates.len() + 1;
                if let Some(anchor) = drawn.get(&at) {
                    let (anchor, is_above) = (anchor.clone(), true);
                    group.listed.push(KeptRow { anchor, is_above, ..row(journey) });
                } else if cost <= share {
                    share -= cost;
                    bars -= cost;
                    // One stands open in each list: one lost journey explains more than their
                    // number.
                    let shown = self.drawn(journey, group.drawn.is_empty());
                    drawn.insert(at, shown.anchor.clone());
                    group.drawn.push(shown);
                } else {
                    group.listed.push(row(journey));
                }
            }
            groups.push(group);
        }
        KeptView { groups }
    }

    /// A journey with its waterfall.
    pub(super) fn drawn(&mut self, journey: &KeptJourney, open: bool) -> KeptRow {
        KeptRow {
            anchor: self.anchor(journey),
            rows: rows(journey),
            messages: journey.messages.iter().map(|message| self.message(message)).collect(),
            open,
            ..row(journey)
        }
    }

    /// An id that nothing else on the page has: `journey-` and the key, as far as it can stand
    /// there.
    fn anchor(&mut self, journey: &KeptJourney) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:~".contains(c);
        let name = journey.key.clone().unwrap_or_else(|| format!("number-{}", journey.id));
        let name: String =
            name.chars().take(ANCHOR_MAX).map(|c| if plain(c) { c } else { '-' }).collect();
        let mut anchor = format!("journey-{name}");
        let mut further = 1;
        while !self.anchors.insert(anchor.clone()) {
            further += 1;
            anchor = format!("journey-{name}-{further}");
        }
        anchor
    }

    fn message(&mut self, message: &KeptMessage) -> MessageView {
        let at = words::duration(message.at_ns as f64);
        let title = format!("Message of {} at {at}", message.stage);
        if !message.is_held {
            return MessageView { title: format!("{title}: no longer held"), text: String::new() };
        }
        let key = message.key.as_ref().map_or_else(String::new, |key| format!(", key {key}"));
        let bytes = words::bytes(message.bytes as f64);
        let title = format!("{title}: {}{key}, {bytes}", message.topic);
        let mut text = String::new();
        for (name, value) in &message.headers {
            text.push_str(&format!("{name}: {value}\n"));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        if !message.is_text {
            text.push_str("(no text, hexadecimal) ");
        }
        text.push_str(&message.body);
        match self.message_bytes.checked_sub(text.len()) {
            Some(left) => self.message_bytes = left,
            None => text = "in the NDJSON: the page has no room for it".to_owned(),
        }
        MessageView { title, text }
    }
}

fn row(journey: &KeptJourney) -> KeptRow {
    let duration = words::duration(journey.duration_ns as f64);
    KeptRow {
        role: journey.role.clone(),
        name: journey.name(),
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
        ..KeptRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Duplicate, Span, SpanKind};

    fn lost() -> KeptJourney {
        let span = Span {
            name: "a".into(),
            kind: SpanKind::Stage,
            from_ns: None,
            to_ns: None,
            status: None,
        };
        KeptJourney {
            role: "lost".into(),
            class: "lost".into(),
            key: Some("k \"<".into()),
            spans: vec![span; 9],
            ..KeptJourney::default()
        }
    }

    #[test]
    fn none_is_forgotten_and_the_page_stays_bounded() {
        let again = vec![Duplicate::default()];
        let mut kept = vec![lost(); 1_000];
        kept.extend(vec![KeptJourney { duplicates: again, ..lost() }; 500]);
        let mut page = Page::new(2);
        let mut bars = 0;
        let mut anchors = HashSet::new();
        for _journey in 0..2 {
            let view = page.view(&kept);
            assert_eq!(view.groups.len(), 2);
            for group in &view.groups {
                let shown = group.drawn.len() + group.listed.len();
                assert_eq!(shown as u64 + group.left_out, group.count);
                assert_eq!(shown, GROUP_MAX);
                bars += group.drawn.iter().map(|row| row.rows.len()).sum::<usize>();
                for row in &group.drawn {
                    assert!(anchors.insert(row.anchor.clone()), "{}", row.anchor);
                }
                assert!(group.drawn.iter().filter(|row| row.open).count() <= 1);
            }
        }
        assert!(bars <= BARS_MAX, "{bars}");
        assert!(anchors.contains("journey-k---"), "{anchors:?}");
    }

    #[test]
    fn a_journey_in_two_lists_is_drawn_once_and_linked_to() {
        let both = KeptJourney { duplicates: vec![Duplicate::default()], ..lost() };
        let view = Page::new(1).view(&[both]);
        let [lost, duplicated] = view.groups.as_slice() else { panic!("{view:?}") };
        assert_eq!((lost.drawn.len(), duplicated.drawn.len()), (1, 0));
        assert!(duplicated.listed[0].is_above);
        assert_eq!(duplicated.listed[0].anchor, lost.drawn[0].anchor);
    }
}
