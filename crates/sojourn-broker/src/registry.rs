//! Which connectors this build has.

use sojourn_plan::Channel;

use crate::{Backlog, BrokerError, Consumer, Publisher, PublisherSettings, Start, Tap};

/// A connector: makes what its broker offers, for a channel of its kind. Nothing it makes is
/// connected yet, but what can be seen to be wrong with the settings is said at once.
///
/// A function from a channel to its tap is a connector that only listens.
pub trait Connect: Send + Sync {
    /// A tap, not yet open.
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError>;

    /// A publisher to the channel.
    fn publisher(
        &self,
        channel: &Channel,
        settings: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        let _unused = settings;
        Err(cannot(channel, "publish"))
    }

    /// A member of a consumer group, by the broker's word for one. `start`: where the group begins
    /// if it makes it.
    fn consumer(
        &self,
        channel: &Channel,
        group: &str,
        start: Start,
    ) -> Result<Box<dyn Consumer>, BrokerError> {
        let _unused = (group, start);
        Err(cannot(channel, "consume"))
    }

    /// Creates what the channel names where it is missing (topics, streams, exchanges, tables) and
    /// what a group of this name needs to take its messages. For demos and tests, which bring their
    /// own system: a run never does this. Errs when the broker refuses.
    fn provision(&self, channel: &Channel, group: &str) -> Result<(), BrokerError> {
        let _unused = (channel, group);
        Ok(())
    }

    /// What reads the backlog that the channel's plan names; `None` where it names none.
    fn backlog(&self, channel: &Channel) -> Result<Option<Box<dyn Backlog>>, BrokerError> {
        match channel.backlog.is_empty() {
            true => Ok(None),
            false => Err(cannot(channel, "tell a backlog")),
        }
    }
}

impl<F: Fn(&Channel) -> Result<Box<dyn Tap>, BrokerError> + Send + Sync> Connect for F {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        self(channel)
    }
}

fn cannot(channel: &Channel, what: &str) -> BrokerError {
    let word = channel.connector.word();
    BrokerError::new(format!("channel `{}`: {word} cannot {what}", channel.name))
}

/// The connectors of this build, by the cargo feature that brings each: `kafka`, `webhook`.
#[derive(Default)]
pub struct Registry {
    connectors: Vec<(&'static str, Box<dyn Connect>)>,
}

impl Registry {
    /// A registry without connectors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a connector under the name of its cargo feature; a later one of a name replaces it.
    #[must_use]
    pub fn with(mut self, feature: &'static str, connector: impl Connect + 'static) -> Self {
        self.connectors.retain(|(known, _)| *known != feature);
        self.connectors.push((feature, Box::new(connector)));
        self
    }

    /// The channel's connector. Errs when this build has no such one, naming the cargo feature.
    pub fn of(&self, channel: &Channel) -> Result<&dyn Connect, BrokerError> {
        let feature = channel.connector.word();
        let found = self.connectors.iter().find(|(known, _)| *known == feature);
        found.map(|(_, connector)| connector.as_ref()).ok_or_else(|| {
            BrokerError::new(format!(
                "channel `{}` needs the {feature} connector, which this build does not have",
                channel.name
            ))
            .with_hint(format!("build sojourn with `--features {feature}`"))
        })
    }

    /// The channel's tap, made but not yet subscribed: [`Tap::open`] does that. Errs when this
    /// build has no such connector, or when the channel's settings can't work.
    pub fn open(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        self.of(channel)?.tap(channel)
    }

    /// Names of the connectors, in the order added.
    pub fn features(&self) -> impl Iterator<Item = &'static str> {
        self.connectors.iter().map(|(feature, _)| *feature)
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.features()).finish()
    }
}

#[cfg(test)]
mod tests {
    use sojourn_plan::{Connector, Decoder, KafkaChannel};

    use super::*;

    fn channel() -> Channel {
        Channel {
            name: "events".to_owned(),
            connector: Connector::Kafka(KafkaChannel {
                properties: vec![("sasl.password".to_owned(), "hunter2".to_owned())],
                ..KafkaChannel::default()
            }),
            decoder: Decoder::Auto,
            message_id: None,
            marker: None,
            backlog: Vec::new(),
        }
    }

    #[test]
    fn a_missing_connector_names_its_feature_and_no_secret() {
        let error = Registry::new().open(&channel()).err().unwrap();
        assert!(error.message.contains("kafka"), "{error}");
        assert!(error.hint.as_deref().unwrap().contains("--features kafka"));
        assert!(!format!("{error:?}").contains("hunter2"));
    }

    #[test]
    fn the_connector_of_the_channel_is_asked() {
        let registry = Registry::new()
            .with("webhook", |_: &Channel| Err(BrokerError::new("the webhook one")))
            .with("kafka", |channel: &Channel| {
                Err(BrokerError::new(format!("the kafka one, {}", channel.name)))
            });
        let error = registry.open(&channel()).err().unwrap();
        assert_eq!(error.message, "the kafka one, events");
        assert_eq!(format!("{registry:?}"), r#"["webhook", "kafka"]"#);
        let kafka = registry.of(&channel()).unwrap();
        let error = kafka.publisher(&channel(), PublisherSettings::default()).err().unwrap();
        assert_eq!(error.message, "channel `events`: kafka cannot publish");
    }
}
