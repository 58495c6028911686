//! Samples that the real k6 wrote, accounted for again: its outputs, summaries and exit codes must
//! come out the same, byte for byte.

mod golden;
mod outputs;
mod receivers;
mod summaries;
mod thresholds;
