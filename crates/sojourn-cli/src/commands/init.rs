//! `sojourn init`: a first journey file.

use crate::{errors::UsageError, outputs};

/// Write a first journey file to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn init > journey.yaml
  sojourn init --kafka 127.0.0.1:9092 --topic orders.events --target http://127.0.0.1:8080 > journey.yaml")]
pub(crate) struct Init {
    /// Base of the URLs
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    target: String,
    /// Follow events on Kafka, at these brokers
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "webhook")]
    kafka: Option<String>,
    /// Topic of the events
    #[arg(
        long,
        value_name = "TOPIC",
        requires = "kafka",
        default_value = "events"
    )]
    topic: String,
    /// Follow webhooks, received at this address
    #[arg(long, value_name = "HOST:PORT")]
    webhook: Option<String>,
}

/// Prints it.
pub(crate) fn run(command: &Init) -> Result<u8, UsageError> {
    let kind = match (&command.kafka, &command.webhook) {
        (Some(brokers), _) => sojourn_plan::Starter::Kafka {
            brokers: brokers.clone(),
            topic: command.topic.clone(),
        },
        (None, Some(listen)) => sojourn_plan::Starter::Webhook {
            listen: listen.clone(),
        },
        (None, None) => sojourn_plan::Starter::Http,
    };
    outputs::print(&sojourn_plan::starter(&kind, &command.target));
    Ok(0)
}
