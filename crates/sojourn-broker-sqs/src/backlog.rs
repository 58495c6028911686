//! What waits in queues for the system's own consumers.

use std::time::Duration;

use sojourn_broker::{Backlog, BrokerError, Figure, Reading};
use sojourn_clock::now_ns;
use sojourn_plan::SqsChannel;

use crate::age::{Age, PREFIX};
use crate::api::Api;
use crate::config::Service;
use crate::queue::{Queue, figure};

/// Asks queues how much they hold, and CloudWatch how old it is.
pub(crate) struct SqsBacklog {
    api: Api,
    names: Vec<String>,
    /// Found once, by the place of their names.
    queues: Vec<Option<Queue>>,
    /// `None`: no age is asked for.
    ages: Option<(Api, Vec<Age>)>,
}

impl SqsBacklog {
    /// Of queues by name or URL; those that begin with [`PREFIX`] are asked for at CloudWatch.
    pub(crate) fn new(sqs: &SqsChannel, names: &[String]) -> Result<Self, BrokerError> {
        let of_age = names.iter().filter_map(|name| name.strip_prefix(PREFIX));
        let aged: Vec<Age> = of_age.map(Age::new).collect();
        let ages = match aged.is_empty() {
            true => None,
            false => Some((crate::api(sqs, Service::CloudWatch)?, aged)),
        };
        let names: Vec<String> =
            names.iter().filter(|name| !name.starts_with(PREFIX)).cloned().collect();
        let queues = vec![None; names.len()];
        Ok(Self { api: crate::api(sqs, Service::Sqs)?, names, queues, ages })
    }
}

impl Backlog for SqsBacklog {
    fn read(&mut self, timeout: Duration, readings: &mut Vec<Reading>) -> Result<(), BrokerError> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let deadline_ns = now_ns().saturating_add(timeout_ns);
        let left = || Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
        for (name, known) in self.names.iter().zip(&mut self.queues) {
            let queue = match known {
                Some(queue) => queue,
                None => known.insert(Queue::find(&mut self.api, name)?),
            };
            let attributes = queue.attributes(&mut self.api, left())?;
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
        let Some((api, ages)) = &mut self.ages else { return Ok(()) };
        ages.iter_mut().try_for_each(|age| age.read(api, left(), readings))
    }
}
