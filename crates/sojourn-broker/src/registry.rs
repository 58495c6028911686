//! Which connectors this build has.

use sojourn_plan::{Channel, Connector};

use crate::{Tap, TapError};

/// Makes a channel's tap, not yet open. Any function of this shape is one.
pub trait Factory: Fn(&Channel) -> Result<Box<dyn Tap>, TapError> + Send + Sync {}

impl<F: Fn(&Channel) -> Result<Box<dyn Tap>, TapError> + Send + Sync> Factory for F {}

/// The connectors of this build, by the cargo feature that brings each: `kafka`, `webhook`.
#[derive(Default)]
pub struct Registry {
    factories: Vec<(&'static str, Box<dyn Factory>)>,
}

impl Registry {
    /// A registry without connectors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a connector under the name of its cargo feature; a later one of a name replaces it.
    #[must_use]
    pub fn with(mut self, feature: &'static str, factory: impl Factory + 'static) -> Self {
        self.factories.retain(|(known, _)| *known != feature);
        self.factories.push((feature, Box::new(factory)));
        self
    }

    /// The channel's tap, made but not yet subscribed: [`Tap::open`] does that. Errs when this
    /// build has no such connector, naming the cargo feature, or when the channel's settings can't
    /// work.
    pub fn open(&self, channel: &Channel) -> Result<Box<dyn Tap>, TapError> {
        let feature = feature_of(&channel.connector);
        let factory = self.factories.iter().find(|(known, _)| *known == feature);
        match factory {
            Some((_, factory)) => factory(channel),
            None => Err(TapError::new(format!(
                "channel `{}` needs the {feature} connector, which this build does not have",
                channel.name
            ))
            .with_hint(format!("build sojourn with `--features {feature}`"))),
        }
    }

    /// Names of the connectors, in the order added.
    pub fn features(&self) -> impl Iterator<Item = &'static str> {
        self.factories.iter().map(|(feature, _)| *feature)
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.features()).finish()
    }
}

/// The cargo feature that brings a connector.
fn feature_of(connector: &Connector) -> &'static str {
    match connector {
        Connector::Kafka(_) => "kafka",
        Connector::Webhook(_) => "webhook",
    }
}

#[cfg(test)]
mod tests {
    use sojourn_plan::{Decoder, KafkaChannel};

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
            .with("webhook", |_: &Channel| Err(TapError::new("the webhook one")))
            .with("kafka", |channel: &Channel| {
                Err(TapError::new(format!("the kafka one, {}", channel.name)))
            });
        let error = registry.open(&channel()).err().unwrap();
        assert_eq!(error.message, "the kafka one, events");
        assert_eq!(format!("{registry:?}"), r#"["webhook", "kafka"]"#);
    }
}
