//! How much waits in a stream for its durable consumers.

use std::time::Duration;

use serde_json::Value;
use sojourn_broker::{Backlog, BrokerError, Figure, Reading};
use sojourn_clock::now_ns;
use sojourn_plan::NatsChannel;

use crate::config::Settings;
use crate::connection::Connection;
use crate::jetstream::{Failure, JetStream};

/// What JetStream calls a consumer's figures.
const FIGURES: [(&str, Figure); 3] = [
    ("num_pending", Figure::Waiting),
    ("num_ack_pending", Figure::Unacknowledged),
    ("num_redelivered", Figure::Redelivered),
];

/// Asks a stream about consumers.
pub struct NatsBacklog {
    settings: Settings,
    stream: String,
    consumers: Vec<String>,
    connection: Option<Connection>,
}

impl NatsBacklog {
    /// Reads these consumers' backlog. Errs without a stream: core NATS keeps nothing.
    pub fn new(nats: &NatsChannel, consumers: &[String]) -> Result<Self, BrokerError> {
        let Some(stream) = nats.stream.clone() else {
            return Err(BrokerError::new("`backlog` of a nats channel without `stream`")
                .with_hint("core NATS keeps nothing that could wait: name the stream"));
        };
        let (settings, consumers) = (Settings::new(nats)?, consumers.to_vec());
        Ok(Self { settings, stream, consumers, connection: None })
    }

    fn ask(
        &self,
        connection: &mut Connection,
        deadline_ns: u64,
        readings: &mut Vec<Reading>,
    ) -> Result<(), Failure> {
        let (settings, stream) = (&self.settings, self.stream.as_str());
        let mut jetstream = JetStream { connection, settings, stream, deadline_ns };
        let kept = jetstream.stream_state()?.messages;
        let value = |number: u64| number as f64;
        readings.push(Reading {
            of: self.stream.clone(),
            figure: Figure::Kept,
            value: value(kept),
        });
        let mut missing = None;
        for consumer in &self.consumers {
            let told = match jetstream.consumer(consumer) {
                // The others have theirs all the same.
                Err(failure @ Failure::Refused { .. }) => {
                    missing.get_or_insert(failure);
                    continue;
                }
                told => told?,
            };
            for (name, figure) in FIGURES {
                let number = told.get(name).and_then(Value::as_u64).unwrap_or(0);
                readings.push(Reading { of: consumer.clone(), figure, value: value(number) });
            }
        }
        missing.map_or(Ok(()), Err)
    }
}

impl Backlog for NatsBacklog {
    fn read(&mut self, timeout: Duration, readings: &mut Vec<Reading>) -> Result<(), BrokerError> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let deadline_ns = now_ns().saturating_add(timeout_ns);
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.settings, deadline_ns).map_err(|lost| lost.error)?,
        };
        let asked = self.ask(&mut connection, deadline_ns, readings);
        // One that is lost is made anew the next time.
        if !matches!(asked, Err(Failure::Lost(_))) {
            self.connection = Some(connection);
        }
        asked.map_err(Failure::into_error)
    }
}

impl std::fmt::Debug for NatsBacklog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the login.
        f.debug_struct("NatsBacklog")
            .field("address", &self.settings.address)
            .field("consumers", &self.consumers)
            .finish_non_exhaustive()
    }
}
