//! What is made for a cluster, as it goes there: objects and images.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod image;
mod manifests;
