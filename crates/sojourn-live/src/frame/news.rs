//! What befalls a run, as it does: failed requests, lost and failed journeys, defects.

use std::collections::{BTreeMap, VecDeque};

use sojourn_metrics::names;
use sojourn_record::JourneyRecord;

use super::{Counts, Frame, JourneyFrame, News, NewsKind, lookup::Lookup};

/// Most news of one kind in one second.
const EACH_MAX: usize = 20;
/// Most bytes of a text.
const TEXT_MAX: usize = 200;

/// The ring of news.
#[derive(Debug, Default)]
pub(super) struct Ring {
    kept: VecDeque<News>,
    next: u64,
    beyond: u64,
    defects_told: usize,
    /// Lost and failed ones that were told, by journey.
    told: BTreeMap<(String, bool), u64>,
}

impl Ring {
    /// Takes in what this second brought.
    pub(super) fn second(
        &mut self,
        at_ns: u64,
        lookup: &Lookup<'_>,
        journeys: &[JourneyFrame],
        kept: &[JourneyRecord],
        defects: &[String],
    ) {
        self.errors(at_ns, lookup, journeys);
        self.ends(at_ns, journeys, kept);
        let checks = [(names::RESULT, names::CHECK_FAILED)];
        for check in lookup.recent_by(names::CHECKS, names::CHECK, &checks) {
            let text = format!("check {} did not hold", check.name);
            self.push(at_ns, NewsKind::Check, "", &text, check.count);
        }
        for limit in lookup.recent_by(names::LIMIT_VIOLATIONS, names::LIMIT, &[]) {
            let text = format!("limit {} was not kept", limit.name);
            self.push(at_ns, NewsKind::Limit, "", &text, limit.count);
        }
        for defect in defects.iter().skip(self.defects_told) {
            self.push(at_ns, NewsKind::Defect, "", defect, 1);
        }
        self.defects_told = self.defects_told.max(defects.len());
    }

    /// The ring, and how much is in it no more.
    pub(super) fn told(&self) -> (Vec<News>, u64) {
        (self.kept.iter().cloned().collect(), self.beyond)
    }

    /// Failed requests of the second, by step and reason.
    fn errors(&mut self, at_ns: u64, lookup: &Lookup<'_>, journeys: &[JourneyFrame]) {
        let mut room = EACH_MAX;
        for journey in journeys {
            for step in journey.steps.iter().filter(|step| step.failed > 0) {
                let of = [(names::JOURNEY, journey.name.as_str()), (names::STEP, &step.name)];
                for error in lookup.recent_by(names::STEP_FAILED, names::REASON, &of) {
                    if room == 0 {
                        self.beyond += 1;
                        continue;
                    }
                    room -= 1;
                    let text = format!("{}: {}", step.name, error.name);
                    self.push(at_ns, NewsKind::Error, &journey.name, &text, error.count);
                }
            }
        }
    }

    /// Journeys that were lost or failed: those that were kept each with its own words, others by
    /// their number.
    fn ends(&mut self, at_ns: u64, journeys: &[JourneyFrame], kept: &[JourneyRecord]) {
        let mut texts: BTreeMap<(&str, bool, String), (u64, u64)> = BTreeMap::new();
        for record in kept {
            let is_lost = match record.class.as_str() {
                "lost" => true,
                // Poisoned ones that fail do as they should.
                "failed" if names::poison_of(&record.journey).is_none() => false,
                _ => continue,
            };
            *self.told.entry((record.journey.clone(), is_lost)).or_default() += 1;
            let text = why(record, journeys);
            let seen = texts.entry((record.journey.as_str(), is_lost, text)).or_default();
            *seen = (seen.0 + 1, seen.1.max(record.end_ns));
        }
        for (number, ((journey, is_lost, text), (count, end_ns))) in texts.into_iter().enumerate() {
            if number >= EACH_MAX {
                self.beyond += 1;
                continue;
            }
            self.push(end_ns, kind(is_lost), journey, &text, count);
        }
        for journey in journeys {
            let Counts { lost, failed, .. } = journey.counts;
            let failed = if names::poison_of(&journey.name).is_some() { 0 } else { failed };
            for (is_lost, count) in [(true, lost), (false, failed)] {
                let told = self.told.entry((journey.name.clone(), is_lost)).or_default();
                let untold = count.saturating_sub(*told);
                *told += untold;
                if untold > 0 {
                    let text = "not kept with its timeline";
                    self.push(at_ns, kind(is_lost), &journey.name, text, untold);
                }
            }
        }
    }

    fn push(&mut self, at_ns: u64, kind: NewsKind, journey: &str, text: &str, count: u64) {
        let text = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        let mut short = String::new();
        for c in text {
            if short.len() + c.len_utf8() > TEXT_MAX {
                short.push('…');
                break;
            }
            short.push(c);
        }
        let journey = journey.to_owned();
        self.kept.push_back(News { number: self.next, at_ns, kind, journey, text: short, count });
        self.next += 1;
        if self.kept.len() > Frame::NEWS_MAX {
            self.kept.pop_front();
            self.beyond += 1;
        }
    }
}

fn kind(is_lost: bool) -> NewsKind {
    if is_lost { NewsKind::Lost } else { NewsKind::Failed }
}

/// The failure in words; of a lost journey the first stage in declared order that was not seen,
/// and the last that was.
fn why(record: &JourneyRecord, journeys: &[JourneyFrame]) -> String {
    if let Some(reason) = &record.reason {
        return reason.clone();
    }
    let shown = journeys.iter().find(|journey| journey.name == record.journey);
    let last = record.stages.iter().filter(|stage| stage.seen_ns.is_some());
    let last = last.max_by_key(|stage| stage.seen_ns).map(|stage| stage.name.as_str());
    let awaited = record.stages.iter().find(|stage| {
        let known = shown.and_then(|shown| shown.stages.iter().find(|it| it.name == stage.name));
        stage.seen_ns.is_none() && known.is_some_and(|known| known.is_required)
    });
    match (awaited, last) {
        (Some(stage), Some(last)) => format!("{} was not seen after {last}", stage.name),
        (Some(stage), None) => format!("{} was not seen", stage.name),
        (None, Some(last)) => format!("nothing was seen after {last}"),
        (None, None) => "nothing was seen of it".to_owned(),
    }
}
