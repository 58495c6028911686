//! k6's words beside what the real k6 prints.

#![expect(clippy::unwrap_used, reason = "a golden file that cannot be read fails its test")]

mod metrics;
