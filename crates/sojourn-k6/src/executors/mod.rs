//! What executors plan: who runs when, as pure functions of time.
//!
//! A [`Scenario`] is one executor with its settings. Those whose virtual users loop have **slots**
//! (0, 1, 2 …), one per user, and [`Scenario::spans`] says for each when it runs, in closed form:
//! many threads can each walk their own slots without talking to each other. Those that begin
//! iterations at instants have [`Scenario::starts`]. Instants are nanoseconds from the scenario's
//! own start, which is `start_time_ns` after the run's.

mod arrivals;
mod describe;
mod kind;
mod plan;
mod ramp;
mod requirements;
mod scenario;
mod span;
mod striped;
mod stripes;

pub use arrivals::Starts;
pub use kind::ExecutorKind;
pub use requirements::{Part, Requirements, requirements, requirements_of};
pub use scenario::{ConstantArrivals, Executor, RampingArrivals, RampingVus, Scenario};
pub use span::Span;
pub use stripes::Stripes;

pub(crate) use stripes::Segments;
