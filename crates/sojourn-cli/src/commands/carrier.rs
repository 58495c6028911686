//! The brokers that can carry the demo's events: their channels, and their ends for the system.

use sojourn_broker::BrokerError;
use sojourn_demo::Carrier;
use sojourn_plan::Channel;

use crate::{connectors::registry, errors::UsageError};

/// A broker's channels: of events, and of events that were given up.
struct Channels {
    name: &'static str,
    events: &'static str,
    dead_letters: &'static str,
}

const CHANNELS: &[Channels] = &[
    Channels {
        name: "kafka",
        events: "kafka: { brokers: \"${BROKER_URL}\", topics: [payments.events] }",
        dead_letters: "kafka: { brokers: \"${BROKER_URL}\", topics: [payments.dead-letter] }",
    },
    // A queue is its own group: the events go to the tap's and to the consumer's.
    Channels {
        name: "sqs",
        events: "sqs: { endpoint: \"${BROKER_URL}\", queue: payments-events, discard: true, \
                 publish: [payments-events, sojourn-demo] }",
        dead_letters: "sqs: { endpoint: \"${BROKER_URL}\", queue: payments-dead-letter, \
                       discard: true }",
    },
    Channels {
        name: "nats",
        events: "nats: { url: \"${BROKER_URL}\", subjects: [payments.events], \
                 stream: payments-events }",
        dead_letters: "nats: { url: \"${BROKER_URL}\", subjects: [payments.dead], \
                       stream: payments-dead }",
    },
    Channels {
        name: "redis",
        events: "redis: { url: \"${BROKER_URL}\", streams: [payments.events], field: payload }",
        dead_letters: "redis: { url: \"${BROKER_URL}\", streams: [payments.dead], field: payload }",
    },
    Channels {
        name: "amqp",
        events: "amqp: { url: \"${BROKER_URL}\", exchange: payments.events, routing: [payment] }",
        dead_letters: "amqp: { url: \"${BROKER_URL}\", exchange: payments.dead, \
                       routing: [payment] }",
    },
    Channels {
        name: "mqtt",
        events: "mqtt: { url: \"${BROKER_URL}\", topics: [payments/events], qos: 1 }",
        dead_letters: "mqtt: { url: \"${BROKER_URL}\", topics: [payments/dead], qos: 1 }",
    },
    Channels {
        name: "postgres",
        events: "postgres: { url: \"${BROKER_URL}\", table: { name: payments_events, cursor: id, \
                 every: 5ms, key: key, headers: headers, payload: payload } }",
        dead_letters: "postgres: { url: \"${BROKER_URL}\", table: { name: payments_dead, \
                       cursor: id, every: 5ms, key: key, headers: headers, payload: payload } }",
    },
];

/// The brokers' names, for `--broker`.
pub(super) fn names() -> Vec<&'static str> {
    CHANNELS.iter().map(|channels| channels.name).collect()
}

/// A journey file of the demo with a broker's channels in place of Kafka's.
pub(super) fn with_channels(text: &str, broker: &str) -> String {
    let Some(channels) = CHANNELS.iter().find(|channels| channels.name == broker) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match line.trim_start() {
            kafka if kafka.starts_with("kafka:") && kafka.contains("dead-letter") => {
                out.push_str(&format!("{indent}{}\n", channels.dead_letters));
            }
            kafka if kafka.starts_with("kafka:") => {
                out.push_str(&format!("{indent}{}\n", channels.events));
            }
            _ => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

/// The broker's ends, made ready for the demo: its channels are created where they are missing.
pub(super) fn connect(url: &str, channels: &[Channel]) -> Result<Carrier, UsageError> {
    let carrier = || -> Result<Carrier, BrokerError> {
        let (events, dead_letters) = (named(channels, "events")?, named(channels, "dead-letters")?);
        Carrier::connect(&registry(), without_user(url), events, dead_letters)
    };
    carrier().map_err(|error| {
        let hint = error.hint.unwrap_or_else(|| "is the broker running at --url?".to_owned());
        UsageError::new(error.message, hint)
    })
}

/// A broker's address without user and password.
fn without_user(url: &str) -> &str {
    url.rsplit_once('@').or_else(|| url.split_once("://")).map_or(url, |(_, rest)| rest)
}

fn named<'a>(channels: &'a [Channel], name: &str) -> Result<&'a Channel, BrokerError> {
    let found = channels.iter().find(|channel| channel.name == name);
    found.ok_or_else(|| BrokerError::new(format!("the journey file has no channel `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_user_and_password() {
        assert_eq!(without_user("nats://u:p@h:1"), "h:1");
        assert_eq!(without_user("redis://h:1/2"), "h:1/2");
        assert_eq!(without_user("h:1"), "h:1");
    }

    #[test]
    fn every_brokers_channels_stand_in_the_demos_journey_file() {
        let text = include_str!("../../../../examples/payments.yaml");
        for channels in CHANNELS {
            let written = with_channels(text, channels.name);
            assert!(written.contains(channels.events), "{written}");
            assert!(written.contains(channels.dead_letters), "{written}");
            assert!(!written.contains("${KAFKA"), "{written}");
        }
    }
}
