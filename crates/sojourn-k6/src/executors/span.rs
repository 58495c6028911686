//! When a slot of a looping scenario runs.

/// A stretch of time in which a slot loops, nanoseconds from its scenario's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// From when iterations begin.
    pub start_ns: u64,
    /// From when on no further iteration begins.
    pub end_ns: u64,
    /// When an iteration that was begun in it is cut (it may lie in or after a later span, if the
    /// slot is wanted again in time).
    pub cut_ns: u64,
}
