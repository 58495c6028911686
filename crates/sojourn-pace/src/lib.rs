//! When arrival k is due, in closed form.
//!
//! A [`Profile`] is an intensity over time (arrivals per second, piecewise). A [`Schedule`] turns it
//! into instants: evenly paced, Poisson, or replayed. Everything random about arrival k is a function
//! of (seed, k), so every generator can walk the same sequence and send its own [`Share`].
//!
//! Offsets are nanoseconds from the start of the load; no clock and no thread is in here.

mod profile;
mod random;
mod schedule;
mod share;

pub use profile::{Profile, Segment};
pub use random::{random_u64, random_unit};
pub use schedule::{Arrivals, Schedule};
pub use share::Share;
