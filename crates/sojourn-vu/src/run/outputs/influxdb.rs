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
    /// The first of them as they were sent, until the server has them or refuses them for good: the
    /// same text again changes nothing if it had come through, another one would count twice.
    under_way: Option<UnderWay>,
    /// Samples that the server will never take.
    lost: u64,
}

/// Lines of the first samples held.
struct UnderWay {
    text: String,
    samples: usize,
    /// Of those, the ones that have no line.
    skipped: u64,
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
        Ok(Self { writer, lines, held: VecDeque::new(), under_way: None, lost: 0 })
    }
}

impl InfluxDb {
    /// The lines of the first samples held, as many as one request takes.
    fn rendered(&mut self, registry: &Registry) -> UnderWay {
        let samples = self.held.len().min(LINES_MAX);
        let (mut text, before) = (String::new(), self.lines.skipped());
        self.lines.push(&mut text, &self.held.make_contiguous()[..samples], registry);
        UnderWay { text, samples, skipped: self.lines.skipped() - before }
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
            let batch = match self.under_way.take() {
                Some(batch) => batch,
                None => self.rendered(moment.registry),
            };
            let left_ns = until_ns.saturating_sub(now_ns()).max(1);
            let written = match batch.text.is_empty() {
                true => Ok(()),
                false => self.writer.write(&batch.text, Duration::from_nanos(left_ns)),
            };
            match written {
                Ok(()) => self.lost += batch.skipped,
                Err(Failure::Again(words)) => {
                    self.under_way = Some(batch);
                    return Err(Failure::Again(words));
                }
                // Others may be taken all the same.
                Err(Failure::Never(words)) => {
                    self.lost += batch.samples as u64;
                    refusal = Some(Failure::Never(words));
                }
            }
            self.held.drain(..batch.samples);
        }
        refusal.map_or(Ok(()), Err)
    }

    fn unsent(&self) -> u64 {
        self.lost + self.held.len() as u64
    }
}
