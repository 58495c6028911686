//! The highest arrival rate that a system carries: a search as a state machine.
//!
//! [`Search`] is told what one step of load showed ([`Observation`]) and says which [`Step`] comes
//! next, or that it is over; [`Search::end`] is what it found. It makes no load, reads no clock and
//! draws no random number, so that whole searches are simulated in tests.
//!
//! The rate is doubled until a step fails. A step that overloads the system shows how much the
//! system completes, which is a guess at the capacity: the rates just below and just above it are
//! tried next. Where there is no guess, or it was wrong, the bracket between the highest rate that
//! held and the lowest that failed is halved (on a logarithmic scale). When the bracket is narrow
//! enough its lower end is run once more, for longer: only what holds twice is called held.
//!
//! A step has failed when a threshold did not hold, when journeys were lost or failed, or when more
//! arrived than was finished ([`growth`]). Near the capacity a short step cannot tell: arrivals and
//! completions both waver. What a step leaves undecided is run again, for longer.

mod growth;
mod judge;
mod knee;
mod length;
mod observation;
mod outcome;
mod resource;
mod search;
mod thresholds;
mod tried;

#[cfg(test)]
mod queue;
#[cfg(test)]
mod tests;

pub use growth::{Growth, growth};
pub use knee::{Point, knee};
pub use length::is_hopeless;
pub use observation::{Broken, Observation, StageLevels, Void};
pub use outcome::{AtLeast, End, Limit};
pub use resource::{LimitingResource, StepUse, limiting_resource};
pub use search::{Search, Settings, Step};
pub use thresholds::{PerStep, per_step, samples_needed};
pub use tried::{Judgement, Purpose, Tried};
