//! Kinds of journeys that came into being since the run began.

use std::sync::Arc;

use sojourn_ledger::TraceSeed;
use sojourn_metrics::SeriesPhase;

use super::{FromObserver, Observer};
use crate::{follow::Kind, identity::journey_shape, last_word::hand_over, shape::journey_spec};

impl Observer {
    /// A journey of this kind begins, which may be the first of it.
    pub(super) fn count_followed(&mut self, kind: usize) {
        while self.in_flight.len() <= kind {
            let followed = self.spec.followed.as_ref();
            let Some(known) = followed.and_then(|it| it.kinds.get(self.in_flight.len())) else {
                // The ledger refuses what it does not know, and says so.
                return;
            };
            self.adopt(&known);
        }
        self.in_flight[kind] += 1;
    }

    fn adopt(&mut self, Kind { journey, chosen }: &Kind) {
        let trace = TraceSeed::of(self.spec.plan.seed, &self.spec.options.run_id);
        if self.ledger.add_kind(journey_spec(journey, trace), chosen).is_none() {
            self.void(format!("journey {} has no room in the ledger", journey.name));
        }
        // There is no warm-up: nothing is written to its series.
        let phases = [SeriesPhase::Steady; 2];
        self.series.add(journey, phases, &mut self.recorder);
        self.labels.add(journey);
        self.audit.add(journey);
        self.tells_end.push(false);
        self.is_polled.push(false);
        self.in_flight.push(0);
        let plan = Arc::make_mut(&mut self.spec.plan);
        plan.journeys.push(journey.clone());
        let shape = Box::new(journey_shape(plan, journey));
        if let Err(why) = hand_over(&self.spec.reports, FromObserver::Shape(shape)) {
            self.void(why);
        }
    }
}
