//! Samples as lines to InfluxDB 1.

use std::collections::VecDeque;
use std::time::Duration;

use sojourn_clock::now_ns;
use sojourn_k6::metrics::{Registry, Sample};
use sojourn_k6::output::{InfluxDbLines, InfluxDbOptions};
use sojourn_outputs::wire::{Endpoint, Failure, LineWriter, Poster, Security, escaped};
use url::Url;

use super::sender::{Push, Sending, WAITING_MAX};

/// Most lines of one request: some megabytes, a tenth of what a server takes.
const LINES_MAX: usize = 10_000;

/// See the module's page.
pub(super) struct InfluxDb {
    writer: LineWriter,
    lines: InfluxDbLines,
    held: VecDeque<Sample>,
    /// Samples that the server will never take.
    lost: u64,
}

impl InfluxDb {
    pub(super) fn new(options: InfluxDbOptions) -> Result<Self, String> {
        let mut url = Url::parse(&options.url).map_err(|error| format!("no URL: {error}"))?;
        if let Some(name) = &options.username {
            let set = url.set_username(name);
            let set = set.and_then(|()| url.set_password(options.password.as_deref()));
            set.map_err(|()| "a URL without a host has no user".to_owned())?;
        }
        let endpoint = Endpoint::new(&url, &[])?;
        let security = Security { is_unverified: options.is_unverified, ..Security::default() };
        let poster = Poster::new(&endpoint, &security)?;
        let (precision_ns, unit) = options.precision;
        let mut query = vec![("precision", unit)];
        query.extend(options.retention.as_deref().map(|it| ("rp", it)));
        query.extend(options.consistency.as_deref().map(|it| ("consistency", it)));
        let writer = LineWriter::version_1(poster, &options.database, &query);
        let lines = InfluxDbLines::new(options.fields, precision_ns, escaped);
        Ok(Self { writer, lines, held: VecDeque::new(), lost: 0 })
    }
}

impl Sending for InfluxDb {
    fn take(&mut self, samples: &[Sample], _: &Registry) -> u64 {
        let room = (WAITING_MAX as usize).saturating_sub(self.held.len());
        let (taken, refused) = samples.split_at(room.min(samples.len()));
        self.held.extend(taken.iter().cloned());
        refused.len() as u64
    }

    fn push(&mut self, moment: Push<'_>) -> Result<(), Failure> {
        let until_ns = now_ns() + moment.timeout.as_nanos() as u64;
        let mut refusal = None;
        while !self.held.is_empty() {
            let count = self.held.len().min(LINES_MAX);
            let samples = &self.held.make_contiguous()[..count];
            let (mut text, skipped) = (String::new(), self.lines.skipped());
            self.lines.push(&mut text, samples, moment.registry);
            let left_ns = until_ns.saturating_sub(now_ns()).max(1);
            let written = match text.is_empty() {
                true => Ok(()),
                false => self.writer.write(&text, Duration::from_nanos(left_ns)),
            };
            match written {
                Ok(()) => self.lost += self.lines.skipped() - skipped,
                Err(Failure::Again(words)) => return Err(Failure::Again(words)),
                // Others may be taken all the same.
                Err(Failure::Never(words)) => {
                    self.lost += count as u64;
                    refusal = Some(Failure::Never(words));
                }
            }
            self.held.drain(..count);
        }
        refusal.map_or(Ok(()), Err)
    }

    fn unsent(&self) -> u64 {
        self.lost + self.held.len() as u64
    }
}
