//! The packets of MQTT 3.1.1 and 5, as a client reads and writes them, without a socket.
//!
//! Sections named in this crate are those of the two standards by OASIS. Reading borrows from the
//! bytes; bytes that break the standard are an error, never a panic, and no length is believed
//! before the bytes are there.

mod properties;
mod read;
mod reason;
mod write;

pub(crate) use properties::{
    CONTENT_TYPE, CORRELATION_DATA, MAXIMUM_PACKET_SIZE, MAXIMUM_QOS, Properties, RECEIVE_MAXIMUM,
    RESPONSE_TOPIC, SERVER_KEEP_ALIVE, SHARED_SUBSCRIPTION_AVAILABLE, USER_PROPERTY, Value,
};
pub(crate) use read::{Ack, Packet, Publish, frame, packet};
pub(crate) use reason::{connection_refused, is_failure, reason_name};
pub use write::Will;
pub(crate) use write::{
    Connect, Message, patch_packet_id, write_ack, write_connect, write_disconnect, write_ping,
    write_publish, write_subscribe, write_unsubscribe,
};

/// The longest packet taken, bytes; the standard's own limit is four times that.
pub(crate) const PACKET_BYTES_MAX: usize = 64 << 20;

/// Bytes that are no MQTT, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Numbers of packets' types, the upper half of the first byte (section 2.1.2).
pub(crate) mod kind {
    pub(crate) const CONNECT: u8 = 1;
    pub(crate) const CONNACK: u8 = 2;
    pub(crate) const PUBLISH: u8 = 3;
    pub(crate) const PUBACK: u8 = 4;
    pub(crate) const PUBREC: u8 = 5;
    pub(crate) const PUBREL: u8 = 6;
    pub(crate) const PUBCOMP: u8 = 7;
    pub(crate) const SUBSCRIBE: u8 = 8;
    pub(crate) const SUBACK: u8 = 9;
    pub(crate) const UNSUBSCRIBE: u8 = 10;
    pub(crate) const UNSUBACK: u8 = 11;
    pub(crate) const PINGREQ: u8 = 12;
    pub(crate) const PINGRESP: u8 = 13;
    pub(crate) const DISCONNECT: u8 = 14;
}
