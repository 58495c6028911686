//! Poisoned roots.

/// Marks a journey of the plan as the poisoned ones of another: a stated share of that journey's
/// arrivals, whose root sends what some consumer must fail on.
///
/// They are a journey of their own in everything that counts (ledger, series, report), so that
/// none of their figures is mixed with those of the others. What they expect, extract and wait for
/// is the same, as are their deadline and their follow-up steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poison {
    /// Index of the journey that they are of.
    pub of: usize,
    /// Which share of its arrivals they are, above 0 up to 1. Which arrivals is drawn by the seed.
    pub share: f64,
}
