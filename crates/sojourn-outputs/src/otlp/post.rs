//! OTLP over HTTP: binary protobuf, posted to `/v1/metrics` and `/v1/traces`.

use std::time::Duration;

use url::Url;

use super::{figures, identity::took, journeys, told::Told};
use crate::{
    failure::{Failure, Took},
    frame::Frame,
    http::Poster,
    outlet::Output,
    target::Run,
};

const HEADERS: [(&str, &str); 1] = [("content-type", "application/x-protobuf")];

/// The collector.
pub(crate) struct Otlp {
    poster: Poster,
    metrics: Url,
    traces: Url,
    run: Run,
    told: Told,
}

impl Otlp {
    pub(crate) fn new(poster: Poster, run: &Run) -> Self {
        let (metrics, traces) = (poster.url("/v1/metrics"), poster.url("/v1/traces"));
        Self { poster, metrics, traces, run: run.clone(), told: Told::default() }
    }
}

impl Output for Otlp {
    fn carries_journeys(&self) -> bool {
        true
    }

    fn send(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure> {
        let body = figures::request(frame, &self.run);
        took(&self.poster.post(&self.metrics, &HEADERS, &body, timeout)?)
    }

    fn send_journeys(&mut self, frame: &Frame, timeout: Duration) -> Result<Took, Failure> {
        let new = self.told.new_ones(frame);
        if new.is_empty() {
            return Ok(Took::All);
        }
        let body = journeys::request(&new, frame.start_unix_ns, &self.run);
        // Of spans that are rejected it is not known whose they are: their journeys are not sent.
        let took = took(&self.poster.post(&self.traces, &HEADERS, &body, timeout)?)?;
        self.told.add(&new);
        Ok(took)
    }
}
