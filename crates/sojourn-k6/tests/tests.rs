//! What k6 itself says and does, kept as golden files, beside what this crate says.

mod options;
mod tiers;
