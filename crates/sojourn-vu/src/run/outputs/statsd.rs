//! Samples as lines to StatsD. What the network takes is counted as arrived: nobody answers.

use sojourn_k6::metrics::{Registry, Sample};
use sojourn_k6::output::{StatsdLines, StatsdOptions};
use sojourn_outputs::wire::{Datagrams, Failure};

use super::sender::{Push, Sending, WAITING_MAX};

/// See the module's page.
pub(super) struct Statsd {
    datagrams: Datagrams,
    lines: StatsdLines,
    held: Vec<String>,
    lost: u64,
}

impl Statsd {
    pub(super) fn new(options: StatsdOptions) -> Result<Self, String> {
        let datagrams = Datagrams::new(&options.address)?;
        Ok(Self { datagrams, lines: StatsdLines::new(&options), held: Vec::new(), lost: 0 })
    }
}

impl Sending for Statsd {
    fn take(&mut self, samples: &[Sample], registry: &Registry) -> u64 {
        let room = (WAITING_MAX as usize).saturating_sub(self.held.len());
        let (taken, refused) = samples.split_at(room.min(samples.len()));
        for sample in taken {
            match self.lines.line(sample, registry) {
                Some(line) => self.held.push(line),
                None => self.lost += 1,
            }
        }
        refused.len() as u64
    }

    fn push(&mut self, _: Push<'_>) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.held);
        let count = lines.len() as u64;
        let sent = self.datagrams.send(lines);
        if sent.is_err() {
            // What was sent cannot be taken back, so none of it is tried again.
            self.lost += count;
        }
        sent
    }

    fn unsent(&self) -> u64 {
        self.lost + self.held.len() as u64
    }
}
