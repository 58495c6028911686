//! A channel's decoder, ready for messages: with the schemas that it reads them by.
//!
//! What reads by a schema is in crates of its own (`sojourn-avro`, `sojourn-protobuf`), which the
//! cargo features of the same names bring. Unit tests always have both.

use std::time::Duration;

#[cfg(any(feature = "avro", feature = "protobuf", test))]
use serde_json::Value;
use sojourn_plan::{Channel, Decoder};

#[cfg(any(feature = "avro", feature = "protobuf", test))]
use crate::decode::take_apart;
use crate::decode::{Reading, outcome, read};
use crate::{BrokerError, Decoded, RawMessage};

/// A channel's decoder, ready for messages.
#[derive(Debug, Default)]
pub struct OpenDecoder {
    decoder: Decoder,
    schemas: Schemas,
}

#[derive(Debug, Default)]
enum Schemas {
    #[default]
    None,
    #[cfg(any(feature = "avro", test))]
    Avro(Box<sojourn_avro::Avro>),
    #[cfg(any(feature = "protobuf", test))]
    Protobuf(sojourn_protobuf::Protobuf),
}

impl OpenDecoder {
    /// Reads the files and asks the schema registry that the channel's decoder names: at most some
    /// 15 seconds. Errs when they are not there or make no sense, and when this build lacks the
    /// decoder, naming its cargo feature.
    ///
    /// A message whose schema turns out later to be needed waits for it as long as `patience`. Zero
    /// where messages are stamped on the thread that decodes them: such a message is unreadable.
    pub fn open(channel: &Channel, patience: Duration) -> Result<Self, BrokerError> {
        let _unused = patience;
        let schemas = match &channel.decoder {
            #[cfg(any(feature = "avro", test))]
            Decoder::Avro(schema) => {
                let topics = match &channel.connector {
                    sojourn_plan::Connector::Kafka(kafka) => kafka.topics.as_slice(),
                    _ => &[],
                };
                let avro = sojourn_avro::Avro::open(schema, topics, patience);
                let avro = avro.map_err(|error| failed(channel, &error.message, error.hint))?;
                Schemas::Avro(Box::new(avro))
            }
            #[cfg(any(feature = "protobuf", test))]
            Decoder::Protobuf(schema) => {
                let sojourn_plan::ProtobufSchema { descriptor, message, registry } = schema;
                let opened = sojourn_protobuf::Protobuf::open(descriptor, message, *registry);
                Schemas::Protobuf(
                    opened.map_err(|error| failed(channel, &error.message, error.hint))?,
                )
            }
            #[cfg(not(any(feature = "avro", test)))]
            Decoder::Avro(_) => return Err(missing(channel, "avro")),
            #[cfg(not(any(feature = "protobuf", test)))]
            Decoder::Protobuf(_) => return Err(missing(channel, "protobuf")),
            _ => Schemas::None,
        };
        Ok(Self { decoder: channel.decoder.clone(), schemas })
    }

    /// A decoder that has nothing to open. One that has ([`Decoder::Avro`], [`Decoder::Protobuf`])
    /// reads no message then.
    pub fn plain(decoder: Decoder) -> Self {
        Self { decoder, schemas: Schemas::None }
    }

    /// The decoder as the plan has it.
    pub(crate) fn declared(&self) -> &Decoder {
        &self.decoder
    }

    /// Reads a message; `Err` says in words why it can't be read, as [`crate::decode`] does.
    pub fn decode(&mut self, message: &RawMessage<'_>) -> Result<Decoded, String> {
        let reading = self.read(message, true);
        outcome(&self.decoder, reading)
    }

    /// Reads a message, parsing its payload once.
    pub(crate) fn read(&mut self, message: &RawMessage<'_>, keep_envelope: bool) -> Reading {
        match &mut self.schemas {
            Schemas::None => read(&self.decoder, message, keep_envelope),
            #[cfg(any(feature = "avro", test))]
            Schemas::Avro(avro) => {
                if message.payload.is_empty() && avro.has_changes() {
                    return Reading { is_tombstone: true, ..Reading::default() };
                }
                let read = avro.read(message.payload);
                named(&self.decoder, message, keep_envelope, read)
            }
            #[cfg(any(feature = "protobuf", test))]
            Schemas::Protobuf(protobuf) => {
                let read = protobuf.read(message.payload);
                let read = read.map(|(document, name)| (document, Some(name)));
                named(&self.decoder, message, keep_envelope, read)
            }
        }
    }
}

/// A document whose schema has a name, which is the event's type unless it says another.
#[cfg(any(feature = "avro", feature = "protobuf", test))]
fn named(
    decoder: &Decoder,
    message: &RawMessage<'_>,
    keep_envelope: bool,
    read: Result<(Value, Option<String>), String>,
) -> Reading {
    let (document, name) = match read {
        Ok((document, name)) => (Ok(document), name),
        Err(problem) => (Err(problem), None),
    };
    let mut reading = take_apart(decoder, message, document, keep_envelope);
    let decoded = &mut reading.decoded;
    if let Some(name) = name
        && decoded.event_type.is_none()
    {
        decoded.type_alias = name.rsplit_once('.').map(|(_, short)| short.to_owned());
        decoded.event_type = Some(name);
    }
    reading
}

#[cfg(any(feature = "avro", feature = "protobuf", test))]
fn failed(channel: &Channel, message: &str, hint: Option<String>) -> BrokerError {
    BrokerError { message: format!("channel `{}`: {message}", channel.name), hint }
}

#[cfg(not(any(all(feature = "avro", feature = "protobuf"), test)))]
fn missing(channel: &Channel, feature: &str) -> BrokerError {
    BrokerError::new(format!(
        "channel `{}` needs the {feature} decoder, which this build does not have",
        channel.name
    ))
    .with_hint(format!("build sojourn with `--features {feature}`"))
}

#[cfg(test)]
#[path = "open_decoder_tests.rs"]
mod tests;
