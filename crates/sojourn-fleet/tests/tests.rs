//! Links over real sockets.
#![allow(clippy::unwrap_used, reason = "tests")]

mod clocks;
mod links;
mod resume;
