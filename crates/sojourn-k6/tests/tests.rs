//! What k6 itself says and does, kept as golden files, beside what this crate says.

#![expect(clippy::unwrap_used, reason = "a golden file that cannot be read fails its test")]

mod executors;
mod metrics;
mod options;
mod tiers;
