//! The codec on any bytes, and on its own.

use proptest::prelude::*;
use sojourn_broker_mqtt::foreign::{Reading, read_packets, write_message};
use sojourn_plan::MqttVersion;

/// One packet of each type that a broker sends.
const PACKETS: &[&[u8]] = &[
    b"\x20\x0b\0\0\x08\x21\0\x14\x27\0\0\x10\0",
    b"\x30\x0b\0\x01t\0payload",
    b"\x34\x19\0\x01t\0\x07\x10\x03\0\x01c\x26\0\x01n\0\x01v\x09\0\x02\xff\0pay",
    b"\x40\x02\0\x07",
    b"\x50\x03\0\x07\x10",
    b"\x62\x04\0\x07\0\0",
    b"\x70\x02\0\x07",
    b"\x90\x05\0\x01\0\x01\x02",
    b"\xb0\x04\0\x02\0\0",
    b"\xd0\0",
    b"\xe0\x02\x8b\0",
];

fn versions() -> [MqttVersion; 2] {
    [MqttVersion::V3, MqttVersion::V5]
}

fn check(bytes: &[u8], portion: usize, version: MqttVersion) -> Reading {
    let whole = read_packets(bytes, usize::MAX, version);
    assert_eq!(whole, read_packets(bytes, portion, version));
    assert!(whole.packet_bytes <= bytes.len() && whole.payload_bytes <= bytes.len());
    whole
}

#[test]
fn packets_are_read_alike_however_they_are_cut() {
    let all = PACKETS.concat();
    for portion in 1..=all.len() {
        let found = check(&all, portion, MqttVersion::V5);
        assert_eq!((found.error, found.packets.len()), (None, PACKETS.len()), "{found:#?}");
        assert_eq!(found.packet_bytes, all.len());
    }
    for length in 0..all.len() {
        assert_eq!(check(&all[..length], 3, MqttVersion::V5).error, None, "cut off is not wrong");
    }
}

#[test]
fn absurd_lengths_are_refused_before_memory_is_taken() {
    for (bytes, why) in [
        (&b"\x30\xff\xff\xff\x7f"[..], "a packet of more than 64 MiB"),
        (b"\x30\xff\xff\xff\xff", "a length of more than four bytes"),
        (b"\x30\x03\0\x05t", "a packet that ends too early"),
        (b"\x30\x02\0\0", "a message without a topic"),
        (b"\x36\x05\0\x01t\0\x01", "a message of QoS 3"),
        (b"\x32\x06\0\x01t\0\0\0", "a packet of number 0"),
        (b"\x30\x07\0\x01t\x03\x7f\0\0", "an unknown property"),
        (b"\x30\x04\0\x01t\x7f", "a packet that ends too early"),
        (b"\xf0\x00", "a packet that no broker sends"),
        (b"\x30\x03\0\x01\xff", "a topic that is not UTF-8"),
        (b"\xd0\x01\0", "a packet that is longer than its contents"),
    ] {
        assert_eq!(check(bytes, 1, MqttVersion::V5).error, Some(why));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_alike_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        portion in 1_usize..40,
        five in any::<bool>(),
    ) {
        check(&bytes, portion, versions()[usize::from(five)]);
    }

    #[test]
    fn mutated_packets_are_read_alike_however_they_are_cut(
        picks in prop::collection::vec(0..PACKETS.len(), 1..6),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        portion in 1_usize..20,
        five in any::<bool>(),
    ) {
        let mut bytes: Vec<u8> = picks.iter().flat_map(|pick| PACKETS[*pick]).copied().collect();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        check(&bytes, portion, versions()[usize::from(five)]);
    }

    #[test]
    fn what_is_written_is_read(
        topic in "[a-zä/]{1,40}",
        key in prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
        value in "\\PC{0,30}",
        payload in prop::collection::vec(any::<u8>(), 0..400),
        qos in 0_u8..3,
        five in any::<bool>(),
        portion in 1_usize..50,
    ) {
        let version = versions()[usize::from(five)];
        let headers: &[(&str, &[u8])] = &[("name", value.as_bytes())];
        let packet =
            write_message(version, qos, &topic, key.as_deref(), headers, &payload).unwrap();
        let found = check(&packet, portion, version);
        prop_assert_eq!((found.error, found.packets.len()), (None, 1));
        prop_assert_eq!((found.packet_bytes, found.payload_bytes), (packet.len(), payload.len()));
        let shown = &found.packets[0];
        let topic = format!("topic: {topic:?}");
        prop_assert!(shown.contains(&topic), "{}", shown);
    }
}
