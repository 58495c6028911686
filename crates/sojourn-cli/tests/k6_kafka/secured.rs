//! Codecs, and ways to be let in.

use sojourn_testkit::services::{Kafka, PASSWORD, Service as _, USER};

use super::play;

/// Which codec a partition's first batch is compressed by, as its file says: the lowest bits of the
/// attributes, at byte 21 of a batch of Kafka's format 2.
fn codec(kafka: &Kafka, topic: &str) -> u8 {
    let file = format!("data/{topic}-0/00000000000000000000.log");
    let bytes = std::fs::read(kafka.instance().folder().join(file)).unwrap();
    assert_eq!(bytes[16], 2, "the format");
    bytes[22] & 7
}

#[test]
fn each_codec_by_each_way_to_be_let_in() {
    let kafka = Kafka::shared().unwrap();
    kafka.add_scram_user().unwrap();
    let ca = kafka.ca_file().unwrap();
    let variables = [
        ("BROKERS", kafka.bootstrap()),
        ("TLS", kafka.bootstrap_tls()),
        ("GUARDED", kafka.bootstrap_with_password()),
        ("TLS_GUARDED", kafka.bootstrap_tls_and_password()),
        ("CA", ca.display().to_string()),
        ("NAME", USER.to_owned()),
        ("PASSWORD", PASSWORD.to_owned()),
        ("TOPIC", "k6.secured".to_owned()),
    ];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let played = play("secured.js", &variables).passed();
    assert_eq!(played.of("checks", "passes"), 6.0, "{}", played.output);
    for (number, name) in ["none", "gzip", "snappy", "lz4", "zstd"].iter().enumerate() {
        assert_eq!(usize::from(codec(&kafka, &format!("k6.secured.{name}"))), number, "{name}");
    }
}
