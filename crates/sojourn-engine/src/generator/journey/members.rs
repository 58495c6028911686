//! How many members of a fan-out an answer says there are.

use smallvec::SmallVec;
use sojourn_plan::{Expect, Teller, members_of};

use super::JourneyActor;
use crate::generator::{actor::Context, answer::Answer};

/// Stages, and how many members an answer says they have.
pub(super) type Told = SmallVec<[(u8, u32); 1]>;

impl JourneyActor {
    /// Stages whose number of members the answer says.
    pub(super) fn told(&self, context: &Context<'_>, step: usize, answer: &Answer<'_>) -> Told {
        let stages = (0u8..).zip(&context.plan.journeys[self.kind()].stages);
        stages
            .filter_map(|(stage, spec)| match &spec.expect {
                Expect::Told { from, by } if *by == Teller::Step(step) => {
                    Some((stage, members_of(&answer.select(from)?)?))
                }
                _ => None,
            })
            .collect()
    }
}
