//! From bytes to packets.

use sojourn_plan::MqttVersion;

use super::{Malformed, PACKET_BYTES_MAX, Properties, kind};

/// A whole packet's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    /// Type and flags.
    pub(crate) first: u8,
    /// All behind the fixed header.
    pub(crate) body: &'a [u8],
    /// Of the packet with its fixed header, bytes.
    pub(crate) length: usize,
}

impl Frame<'_> {
    /// The packet's type.
    pub(crate) fn kind(&self) -> u8 {
        self.first >> 4
    }
}

/// A packet that a broker sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet<'a> {
    /// The answer to CONNECT.
    ConnAck { reason: u8, properties: Properties<'a> },
    /// A message.
    Publish(Publish<'a>),
    /// A step in the exchange about a message.
    Ack { ack: Ack, id: u16, reason: u8 },
    /// What became of each filter.
    SubAck { id: u16, reasons: &'a [u8] },
    /// The answer to UNSUBSCRIBE.
    UnsubAck { id: u16 },
    /// The answer to PINGREQ.
    PingResp,
    /// The broker goes, and why.
    Disconnect { reason: u8 },
}

/// Which step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ack {
    /// PUBACK, of QoS 1.
    Taken,
    /// PUBREC, of QoS 2.
    Received,
    /// PUBREL, of QoS 2.
    Released,
    /// PUBCOMP, of QoS 2.
    Complete,
}

/// A message (section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Publish<'a> {
    /// Quality of service, 0 to 2.
    pub(crate) qos: u8,
    /// It had been kept, and is no news.
    pub(crate) retain: bool,
    /// Of QoS 1 and 2.
    pub(crate) id: Option<u16>,
    pub(crate) topic: &'a str,
    pub(crate) properties: Properties<'a>,
    pub(crate) payload: &'a [u8],
}

/// The first packet of these bytes; `None`: it is not there as a whole.
pub(crate) fn frame(bytes: &[u8]) -> Result<Option<Frame<'_>>, Malformed> {
    let Some((&first, rest)) = bytes.split_first() else { return Ok(None) };
    let mut length = 0;
    for place in 0..4 {
        let Some(&byte) = rest.get(place) else { return Ok(None) };
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            if length > PACKET_BYTES_MAX {
                return Err(Malformed("a packet of more than 64 MiB"));
            }
            let body = rest.get(place + 1..place + 1 + length);
            let length = 2 + place + length;
            return Ok(body.map(|body| Frame { first, body, length }));
        }
    }
    Err(Malformed("a length of more than four bytes"))
}

/// Reads a packet.
pub(crate) fn packet<'a>(frame: &Frame<'a>, version: MqttVersion) -> Result<Packet<'a>, Malformed> {
    let mut bytes = Bytes(frame.body);
    let is_five = version == MqttVersion::V5;
    let packet = match frame.kind() {
        kind::CONNACK => {
            bytes.byte()?;
            let reason = bytes.byte()?;
            let properties = if is_five { bytes.properties()? } else { Properties::default() };
            Packet::ConnAck { reason, properties }
        }
        kind::PUBLISH => return publish(frame.first, bytes, is_five).map(Packet::Publish),
        kind::PUBACK => acknowledgement(Ack::Taken, &mut bytes, is_five)?,
        kind::PUBREC => acknowledgement(Ack::Received, &mut bytes, is_five)?,
        kind::PUBREL => acknowledgement(Ack::Released, &mut bytes, is_five)?,
        kind::PUBCOMP => acknowledgement(Ack::Complete, &mut bytes, is_five)?,
        kind::SUBACK => {
            let id = bytes.two()?;
            if is_five {
                bytes.properties()?;
            }
            return Ok(Packet::SubAck { id, reasons: bytes.0 });
        }
        kind::UNSUBACK => return Ok(Packet::UnsubAck { id: bytes.two()? }),
        kind::PINGRESP => Packet::PingResp,
        kind::DISCONNECT if is_five => {
            let reason = if bytes.0.is_empty() { 0 } else { bytes.byte()? };
            if !bytes.0.is_empty() {
                bytes.properties()?;
            }
            Packet::Disconnect { reason }
        }
        _ => return Err(Malformed("a packet that no broker sends")),
    };
    match bytes.0.is_empty() {
        true => Ok(packet),
        false => Err(Malformed("a packet that is longer than its contents")),
    }
}

fn publish(first: u8, mut bytes: Bytes<'_>, is_five: bool) -> Result<Publish<'_>, Malformed> {
    let qos = first >> 1 & 3;
    if qos == 3 {
        return Err(Malformed("a message of QoS 3"));
    }
    let topic = std::str::from_utf8(bytes.prefixed()?);
    let topic = topic.map_err(|_| Malformed("a topic that is not UTF-8"))?;
    if topic.is_empty() {
        return Err(Malformed("a message without a topic"));
    }
    let id = if qos > 0 { Some(bytes.packet_id()?) } else { None };
    let properties = if is_five { bytes.properties()? } else { Properties::default() };
    Ok(Publish { qos, retain: first & 1 != 0, id, topic, properties, payload: bytes.0 })
}

fn acknowledgement<'a>(
    ack: Ack,
    bytes: &mut Bytes<'a>,
    is_five: bool,
) -> Result<Packet<'a>, Malformed> {
    let id = bytes.packet_id()?;
    let mut reason = 0;
    if is_five && !bytes.0.is_empty() {
        reason = bytes.byte()?;
        if !bytes.0.is_empty() {
            bytes.properties()?;
        }
    }
    Ok(Packet::Ack { ack, id, reason })
}

/// What is left to be read.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(Malformed("a packet that ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(super) fn two(&mut self) -> Result<u16, Malformed> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn four(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A number of one to four bytes of seven bits.
    pub(super) fn variable(&mut self) -> Result<u32, Malformed> {
        let mut number = 0;
        for place in 0..4 {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed("a number of more than four bytes"))
    }

    /// Bytes behind their length.
    pub(super) fn prefixed(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.two()?;
        self.take(length.into())
    }

    fn packet_id(&mut self) -> Result<u16, Malformed> {
        match self.two()? {
            0 => Err(Malformed("a packet of number 0")),
            id => Ok(id),
        }
    }

    fn properties(&mut self) -> Result<Properties<'a>, Malformed> {
        Properties::read(self)
    }
}
