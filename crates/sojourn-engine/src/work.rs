//! What the generators of a run do.

use std::sync::Arc;

use sojourn_session::{EventLoad, Offer};

use crate::{Attack, Sessions};

/// What the generators of a run do.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// The plan's journeys.
    Journeys,
    /// Hits on targets.
    Attack(Arc<Attack>),
    /// Clients walk through a program.
    Sessions(Arc<Sessions>),
}

impl Work {
    /// Whether generators make the ledger's entries themselves: nothing can happen after a root's
    /// end.
    pub(crate) fn keeps_the_book(&self) -> bool {
        !matches!(self, Self::Journeys)
    }

    /// What sessions publish and wait for.
    pub(crate) fn events(&self) -> Option<&EventLoad> {
        match self {
            Self::Sessions(sessions) => sessions.events.as_ref(),
            _ => None,
        }
    }

    /// What processes of generators may take instead of reading it from files.
    pub(crate) fn offer(&self) -> Offer {
        match self {
            Self::Sessions(sessions) => sessions.program.offer(),
            _ => Offer::default(),
        }
    }

    pub(crate) fn attack(&self) -> Option<&Arc<Attack>> {
        match self {
            Self::Attack(attack) => Some(attack),
            _ => None,
        }
    }
}
