//! How much waits in the system's queues.

use std::time::Duration;

use sojourn_broker::{Backlog, BrokerError, Figure, Reading};
use sojourn_clock::now_ns;
use sojourn_plan::AmqpChannel;

use crate::config::Settings;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::management::Management;
use crate::wire::method::{QueueKind, Said};

/// A channel for each question after one that the broker closed: the number is not used again.
const CHANNEL: u16 = 1;
/// As often as it is asked, each second, and long enough for a pause.
const HEARTBEAT_S: u16 = 30;

/// Asks for the queues that the plan names. What is ready it asks over AMQP, which knows at once;
/// what is unacknowledged only the management knows, some seconds later.
pub struct AmqpBacklog {
    settings: Settings,
    queues: Vec<String>,
    management: Option<Management>,
    connection: Option<Connection>,
    open: bool,
}

impl AmqpBacklog {
    /// Reads these queues. Errs when the settings can't work.
    pub fn new(channel: &AmqpChannel, queues: &[String]) -> Result<Self, BrokerError> {
        Ok(Self {
            settings: Settings::new(channel)?,
            queues: queues.to_vec(),
            management: Management::of(channel)?,
            connection: None,
            open: false,
        })
    }

    fn ready(&mut self, queue: &str, deadline_ns: u64) -> Result<u32, Failure> {
        if self.connection.is_none() {
            self.connection = Some(Connection::open(&self.settings, HEARTBEAT_S, deadline_ns)?);
            self.open = false;
        }
        let Some(connection) = &mut self.connection else { return Err(Failure::Lost) };
        if !self.open {
            connection.open_channel(CHANNEL, deadline_ns)?;
            self.open = true;
        }
        connection.out().queue_declare(CHANNEL, queue.as_bytes(), QueueKind::Existing)?;
        connection.until(deadline_ns, "a queue's length", |said, _| match said {
            Some(Said::QueueDeclared { ready, .. }) => Ok(Some(*ready)),
            _ => Ok(None),
        })
    }
}

impl Backlog for AmqpBacklog {
    fn read(&mut self, timeout: Duration, readings: &mut Vec<Reading>) -> Result<(), BrokerError> {
        let deadline_ns = now_ns() + timeout.as_nanos() as u64;
        let mut problem = None;
        for queue in self.queues.clone() {
            let mut tell = |figure, value| {
                readings.push(Reading { of: queue.clone(), figure, value });
            };
            match self.ready(&queue, deadline_ns) {
                Ok(ready) => tell(Figure::Waiting, f64::from(ready)),
                Err(failure) => {
                    match failure {
                        Failure::ChannelClosed { .. } => self.open = false,
                        _ => self.connection = None,
                    }
                    let error = match failure {
                        Failure::ChannelClosed { code: 404, .. } => BrokerError::new(format!(
                            "{}: no queue `{queue}` in virtual host `{}`",
                            self.settings.name(),
                            self.settings.vhost
                        ))
                        .with_hint(
                            "`backlog` takes names of queues: see `rabbitmqctl list_queues`",
                        ),
                        failure => failure.error(&self.settings),
                    };
                    problem = problem.or(Some(error));
                    continue;
                }
            }
            if let Some(management) = &self.management {
                match management.unacknowledged(&self.settings.vhost, &queue, deadline_ns) {
                    Ok(Some(count)) => tell(Figure::Unacknowledged, count),
                    // A queue that is new has no figures yet.
                    Ok(None) => {}
                    Err(error) => problem = problem.or(Some(error)),
                }
            }
        }
        problem.map_or(Ok(()), Err)
    }
}

impl std::fmt::Debug for AmqpBacklog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("AmqpBacklog");
        shown
            .field("settings", &self.settings)
            .field("queues", &self.queues)
            .finish_non_exhaustive()
    }
}
