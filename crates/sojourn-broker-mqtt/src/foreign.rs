//! What the connector understands of foreign bytes, without a socket: for fuzzing and property
//! tests only, no part of the interface.

use sojourn_plan::MqttVersion;

use crate::codec::{self, Malformed, Message, Packet};
use crate::inbound::Inbound;

/// All that came of some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every packet, in words.
    pub packets: Vec<String>,
    /// Bytes of whole packets.
    pub packet_bytes: usize,
    /// Bytes of payloads.
    pub payload_bytes: usize,
    /// Why reading ended, if it did.
    pub error: Option<&'static str>,
}

/// Reads what a broker sends, in portions of this length.
pub fn read_packets(bytes: &[u8], portion: usize, version: MqttVersion) -> Reading {
    let mut reading = Reading::default();
    let mut inbound = Inbound::default();
    for mut portion in bytes.chunks(portion.max(1)) {
        while !portion.is_empty() {
            if inbound.fill(&mut portion).is_err() {
                return reading;
            }
            if let Err(Malformed(why)) = read_whole(&mut inbound, version, &mut reading) {
                reading.error = Some(why);
                return reading;
            }
        }
    }
    reading
}

fn read_whole(
    inbound: &mut Inbound,
    version: MqttVersion,
    reading: &mut Reading,
) -> Result<(), Malformed> {
    while let Some(frame) = codec::frame(inbound.bytes())? {
        let packet = codec::packet(&frame, version)?;
        if let Packet::Publish(publish) = &packet {
            reading.payload_bytes += publish.payload.len();
            // Walks through all of them.
            assert!(publish.properties.iter().count() <= frame.length);
        }
        reading.packets.push(format!("{packet:?}"));
        reading.packet_bytes += frame.length;
        let length = frame.length;
        inbound.consume(length);
    }
    Ok(())
}

/// A message as we send it.
///
/// # Errors
/// It can't be sent; the text says why.
pub fn write_message(
    version: MqttVersion,
    qos: u8,
    topic: &str,
    key: Option<&[u8]>,
    headers: &[(&str, &[u8])],
    payload: &[u8],
) -> Result<Vec<u8>, String> {
    let mut packet = Vec::new();
    let message = Message { qos, retain: false, topic, key, headers, payload };
    if let Some(place) = codec::write_publish(&mut packet, version, &message)? {
        codec::patch_packet_id(&mut packet, place, 1);
    }
    Ok(packet)
}
