//! Whose a journey is.

use super::JourneyActor;
use crate::generator::actor::Context;

impl JourneyActor {
    /// Says whose the journey is, where the plan has a label for it.
    pub(super) fn tell_label(&self, context: &mut Context<'_>) {
        if let Some(label) = &context.plan.journeys[self.kind()].label {
            let values = self.values(context.plan, context.run_id, context.variables);
            context.outbox.push_label(context.now_ns, self.arrival.journey, label, &values);
        }
    }
}
