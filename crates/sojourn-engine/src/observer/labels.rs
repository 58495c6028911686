//! Figures by label: whose journeys ended how, and how long they took.

use std::collections::HashMap;

use sojourn_ledger::{FinishClass, Finished, Key};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, names};
use sojourn_plan::{Journey, Plan};

use super::series::PHASES;

/// Labels that are told apart in one run, over all its journeys: each takes a dozen series.
const LABELS_MAX: usize = 64;
/// Longest label shown, bytes.
const LABEL_BYTES_MAX: usize = 100;

/// Series of labels, made as they come.
pub(super) struct LabelSeries {
    journeys: Vec<String>,
    known: HashMap<(u16, String), Labelled>,
}

struct Labelled {
    /// What ended and how, by phase; made when the first one does.
    ended: [HashMap<FinishClass, SeriesId>; 2],
    durations: [Option<SeriesId>; 2],
}

impl LabelSeries {
    pub(super) fn new(plan: &Plan) -> Self {
        let names = plan.journeys.iter().map(|journey| journey.name.clone());
        Self { journeys: names.collect(), known: HashMap::new() }
    }

    /// Takes a further journey in.
    pub(super) fn add(&mut self, journey: &Journey) {
        self.journeys.push(journey.name.clone());
    }

    /// Counts an ended journey under its label. Labels beyond the bound are one together.
    pub(super) fn finished(&mut self, finished: &Finished, label: &Key, recorder: &mut Recorder) {
        let Some(journey) = self.journeys.get(usize::from(finished.kind)) else { return };
        let bytes = label.as_bytes();
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LABEL_BYTES_MAX)]);
        let mut place = (finished.kind, text.into_owned());
        if self.known.len() >= LABELS_MAX && !self.known.contains_key(&place) {
            place.1 = names::OTHER_LABELS.to_owned();
        }
        let name = place.1.clone();
        let tags = [(names::JOURNEY, journey.as_str()), (names::LABEL, name.as_str())];
        let phase = finished.phase as usize;
        let class = finished.class.name();
        let mut ended_series = || {
            let tags = [tags[0], tags[1], (names::CLASS, class)];
            let key = SeriesKey::new(names::LABEL_ENDED, &tags, PHASES[phase]);
            recorder.series(Kind::Counter, key)
        };
        let duration = SeriesKey::new(names::LABEL_DURATION, &tags, PHASES[phase]);
        let labelled = self.known.entry(place).or_insert_with(Labelled::new);
        let ended = *labelled.ended[phase].entry(finished.class).or_insert_with(&mut ended_series);
        recorder.add(ended, 1);
        if matches!(finished.class, FinishClass::Completed | FinishClass::Late) {
            let series = labelled.durations[phase]
                .get_or_insert_with(|| recorder.series(Kind::Trend, duration));
            recorder.record(*series, finished.end_ns.saturating_sub(finished.t0_ns));
        }
    }
}

impl Labelled {
    fn new() -> Self {
        Self { ended: [HashMap::new(), HashMap::new()], durations: [None; 2] }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_ledger::{JourneyId, Phase};
    use sojourn_metrics::{SeriesPhase, Store};

    use super::*;
    use crate::testing::{PAYMENT, finished, plan};

    #[test]
    fn labels_beyond_the_bound_are_one_together_and_none_is_lost() {
        let plan = plan(PAYMENT, "http://127.0.0.1:1");
        let mut recorder = Recorder::new(0);
        let mut labels = LabelSeries::new(&plan);
        for number in 0..100 {
            let label = Key::new(format!("tenant {number}").as_bytes()).unwrap();
            for _ in 0..3 {
                let ended = finished(JourneyId(number), Phase::Steady);
                labels.finished(&ended, &label, &mut recorder);
            }
        }
        let mut store = Store::new();
        store.apply(&recorder.take(1, None)).unwrap();
        let ended: Vec<(&str, u64)> = store
            .series()
            .filter(|(key, _)| key.metric == names::LABEL_ENDED)
            .map(|(key, _)| (key.tag(names::LABEL).unwrap(), store.counter(key)))
            .collect();
        assert_eq!(ended.iter().map(|(_, count)| count).sum::<u64>(), 300);
        assert_eq!(ended.len(), LABELS_MAX + 1);
        let others = ended.iter().find(|(label, _)| *label == names::OTHER_LABELS).unwrap();
        assert_eq!(others.1, 3 * (100 - LABELS_MAX as u64));
        assert!(store.series().all(|(key, _)| key.phase == SeriesPhase::Steady));
    }
}
