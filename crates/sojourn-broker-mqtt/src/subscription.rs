//! Messages of a subscription, and their acknowledgement.

use sojourn_broker::{RawMessage, Sink};

use crate::codec::{
    self, Ack, CONTENT_TYPE, CORRELATION_DATA, Packet, Properties, Publish, RESPONSE_TOPIC,
    USER_PROPERTY, Value,
};
use crate::connection::{Connection, Lost};

/// Every packet number that there is.
const PACKET_IDS: usize = 1 << 16;

/// Takes a session's messages in. What QoS 1 and 2 want answered is answered at once, or if asked.
#[derive(Debug)]
pub(crate) struct Subscription {
    /// Nothing is acknowledged before [`Self::acknowledge`].
    holds: bool,
    held: Vec<(Ack, u16)>,
    /// Messages of QoS 2 that are not released yet: they may come again, and are no news then.
    unreleased: Box<[u64]>,
    /// Messages that had been kept before the subscription, and were left out.
    pub(crate) retained: u64,
}

impl Subscription {
    /// Of a session that has just begun. `holds`: nothing is acknowledged unless asked.
    pub(crate) fn new(holds: bool) -> Self {
        let unreleased = vec![0; PACKET_IDS / 64].into_boxed_slice();
        Self { holds, held: Vec::new(), unreleased, retained: 0 }
    }

    /// Takes up to `messages_max` of the messages that are there as a whole; `each` gets a message
    /// and its packet.
    pub(crate) fn receive(
        &mut self,
        connection: &mut Connection,
        messages_max: usize,
        each: &mut dyn FnMut(&Publish<'_>, &[u8]),
    ) -> Result<usize, Lost> {
        let mut count = 0;
        let mut consumed = 0;
        let version = connection.version;
        while count < messages_max {
            let rest = &connection.inbound.bytes()[consumed..];
            let Some(found) = codec::frame(rest)? else { break };
            consumed += found.length;
            match codec::packet(&found, version)? {
                Packet::Publish(publish) => {
                    let is_new = self.answer(&mut connection.outbound, &publish);
                    if publish.retain {
                        self.retained += 1;
                    } else if is_new {
                        count += 1;
                        each(&publish, &rest[..found.length]);
                    }
                }
                Packet::Ack { ack: Ack::Released, id, .. } => {
                    self.unreleased[usize::from(id) / 64] &= !(1 << (id % 64));
                    codec::write_ack(&mut connection.outbound, Ack::Complete, id);
                }
                Packet::Disconnect { reason } => {
                    let why = codec::reason_name(reason);
                    return Err(Lost(format!("the broker ended the session: {why}")));
                }
                Packet::PingResp => connection.answered_ping(),
                Packet::UnsubAck { .. } | Packet::Ack { .. } => {}
                Packet::ConnAck { .. } | Packet::SubAck { .. } => {
                    return Err(Lost("the broker answered what was not asked".to_owned()));
                }
            }
        }
        connection.inbound.consume(consumed);
        Ok(count)
    }

    /// Answers a message, or notes that it is to be; whether it is the first of its kind.
    fn answer(&mut self, outbound: &mut Vec<u8>, publish: &Publish<'_>) -> bool {
        let Some(id) = publish.id else { return true };
        let ack = if publish.qos == 1 { Ack::Taken } else { Ack::Received };
        let mut is_new = true;
        if publish.qos == 2 {
            let (word, bit) = (&mut self.unreleased[usize::from(id) / 64], 1 << (id % 64));
            is_new = *word & bit == 0;
            *word |= bit;
        }
        // Bounded by the packet numbers: the broker may not use one again that is not answered.
        if self.holds && !publish.retain && self.held.len() < PACKET_IDS {
            self.held.push((ack, id));
        } else {
            codec::write_ack(outbound, ack, id);
        }
        is_new
    }

    /// Acknowledges all that was handed over; how many of them.
    pub(crate) fn acknowledge(&mut self, outbound: &mut Vec<u8>) -> usize {
        let count = self.held.len();
        for (ack, id) in self.held.drain(..) {
            codec::write_ack(outbound, ack, id);
        }
        count
    }
}

/// Hands a message to a sink.
pub(crate) fn hand_over(publish: &Publish<'_>, stamp_ns: u64, sink: &mut dyn Sink) {
    sink.message(&RawMessage {
        stamp_ns,
        topic: publish.topic,
        key: publish.properties.bytes(CORRELATION_DATA),
        headers: headers(publish.properties),
        payload: publish.payload,
        position: None,
    });
}

/// Content type, response topic and user properties, in the order sent. A name that is not UTF-8 is
/// left out: no plan could name it.
fn headers(properties: Properties<'_>) -> Vec<(&str, &[u8])> {
    let mut headers = Vec::new();
    for (id, value) in properties.iter() {
        match (id, value) {
            (CONTENT_TYPE, Value::Bytes(value)) => headers.push(("content-type", value)),
            (RESPONSE_TOPIC, Value::Bytes(value)) => headers.push(("response-topic", value)),
            (USER_PROPERTY, Value::Pair(name, value)) => {
                if let Ok(name) = std::str::from_utf8(name) {
                    headers.push((name, value));
                }
            }
            _ => {}
        }
    }
    headers
}
