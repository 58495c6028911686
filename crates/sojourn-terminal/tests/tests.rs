//! Made frames as text, at the sizes of terminals and at any other.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod any_size;
mod golden;
mod made;
