//! Why a broker refuses (sections 2.4 of MQTT 5, 3.2.2.3 and 3.9.3 of 3.1.1), in stable words.

use sojourn_plan::MqttVersion;

/// Whether a reason is a refusal. (0x10, no matching subscribers, is none.)
pub(crate) fn is_failure(reason: u8) -> bool {
    reason >= 0x80
}

/// The name of a reason of MQTT 5.
pub(crate) fn reason_name(reason: u8) -> &'static str {
    match reason {
        0x80 => "unspecified error",
        0x81 => "malformed packet",
        0x82 => "protocol error",
        0x83 => "implementation specific error",
        0x84 => "unsupported protocol version",
        0x85 => "client identifier not valid",
        0x86 => "bad user name or password",
        0x87 => "not authorized",
        0x88 => "server unavailable",
        0x89 => "server busy",
        0x8a => "banned",
        0x8b => "server shutting down",
        0x8c => "bad authentication method",
        0x8d => "keep alive timeout",
        0x8e => "session taken over",
        0x8f => "topic filter invalid",
        0x90 => "topic name invalid",
        0x91 => "packet identifier in use",
        0x92 => "packet identifier not found",
        0x93 => "receive maximum exceeded",
        0x94 => "topic alias invalid",
        0x95 => "packet too large",
        0x96 => "message rate too high",
        0x97 => "quota exceeded",
        0x98 => "administrative action",
        0x99 => "payload format invalid",
        0x9a => "retain not supported",
        0x9b => "QoS not supported",
        0x9c => "use another server",
        0x9d => "server moved",
        0x9e => "shared subscriptions not supported",
        0x9f => "connection rate exceeded",
        0xa0 => "maximum connect time",
        0xa1 => "subscription identifiers not supported",
        0xa2 => "wildcard subscriptions not supported",
        0..=0x7f => "success",
        _ => "unknown reason",
    }
}

/// Why CONNECT was refused, as a reason of MQTT 5; `None`: it was not.
pub(crate) fn connection_refused(reason: u8, version: MqttVersion) -> Option<u8> {
    match (version, reason) {
        (_, 0) => None,
        // What a broker answers, in the form of 3.1.1, that does not speak 5.
        (_, 1) => Some(0x84),
        (MqttVersion::V3, 2) => Some(0x85),
        (MqttVersion::V3, 3) => Some(0x88),
        (MqttVersion::V3, 4) => Some(0x86),
        (MqttVersion::V3, 5) => Some(0x87),
        (_, reason) => Some(reason.max(0x80)),
    }
}
