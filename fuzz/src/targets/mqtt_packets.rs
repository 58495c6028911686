//! Packets of an MQTT broker: cuts change nothing, and nothing is longer than what came.

use sojourn_broker_mqtt::foreign::read_packets;
use sojourn_plan::MqttVersion;

use crate::Input;

/// Option 0: MQTT 3.1.1 instead of 5.
pub(crate) fn check(input: Input<'_>) {
    let version = if input.has(0) { MqttVersion::V3 } else { MqttVersion::V5 };
    let whole = read_packets(input.bytes, usize::MAX, version);
    assert_eq!(whole, read_packets(input.bytes, input.portion(), version));
    assert!(whole.packet_bytes <= input.bytes.len());
    assert!(whole.payload_bytes <= whole.packet_bytes || whole.error.is_some());
    // The shortest packet has two bytes.
    assert!(whole.packets.len() * 2 <= input.bytes.len());
}
