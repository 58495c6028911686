//! What the numbers mean: backlog slope, drain, each hop's share of a journey, and the sentences
//! that a report may draw from them.
//!
//! Pure functions: figures in, findings out. No I/O, no clock, no randomness. Every sentence
//! carries the figures it rests on; where the figures do not decide, the sentence says that.

pub mod backlog;
pub mod conclusion;
pub mod drain;
pub mod share;
pub mod timer;
pub mod words;
