//! TLS and passwords.

#[cfg(feature = "tls")]
use std::sync::OnceLock;

use sojourn_broker::Connect;
use sojourn_broker_kafka::Kafka as Connector;
use sojourn_conformance::{Listener, Message, publish_all};
#[cfg(feature = "tls")]
use sojourn_conformance::{Rig, Wrong};
#[cfg(feature = "tls")]
use sojourn_services::CutProxy;
use sojourn_services::{PASSWORD, Service, USER};

use crate::rig::{KafkaRig, channel};

fn ca(rig: &KafkaRig) -> String {
    rig.kafka.ca_file().unwrap().display().to_string()
}

/// By TLS, channels whose certificate has another name, or is signed by somebody unknown.
#[cfg(feature = "tls")]
pub(crate) fn wrong(rig: &KafkaRig) -> Vec<Wrong> {
    let address = rig.kafka.bootstrap_tls();
    let port = address.rsplit(':').next().unwrap().to_owned();
    let ca = ca(rig);
    // The certificate is for `localhost` and 127.0.0.1; 127.0.0.2 is the same machine.
    let other = format!("127.0.0.2:{port}");
    // One for all tests, since all have the same server; it lives as long as they do.
    static PROXY: OnceLock<CutProxy> = OnceLock::new();
    PROXY.get_or_init(|| {
        let server = ([127, 0, 0, 1], port.parse().unwrap()).into();
        CutProxy::start_at(other.parse().unwrap(), server).unwrap()
    });
    let tls = ("security.protocol", "ssl");
    let says = |word: &str| vec!["kafka".to_owned(), port.clone(), word.to_owned()];
    vec![
        Wrong {
            what: "the name in the certificate",
            channel: channel(rig.settings(&other, &[tls, ("ssl.ca.location", &ca)])),
            says: says("another name"),
            secret: None,
        },
        Wrong {
            what: "an authority that is not trusted",
            channel: channel(rig.settings(&address, &[tls])),
            says: says("ssl.ca.location"),
            secret: None,
        },
        Wrong {
            what: "a listener without TLS",
            channel: channel(rig.settings(&rig.kafka.bootstrap(), &[tls])),
            says: vec!["kafka".to_owned(), rig.address().to_string()],
            secret: None,
        },
    ]
}

/// A tap and a publisher by these properties.
fn works(rig: &KafkaRig, brokers: &str, properties: &[(&str, &str)]) {
    let channel = channel(rig.settings(brokers, properties));
    let mut tap = Connector.tap(&channel).unwrap();
    tap.open().unwrap();
    let listener = Listener::of(tap);
    let messages: Vec<_> = (0..20).map(Message::numbered).collect();
    publish_all(&Connector, &channel, &rig.topic, &messages);
    listener.wait_for_messages(20);
    listener.stop();
}

#[test]
fn a_password_lets_in() {
    let rig = KafkaRig::new();
    let properties = [
        ("security.protocol", "sasl_plaintext"),
        ("sasl.mechanism", "PLAIN"),
        ("sasl.username", USER),
        ("sasl.password", PASSWORD),
    ];
    works(&rig, &rig.kafka.bootstrap_with_password(), &properties);
}

#[cfg(feature = "tls")]
#[test]
fn a_certificate_is_trusted_by_its_authority() {
    let rig = KafkaRig::new();
    let ca = ca(&rig);
    let tls = [("security.protocol", "ssl"), ("ssl.ca.location", ca.as_str())];
    works(&rig, &rig.kafka.bootstrap_tls(), &tls);
    let both = [
        ("security.protocol", "sasl_ssl"),
        ("ssl.ca.location", ca.as_str()),
        ("sasl.mechanism", "PLAIN"),
        ("sasl.username", USER),
        ("sasl.password", PASSWORD),
    ];
    works(&rig, &rig.kafka.bootstrap_tls_and_password(), &both);
}

#[cfg(feature = "tls")]
#[test]
fn scram_lets_in() {
    let rig = KafkaRig::new();
    rig.kafka.add_scram_user().unwrap();
    let properties = [
        ("security.protocol", "sasl_plaintext"),
        ("sasl.mechanism", "SCRAM-SHA-256"),
        ("sasl.username", USER),
        ("sasl.password", PASSWORD),
    ];
    works(&rig, &rig.kafka.bootstrap_with_password(), &properties);
}

#[cfg(not(feature = "tls"))]
#[test]
fn a_build_without_tls_says_which_feature_brings_it() {
    let rig = KafkaRig::new();
    let ca = ca(&rig);
    for properties in [
        vec![("security.protocol", "ssl")],
        vec![("security.protocol", "sasl_ssl"), ("ssl.ca.location", ca.as_str())],
        vec![("sasl.mechanism", "SCRAM-SHA-256"), ("security.protocol", "sasl_plaintext")],
    ] {
        let kafka = rig.settings(&rig.kafka.bootstrap_tls(), &properties);
        let error = Connector.tap(&channel(kafka)).unwrap().open().unwrap_err();
        let hint = error.hint.clone().unwrap_or_default();
        assert!(hint.contains("--features kafka-tls"), "{properties:?}: {error} {hint}");
    }
}
