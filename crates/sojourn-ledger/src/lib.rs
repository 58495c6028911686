//! The book of journeys and events.
//!
//! Time and facts go in, decisions come out; no clock, no thread, no broker. Facts come from several
//! sources (generators, taps), each in its own order. The [`Sequencer`] merges them by stamp up to the
//! lowest watermark ("nothing older follows"); the [`Ledger`] applies them one by one.
//!
//! Invariants, checked by [`Ledger::balance`]:
//! - `scheduled = started + missed`
//! - `started = completed + late + lost + failed + root_failed + in_flight`
//! - `seen = matched + duplicate + after_failure + orphan + foreign + unattributed + undecodable`
//!   (while the run goes on, plus events that still wait for their journey)
//!
//! A journey is finished exactly once; an event gets exactly one class.

mod balance;
mod decision;
mod early;
mod enter;
mod event;
mod expire;
mod fact;
mod finish;
mod hash;
mod index;
mod journey;
mod key;
mod kind;
mod ledger;
mod members;
mod observe;
mod rows;
mod sequencer;
mod slab;
mod spec;

pub use balance::{Balance, EventLines, JourneyLines, Refusals};
pub use decision::{Decision, DuplicateKind, EventClass, FinishClass, Finished};
pub use fact::{Batch, Candidate, Fact, JourneyId, Marker, Observation, Phase, SourceId, Stamped};
pub use key::Key;
pub use ledger::Ledger;
pub use sequencer::Sequencer;
pub use spec::{JourneySpec, LedgerSpec, Predecessor, StageKind, StageSpec};
