//! The book of journeys and events.
//!
//! Time and facts go in, decisions come out; no clock, no thread, no broker. Facts come from
//! several sources (generators, taps), each in its own order. The [`Sequencer`] merges them by
//! stamp up to the lowest watermark ("nothing older follows"); the [`Ledger`] applies them one by
//! one.
//!
//! Invariants, checked by [`Ledger::balance`]:
//! - `scheduled = started + missed`
//! - `started = completed + late + lost + failed + root_failed + in_flight`
//! - `seen = matched + duplicate + after_failure + orphan + foreign + unattributed + undecodable`
//!   (while the run goes on, plus events that still wait for their journey)
//!
//! A journey is finished exactly once; an event gets exactly one class.
//!
//! # Rules that the types do not say
//!
//! *Time.* What is due at an instant expires before a later fact is applied, and after every fact
//! of that instant: a stage reached exactly at the deadline is in time.
//!
//! *Early events* are matched back with their own stamps once their key is known. A stage is
//! reached by the observation applied first; with one key per journey that is the earliest.
//!
//! *Duplicates* are compared with the first observation of the same (journey, stage, member), and
//! have no effect beyond being counted: a failing content check in one fails nothing. A member
//! beyond the expected ones is matched.
//!
//! *Branches.* Of a group of alternatives the first one reached completes the journey's need. A
//! second one is matched like any event and counted as a violation, in flight or after the end.
//!
//! *Fan-out by number told.* Until the number is known the stage is not reached, however many
//! members come; then it is reached at the stamp of the member that made it full.
//!
//! *Further keys* from events name the journey once the event is applied; events that came under
//! them before were early events and are matched back. A further key that another journey in
//! flight has fails the later one: its events could not be told from the other's.
//!
//! *Candidates.* The first key that names a journey in flight decides, else the first that names a
//! finished one. Within it the event belongs to the first candidate not yet reached, else to the
//! first; shared stages among the candidates are reached besides.
//!
//! *Common stages* ([`Ledger::with_common_stages`]). Candidates then name stages that all kinds
//! choose theirs from, and no kind: a key names one journey of whichever kind, and kinds may be
//! added while facts come ([`Ledger::add_kind`]). An event that fits only stages that its journey's
//! kind has not chosen is matched, each time, and reaches nothing.
//!
//! *After the end.* A completed journey may still reach optional stages: matched, with its hop
//! where the predecessor is known, and counted where not. A failure stage then is matched and
//! counted in [`Balance::failure_after_completion`]. For all other finished journeys every event is
//! [`EventClass::AfterFailure`]. A key that becomes known after the end names the tombstone. Facts
//! of generators for finished journeys are expected (a root answered after its dead letter); facts
//! for journeys never started are refused. Numbers of one generator must ascend for the two to be
//! told apart once the tombstone is gone.
//!
//! *Duplicates of a journey that has completed* are told with its number; what its tombstone knows
//! is handed out on demand ([`Ledger::remembered`]), so that nothing is kept for those without.
//!
//! *Readings* of foreign clocks are kept with their journey while it is in flight, the first of
//! each step and stage, and handed over with its end. The ledger draws nothing from them.
//!
//! *A lost generator.* What it alone could have ended was in flight at the cutoff
//! ([`Ledger::leave`]); events that still come of it are [`EventClass::AfterFailure`].
//!
//! *Waiting.* A journey waits for a stage from its start where the stage follows a step, whichever
//! step that is, and from its predecessor's observation where it follows a stage.

mod balance;
mod decision;
mod early;
mod enter;
mod event;
mod expire;
mod fact;
mod fan_out;
mod finish;
mod foresee;
mod gcra;
mod hash;
mod index;
mod journey;
mod key;
mod kind;
mod ledger;
mod limits;
mod members;
mod observe;
mod reading;
mod remembered;
mod rows;
mod sequencer;
mod slab;
mod spec;
mod trace;

pub use balance::{Balance, EventLines, JourneyLines, Refusals};
pub use decision::{
    Again, Decision, DuplicateKind, EventClass, FinishClass, Finished, MembersSeen, Reason,
    StepSpan,
};
pub use fact::{
    Batch, Candidate, Fact, Followed, JourneyId, Marker, More, Observation, Phase, Refusal,
    SourceId, Stamped,
};
pub use key::Key;
pub use ledger::Ledger;
pub use limits::{LimitFigures, LimitSpec};
pub use reading::{Reading, Shown, Unread, Where};
pub use sequencer::Sequencer;
pub use spec::{JourneySpec, LedgerSpec, Predecessor, StageKind, StageSpec, TOLD};
pub use trace::{TraceContext, TraceId, TraceSeed};
