//! Prometheus: figures so far as samples, for remote write and for a scrape endpoint.

mod page;
mod remote_write;
mod samples;
mod scrape;

pub(crate) use remote_write::RemoteWrite;
pub use remote_write::{Labelled, WRITE_HEADERS, write_request};
pub(crate) use scrape::Scrape;
