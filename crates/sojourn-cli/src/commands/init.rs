//! `sojourn init`: a first journey file.

use sojourn_plan::{StarterKind, starter};

use crate::{errors::UsageError, outputs};

/// Write a first journey file to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn init > journey.yaml
  sojourn init --kafka 127.0.0.1:9092 --topic orders.events > journey.yaml")]
pub(crate) struct Init {
    /// Base of the URLs
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    target: String,
    /// Follow events on Kafka, at these brokers
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "webhook")]
    kafka: Option<String>,
    /// Topic of the events
    #[arg(long, value_name = "TOPIC", requires = "kafka", default_value = "things.events")]
    topic: String,
    /// Follow webhooks, received at this address
    #[arg(long, value_name = "HOST:PORT")]
    webhook: Option<String>,
}

/// Prints it, with the flags' values in place of the starter's.
pub(crate) fn run(command: &Init) -> Result<u8, UsageError> {
    let (kind, changes) = match (&command.kafka, &command.webhook) {
        (Some(brokers), _) => (
            StarterKind::Kafka,
            vec![("127.0.0.1:9092", brokers), ("things.events", &command.topic)],
        ),
        (None, Some(listen)) => (StarterKind::Webhook, vec![("127.0.0.1:9000", listen)]),
        (None, None) => (StarterKind::Http, Vec::new()),
    };
    let text = starter(kind).replace("http://127.0.0.1:8080", &command.target);
    let text = changes.into_iter().fold(text, |text, (usual, asked)| text.replace(usual, asked));
    outputs::print(&text);
    Ok(0)
}
