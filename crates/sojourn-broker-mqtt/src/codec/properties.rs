//! The properties of MQTT 5 (section 2.2.2).

use super::Malformed;
use super::read::Bytes;

pub(crate) const CONTENT_TYPE: u8 = 0x03;
pub(crate) const RESPONSE_TOPIC: u8 = 0x08;
pub(crate) const CORRELATION_DATA: u8 = 0x09;
pub(crate) const SERVER_KEEP_ALIVE: u8 = 0x13;
pub(crate) const RECEIVE_MAXIMUM: u8 = 0x21;
pub(crate) const MAXIMUM_QOS: u8 = 0x24;
pub(crate) const USER_PROPERTY: u8 = 0x26;
pub(crate) const MAXIMUM_PACKET_SIZE: u8 = 0x27;
pub(crate) const SHARED_SUBSCRIPTION_AVAILABLE: u8 = 0x2a;

/// A packet's properties, known to be well formed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Properties<'a>(&'a [u8]);

/// One property's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A number of one, two or four bytes, or of one to four.
    Number(u32),
    /// A text or binary data.
    Bytes(&'a [u8]),
    /// A user property: name and value.
    Pair(&'a [u8], &'a [u8]),
}

impl<'a> Properties<'a> {
    /// Reads a length and so many bytes of properties.
    pub(super) fn read(bytes: &mut Bytes<'a>) -> Result<Self, Malformed> {
        let length = bytes.variable()? as usize;
        let own = bytes.take(length)?;
        let mut rest = Bytes(own);
        while !rest.0.is_empty() {
            property(&mut rest)?;
        }
        Ok(Self(own))
    }

    /// Each with its number, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u8, Value<'a>)> {
        let mut rest = Bytes(self.0);
        // They have been read once already.
        std::iter::from_fn(move || (!rest.0.is_empty()).then(|| property(&mut rest).ok()).flatten())
    }

    /// The first number under this one.
    pub(crate) fn number(self, id: u8) -> Option<u32> {
        self.iter().find_map(|(found, value)| match value {
            Value::Number(number) if found == id => Some(number),
            _ => None,
        })
    }

    /// The first text or data under this number.
    pub(crate) fn bytes(self, id: u8) -> Option<&'a [u8]> {
        self.iter().find_map(|(found, value)| match value {
            Value::Bytes(bytes) if found == id => Some(bytes),
            _ => None,
        })
    }
}

fn property<'a>(rest: &mut Bytes<'a>) -> Result<(u8, Value<'a>), Malformed> {
    let id = rest.byte()?;
    let value = match id {
        0x01 | 0x17 | 0x19 | MAXIMUM_QOS | 0x25 | 0x28 | 0x29 | SHARED_SUBSCRIPTION_AVAILABLE => {
            Value::Number(rest.byte()?.into())
        }
        SERVER_KEEP_ALIVE | RECEIVE_MAXIMUM | 0x22 | 0x23 => Value::Number(rest.two()?.into()),
        0x02 | 0x11 | 0x18 | MAXIMUM_PACKET_SIZE => Value::Number(rest.four()?),
        0x0b => Value::Number(rest.variable()?),
        CONTENT_TYPE | RESPONSE_TOPIC | CORRELATION_DATA | 0x12 | 0x15 | 0x16 | 0x1a | 0x1c
        | 0x1f => Value::Bytes(rest.prefixed()?),
        USER_PROPERTY => Value::Pair(rest.prefixed()?, rest.prefixed()?),
        _ => return Err(Malformed("an unknown property")),
    };
    Ok((id, value))
}
