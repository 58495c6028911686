//! What waits in queues for the system's own consumers.

use std::time::Duration;

use sojourn_broker::{Backlog, BrokerError, Figure, Reading};
use sojourn_clock::now_ns;

use crate::api::Api;
use crate::queue::{Queue, figure};

/// Asks queues how much they hold.
pub(crate) struct SqsBacklog {
    api: Api,
    names: Vec<String>,
    /// Found once, by the place of their names.
    queues: Vec<Option<Queue>>,
}

impl SqsBacklog {
    pub(crate) fn new(api: Api, names: Vec<String>) -> Self {
        let queues = vec![None; names.len()];
        Self { api, names, queues }
    }
}

impl Backlog for SqsBacklog {
    fn read(&mut self, timeout: Duration, readings: &mut Vec<Reading>) -> Result<(), BrokerError> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let deadline_ns = now_ns().saturating_add(timeout_ns);
        for (name, known) in self.names.iter().zip(&mut self.queues) {
            let queue = match known {
                Some(queue) => queue,
                None => known.insert(Queue::find(&mut self.api, name)?),
            };
            let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
            let attributes = queue.attributes(&mut self.api, left)?;
            for (attribute, what) in [
                ("ApproximateNumberOfMessages", Figure::Waiting),
                ("ApproximateNumberOfMessagesNotVisible", Figure::Unacknowledged),
            ] {
                if let Some(count) = figure(&attributes, attribute) {
                    readings.push(Reading {
                        of: queue.name.clone(),
                        figure: what,
                        value: count as f64,
                    });
                }
            }
        }
        Ok(())
    }
}
