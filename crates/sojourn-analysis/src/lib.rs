//! What the numbers mean: whether a backlog grows and where first, drain, each hop's share of a
//! journey, timers behind hops, stalls and changes, and the sentences that a report may draw from
//! them.
//!
//! Pure functions: figures in, findings out. No I/O, no clock, no randomness. Every sentence
//! carries the figures it rests on; where the figures do not decide, the sentence says that.

mod autocorrelation;
pub mod backlog;
pub mod capacity;
pub mod change;
pub mod check;
pub mod compare;
pub mod conclusion;
pub mod correlate;
pub mod drain;
pub mod fairness;
pub mod generator;
pub mod measured;
pub mod resources;
pub mod saturation;
pub mod share;
pub mod stall;
pub mod student;
pub mod timer;
pub mod void;
pub mod words;
