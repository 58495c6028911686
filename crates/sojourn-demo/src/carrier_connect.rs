//! A carrier from two channels: what they name is created, then publishers and a consumer are made.

use crate::carrier::{Carrier, CarrierEnd};
use sojourn_broker::{
    BrokerError, Consumer, PublisherSettings, RawMessage, Registry, Sink, Start, Tap,
};
use sojourn_plan::{Channel, Connector};
use std::time::Duration;

/// The consumer group, queue or durable consumer that the demo's own consumer is.
const GROUP: &str = "sojourn-demo";
/// The one that keeps what was given up until somebody looks at it.
const DEAD_LETTER_GROUP: &str = "sojourn-demo-dead-letters";

impl Carrier {
    /// The ends of a broker, by its connector in the registry. Errs when the broker is not there or
    /// refuses something, and when this build has no such connector.
    pub fn connect(
        registry: &Registry,
        name: &str,
        events: &Channel,
        dead_letters: &Channel,
    ) -> Result<Self, BrokerError> {
        let end = |channel: &Channel, group: &str| -> Result<CarrierEnd, BrokerError> {
            let connector = registry.of(channel)?;
            connector.provision(channel, group)?;
            let topic = channel.connector.usual_topic().unwrap_or_default().to_owned();
            let publisher = connector.publisher(channel, PublisherSettings::default())?;
            Ok(CarrierEnd { publisher, topic })
        };
        Ok(Self {
            name: name.to_owned(),
            events: end(events, GROUP)?,
            dead_letters: end(dead_letters, DEAD_LETTER_GROUP)?,
            consumer: consumer(registry, events)?,
        })
    }
}

/// The group's only member; of a database, which has no groups, whoever reads its new rows.
fn consumer(registry: &Registry, events: &Channel) -> Result<Box<dyn Consumer>, BrokerError> {
    let connector = registry.of(events)?;
    match events.connector {
        Connector::Postgres(_) => {
            let mut tap = connector.tap(events)?;
            tap.open()?;
            Ok(Box::new(Reader { tap }))
        }
        _ => connector.consumer(events, GROUP, Start::Latest),
    }
}

/// Reads a table from its present end on, as long as it lives. The demo's store goes with the demo
/// too, so nothing need be remembered of how far it came.
struct Reader {
    tap: Box<dyn Tap>,
}

impl Consumer for Reader {
    /// Hands over all that there is, which may be more than was asked for.
    fn consume(
        &mut self,
        _messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        let mut counted = Counted { sink, messages: 0 };
        self.tap.poll(timeout, &mut counted)?;
        Ok(counted.messages)
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        Ok(())
    }

    fn assigned(&self) -> usize {
        1
    }

    fn leave(&mut self) {}
}

struct Counted<'a> {
    sink: &'a mut dyn Sink,
    messages: usize,
}

impl Sink for Counted<'_> {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.messages += 1;
        self.sink.message(message);
    }
}
