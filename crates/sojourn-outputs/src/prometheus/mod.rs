//! Prometheus: figures so far as samples, for remote write and for a scrape endpoint.

mod page;
mod remote_write;
mod samples;
mod scrape;

pub(crate) use remote_write::RemoteWrite;
pub(crate) use scrape::Scrape;
