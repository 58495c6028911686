//! Whoever acts on an arrival: one journey, or a batch of them in one request.

use super::{
    actor::{Actor, Context, Step, Wake},
    batch::BatchActor,
    journey::{Arrival, JourneyActor},
};

/// What an arrival has become.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "journeys are the rule; boxed, each would be an allocation"
)]
pub(super) enum Acting {
    Journey(JourneyActor),
    Batch(Box<BatchActor>),
}

impl Acting {
    /// The arrival; of a batch, its first journey's.
    pub(super) fn arrival(&self) -> Arrival {
        match self {
            Self::Journey(actor) => actor.arrival,
            Self::Batch(actor) => actor.arrival,
        }
    }

    /// Its user is gone: nothing lets it go on again.
    pub(super) fn forget_user(&mut self) {
        match self {
            Self::Journey(actor) => actor.arrival.user = None,
            Self::Batch(actor) => actor.arrival.user = None,
        }
    }

    /// The ledger has ended the journey; true when nothing is under way: the actor can go.
    pub(super) fn end(&mut self) -> bool {
        match self {
            Self::Journey(actor) => actor.end(),
            Self::Batch(_) => false,
        }
    }

    /// Root steps that have ended well.
    pub(super) fn root_done(&self) -> usize {
        match self {
            Self::Journey(actor) => actor.root_done(),
            Self::Batch(_) => 0,
        }
    }
}

impl Actor for Acting {
    fn step(&mut self, context: &mut Context<'_>, wake: Wake) -> Step {
        match self {
            Self::Journey(actor) => actor.step(context, wake),
            Self::Batch(actor) => actor.step(context, wake),
        }
    }
}
