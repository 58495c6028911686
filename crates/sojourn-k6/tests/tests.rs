//! What k6 itself says and does, kept as golden files, beside what this crate says.

mod executors;
mod options;
mod tiers;
//! k6's words beside what the real k6 prints.

mod metrics;
