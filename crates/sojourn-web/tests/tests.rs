//! The dashboard: what is answered to whom, and what a browser makes of it.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

/// In a real browser.
mod browser;
/// Runs and frames made by hand.
mod common;
/// An hour, used by a pointer.
mod hour;
/// What a browser finds.
mod look;
/// Byte by byte.
mod served;
