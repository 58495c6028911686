//! From packets to bytes.

use sojourn_plan::MqttVersion;

use super::properties::{CONTENT_TYPE, CORRELATION_DATA, RESPONSE_TOPIC, USER_PROPERTY};
use super::{Ack, kind};

/// How to say hello (section 3.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connect<'a> {
    pub(crate) version: MqttVersion,
    pub(crate) client_id: &'a str,
    /// The broker forgets what it knows of this client id, and forgets this session at its end.
    pub(crate) is_clean: bool,
    /// Only of 3.1.1: that of 5 has properties.
    pub(crate) will: Option<Will<'a>>,
    pub(crate) keep_alive_s: u16,
    pub(crate) user: Option<&'a str>,
    pub(crate) password: Option<&'a str>,
}

/// What the broker publishes when the client goes without a word (section 3.1.2.5).
#[derive(Clone, Copy, Debug)]
pub struct Will<'a> {
    /// Where to.
    pub topic: &'a str,
    /// What.
    pub payload: &'a [u8],
    /// Quality of service, 0 to 2.
    pub qos: u8,
    /// Whether the broker keeps it for later subscribers.
    pub retain: bool,
}

/// A message to be published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) qos: u8,
    /// The broker keeps it for later subscribers.
    pub(crate) retain: bool,
    pub(crate) topic: &'a str,
    /// Sent as correlation data, where the version has such.
    pub(crate) key: Option<&'a [u8]>,
    /// Sent as properties, where the version has such.
    pub(crate) headers: &'a [(&'a str, &'a [u8])],
    pub(crate) payload: &'a [u8],
}

pub(crate) fn write_connect(out: &mut Vec<u8>, connect: &Connect<'_>) -> Result<(), String> {
    let mut body = Vec::new();
    let is_five = connect.version == MqttVersion::V5;
    prefixed(&mut body, b"MQTT")?;
    body.push(if is_five { 5 } else { 4 });
    let mut flags = if connect.is_clean { 0x02 } else { 0 };
    flags |= connect.will.map_or(0, |will| 0x04 | will.qos << 3 | u8::from(will.retain) << 5);
    flags |= if connect.user.is_some() { 0x80 } else { 0 };
    flags |= if connect.password.is_some() { 0x40 } else { 0 };
    body.push(flags);
    body.extend(connect.keep_alive_s.to_be_bytes());
    if is_five {
        body.push(0);
    }
    prefixed(&mut body, connect.client_id.as_bytes())?;
    if let Some(will) = connect.will {
        prefixed(&mut body, will.topic.as_bytes())?;
        prefixed(&mut body, will.payload)?;
    }
    for text in [connect.user, connect.password].into_iter().flatten() {
        prefixed(&mut body, text.as_bytes())?;
    }
    whole(out, kind::CONNECT << 4, &body)
}

/// Filters with the options of each (section 3.8): retained messages are not asked for, where the
/// version (5) lets us say so.
pub(crate) fn write_subscribe<'a>(
    out: &mut Vec<u8>,
    version: MqttVersion,
    id: u16,
    filters: impl Iterator<Item = &'a str>,
    qos: u8,
) -> Result<(), String> {
    const SEND_NO_RETAINED: u8 = 2 << 4;
    let mut body = id.to_be_bytes().to_vec();
    let mut options = qos;
    if version == MqttVersion::V5 {
        body.push(0);
        options |= SEND_NO_RETAINED;
    }
    for filter in filters {
        prefixed(&mut body, filter.as_bytes())?;
        body.push(options);
    }
    whole(out, kind::SUBSCRIBE << 4 | 2, &body)
}

pub(crate) fn write_unsubscribe<'a>(
    out: &mut Vec<u8>,
    version: MqttVersion,
    id: u16,
    filters: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let mut body = id.to_be_bytes().to_vec();
    if version == MqttVersion::V5 {
        body.push(0);
    }
    for filter in filters {
        prefixed(&mut body, filter.as_bytes())?;
    }
    whole(out, kind::UNSUBSCRIBE << 4 | 2, &body)
}

pub(crate) fn write_ack(out: &mut Vec<u8>, ack: Ack, id: u16) {
    let first = match ack {
        Ack::Taken => kind::PUBACK << 4,
        Ack::Received => kind::PUBREC << 4,
        Ack::Released => kind::PUBREL << 4 | 2,
        Ack::Complete => kind::PUBCOMP << 4,
    };
    let [high, low] = id.to_be_bytes();
    out.extend([first, 2, high, low]);
}

pub(crate) fn write_ping(out: &mut Vec<u8>) {
    out.extend([kind::PINGREQ << 4, 0]);
}

pub(crate) fn write_disconnect(out: &mut Vec<u8>) {
    out.extend([kind::DISCONNECT << 4, 0]);
}

/// Writes a message; of QoS 1 and 2 its packet number is left 0, and its place is returned.
pub(crate) fn write_publish(
    out: &mut Vec<u8>,
    version: MqttVersion,
    message: &Message<'_>,
) -> Result<Option<usize>, String> {
    let mut properties = Vec::new();
    if version == MqttVersion::V5 {
        write_properties(&mut properties, message)?;
    }
    let mut head = Vec::with_capacity(message.topic.len() + properties.len() + 8);
    prefixed(&mut head, message.topic.as_bytes())?;
    let id_place = head.len();
    if message.qos > 0 {
        head.extend([0, 0]);
    }
    if version == MqttVersion::V5 {
        variable(&mut head, properties.len())?;
        head.extend(properties);
    }
    let begin = out.len();
    out.reserve(head.len() + message.payload.len() + 5);
    out.push(kind::PUBLISH << 4 | message.qos << 1 | u8::from(message.retain));
    variable(out, head.len() + message.payload.len())?;
    let id_place = (message.qos > 0).then(|| out.len() - begin + id_place);
    out.extend(head);
    out.extend(message.payload);
    Ok(id_place)
}

/// Sets the number of a written packet.
pub(crate) fn patch_packet_id(packet: &mut [u8], place: usize, id: u16) {
    if let Some(bytes) = packet.get_mut(place..place + 2) {
        bytes.copy_from_slice(&id.to_be_bytes());
    }
}

fn write_properties(out: &mut Vec<u8>, message: &Message<'_>) -> Result<(), String> {
    if let Some(key) = message.key {
        out.push(CORRELATION_DATA);
        prefixed(out, key)?;
    }
    for &(name, value) in message.headers {
        let text = |value| {
            std::str::from_utf8(value)
                .ok()
                .filter(|text| !text.contains('\0'))
                .ok_or_else(|| format!("header `{name}` is not UTF-8, as MQTT wants it"))
        };
        if name.eq_ignore_ascii_case("content-type") {
            out.push(CONTENT_TYPE);
            prefixed(out, text(value)?.as_bytes())?;
        } else if name.eq_ignore_ascii_case("response-topic") {
            out.push(RESPONSE_TOPIC);
            prefixed(out, text(value)?.as_bytes())?;
        } else {
            out.push(USER_PROPERTY);
            prefixed(out, name.as_bytes())?;
            prefixed(out, text(value)?.as_bytes())?;
        }
    }
    Ok(())
}

fn whole(out: &mut Vec<u8>, first: u8, body: &[u8]) -> Result<(), String> {
    out.push(first);
    variable(out, body.len())?;
    out.extend(body);
    Ok(())
}

fn variable(out: &mut Vec<u8>, mut number: usize) -> Result<(), String> {
    if number >= 1 << 28 {
        return Err("it is longer than MQTT's 256 MiB".to_owned());
    }
    loop {
        // Seven bits.
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            out.push(low);
            return Ok(());
        }
        out.push(low | 0x80);
    }
}

fn prefixed(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), String> {
    let length = u16::try_from(bytes.len())
        .map_err(|_| "a topic, key or header is longer than 65,535 bytes".to_owned())?;
    out.extend(length.to_be_bytes());
    out.extend(bytes);
    Ok(())
}
