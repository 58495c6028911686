//! What k6 itself says and does, kept as golden files, beside what this crate says.

mod executors;
mod metrics;
mod options;
mod tiers;
