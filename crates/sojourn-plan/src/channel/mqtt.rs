//! MQTT topics.

use super::Server;

/// Topics of an MQTT broker, under a client id of our own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MqttChannel {
    /// Where: `mqtt://` or `mqtts://`.
    pub server: Server,
    /// Topic filters.
    pub filters: Vec<String>,
    /// Quality of service of subscriptions and of what is published, 0 to 2.
    pub qos: u8,
    /// Which protocol.
    pub version: MqttVersion,
    /// Client id; `None`: made from the run, so that it takes nobody's session.
    pub client_id: Option<String>,
}

/// A version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MqttVersion {
    /// 3.1.1: no headers.
    V3,
    /// 5: user properties are headers.
    #[default]
    V5,
}
