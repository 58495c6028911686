//! Polled stages.
