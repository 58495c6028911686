//! The run file: everything measured, in one versioned file (`*.sojourn`).
//!
//! Appended once a second, readable up to its last whole record after a crash, mergeable. The writer
//! belongs to the coordinator; the reader serves reports and comparisons.

mod format;
mod identity;
mod journey;
mod reader;
mod summary;
mod writer;

pub use identity::{Identity, JourneyShape, StageShape};
pub use journey::{JourneyRecord, StageInstant, StepInstant};
pub use reader::{Interval, IntervalRow, ReadError, RunFile};
pub use summary::{Cause, Summary, Verdict};
pub use writer::RunWriter;
