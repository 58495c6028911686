//! Prometheus: figures so far as samples, for remote write and for a scrape endpoint.

mod native_histogram;
mod page;
mod remote_write;
mod samples;
mod scrape;

pub use native_histogram::NativeHistogram;
pub(crate) use remote_write::RemoteWrite;
pub use remote_write::{Labelled, LabelledValue, WRITE_HEADERS, write_request};
pub(crate) use scrape::Scrape;
