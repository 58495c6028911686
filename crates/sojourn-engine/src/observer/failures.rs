//! Failed journeys by reason: series that are made when a reason first comes up.

use std::collections::HashMap;

use sojourn_ledger::{FinishClass, Finished, Reason};
use sojourn_metrics::{Kind, Recorder, SeriesId, SeriesKey, SeriesPhase, names};
use sojourn_plan::Journey;

/// Most texts told apart per journey; further ones are counted together.
const TEXTS_MAX: usize = 50;
/// What those are counted under.
const OTHER: &str = "other reasons";

/// Counters of failed journeys.
#[derive(Default)]
pub(super) struct FailureSeries {
    journeys: Vec<Names>,
    known: HashMap<Cause, [SeriesId; 2]>,
}

struct Names {
    journey: String,
    stages: Vec<String>,
    /// Texts that have come up.
    texts: Vec<Box<str>>,
}

#[derive(PartialEq, Eq, Hash)]
struct Cause {
    kind: u16,
    what: What,
    text: Box<str>,
}

/// What failed a journey.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Stage(u8),
    Check(u8),
    FollowUp,
    KeyReused,
}

impl FailureSeries {
    /// Takes a further journey in.
    pub(super) fn add(&mut self, journey: &Journey) {
        self.journeys.push(Names {
            journey: journey.name.clone(),
            stages: journey.stages.iter().map(|stage| stage.name.clone()).collect(),
            texts: Vec::new(),
        });
    }

    /// Counts a journey, if it failed.
    pub(super) fn count(&mut self, finished: &Finished, recorder: &mut Recorder) {
        let what = match (finished.class, finished.reason) {
            (FinishClass::Failed, Some(Reason::Stage(stage))) => What::Stage(stage),
            (FinishClass::Failed, Some(Reason::Check(stage))) => What::Check(stage),
            (FinishClass::Failed, Some(Reason::FollowUp)) => What::FollowUp,
            (FinishClass::Failed, Some(Reason::KeyReused)) => What::KeyReused,
            _ => return,
        };
        let names = &mut self.journeys[usize::from(finished.kind)];
        let said = finished.said.as_deref().unwrap_or_default();
        let text = names.bounded(said);
        let cause = Cause { kind: finished.kind, what, text: text.into() };
        let series = match self.known.get(&cause) {
            Some(series) => *series,
            None => {
                let series = names.series(what, &cause.text, recorder);
                self.known.insert(cause, series);
                series
            }
        };
        recorder.add(series[finished.phase as usize], 1);
    }
}

impl Names {
    /// The text itself, or what stands for those beyond the bound.
    fn bounded<'a>(&mut self, said: &'a str) -> &'a str {
        if said.is_empty() || self.texts.iter().any(|known| **known == *said) {
            return said;
        }
        if self.texts.len() >= TEXTS_MAX {
            return OTHER;
        }
        self.texts.push(said.into());
        said
    }

    fn series(&self, what: What, text: &str, recorder: &mut Recorder) -> [SeriesId; 2] {
        let stage = |at: u8| self.stages.get(usize::from(at)).map_or("?", String::as_str);
        let what = match what {
            What::Stage(at) => format!("stage {}", stage(at)),
            What::Check(at) => format!("check of stage {}", stage(at)),
            What::FollowUp => "follow-up step".to_owned(),
            What::KeyReused => "key in flight already".to_owned(),
        };
        let tags = [(names::JOURNEY, &*self.journey), (names::WHAT, &*what), (names::REASON, text)];
        [SeriesPhase::WarmUp, SeriesPhase::Steady].map(|phase| {
            let key = SeriesKey::new(names::JOURNEYS_FAILED_BY, &tags, phase);
            recorder.series(Kind::Counter, key)
        })
    }
}

#[cfg(test)]
mod tests {
    use sojourn_ledger::{JourneyId, Phase};
    use sojourn_metrics::Store;

    use super::*;
    use crate::testing::{PAYMENT, plan};

    #[test]
    fn reasons_beyond_the_bound_are_counted_together() {
        let mut recorder = Recorder::new(0);
        let mut failures = FailureSeries::default();
        plan(PAYMENT, "http://127.0.0.1:1").journeys.iter().for_each(|it| failures.add(it));
        let fails = |number: u64, said: Option<String>| Finished {
            class: FinishClass::Failed,
            reason: Some(Reason::Stage(0)),
            said: said.map(String::into_boxed_str),
            ..crate::testing::finished(JourneyId(number), Phase::Steady)
        };
        for number in 0..200_u64 {
            // Each text twice, in turn.
            let text = format!("code {}", number % 100);
            failures.count(&fails(number, Some(text)), &mut recorder);
        }
        failures.count(&fails(200, None), &mut recorder);
        let mut store = Store::new();
        store.apply(&recorder.take(1, None)).unwrap();
        let counted = |reason: &str| {
            let tags = [("journey", "payment"), ("what", "stage created"), ("reason", reason)];
            let key = SeriesKey::new(names::JOURNEYS_FAILED_BY, &tags, SeriesPhase::Steady);
            store.counter(&key)
        };
        assert_eq!([counted("code 0"), counted("code 49"), counted("code 50")], [2, 2, 0]);
        assert_eq!((counted(OTHER), counted("")), (100, 1));
        assert_eq!(store.sum(names::JOURNEYS_FAILED_BY, &[], SeriesPhase::Steady), 201);
    }
}
