//! The run file: everything measured, in one versioned file (`*.sojourn`).
//!
//! Appended once a second, readable up to its last whole record after a crash, mergeable. The
//! writer belongs to the coordinator; the reader serves reports and comparisons. The format is
//! described in `docs/run-file.md`.
//!
//! Attacks have a stream of their own, one record a request: [`results`].

mod amendment;
mod codec;
mod fleet;
mod format;
mod identity;
mod interval;
mod journey;
mod kept;
mod message;
mod reader;
pub mod results;
mod summary;
mod writer;

pub use amendment::AmendmentRecord;
pub use fleet::{FleetMember, FleetRecord};
pub use format::is_run_file;
pub use identity::{GeneratorLimits, Identity, JourneyShape, PoisonShape, StageShape};
pub use interval::{Interval, IntervalRow};
pub use journey::{DuplicateInstant, DuplicateRecord, JourneyRecord, StageInstant, StepInstant};
pub use kept::{KEPT_AS_ALL, KeptAs, KeptCount, KeptRecord};
pub use message::{MessageHead, MessageSample};
pub use reader::{Deltas, ReadError, RunFile};
pub use summary::{Cause, Summary, Verdict};
pub use writer::RunWriter;
