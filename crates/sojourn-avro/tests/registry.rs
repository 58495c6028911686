//! Schemas from a registry on a real socket.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use sojourn_avro::{Avro, OpenError};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::{AvroSchema, SchemaRegistry, Server, Tls};
use sojourn_services::{Mosquitto, Service};

use crate::server::FakeRegistry;

fn open(server: Server, subjects: &[&str], patience: Duration) -> Result<Avro, OpenError> {
    let subjects = subjects.iter().map(|subject| (*subject).to_owned()).collect();
    let schema = AvroSchema::Registry(Box::new(SchemaRegistry { server, subjects }));
    Avro::open(&schema, &["paid".to_owned()], patience)
}

fn record(name: &str, kind: &Value) -> String {
    let fields = json!([{ "name": "id", "type": kind }]);
    json!({ "type": "record", "name": name, "namespace": "shop", "fields": fields }).to_string()
}

/// A message of schema `id` whose only field is this text.
fn message(id: u8, text: &str) -> Vec<u8> {
    [&[0, 0, 0, 0, id, (text.len() as u8) << 1], text.as_bytes()].concat()
}

fn of_topic() -> FakeRegistry {
    let paid = record("Paid", &json!("string"));
    let refers = json!({ "id": 8, "schema": record("Refunded", &json!("shop.Paid")),
        "references": [{ "name": "shop.Paid", "subject": "a/b", "version": 1 }] });
    FakeRegistry::start(&[
        ("/subjects/paid%2Dvalue/versions", 200, json!([1, 2])),
        ("/subjects/paid%2Dvalue/versions/1", 200, json!({ "id": 7, "schema": paid })),
        ("/subjects/paid%2Dvalue/versions/2", 200, refers),
        ("/subjects/a%2Fb/versions/1", 200, json!({ "id": 7, "schema": paid })),
    ])
}

#[test]
fn every_version_of_the_topics_subject_is_known_from_the_beginning() {
    let registry = of_topic();
    let mut avro = open(registry.server(), &[], Duration::ZERO).unwrap();
    let (read, name) = avro.read(&message(7, "p-1")).unwrap();
    assert_eq!((read, name.as_deref()), (json!({ "id": "p-1" }), Some("shop.Paid")));
    let (read, name) = avro.read(&message(8, "p-2")).unwrap();
    assert_eq!((read, name.as_deref()), (json!({ "id": { "id": "p-2" } }), Some("shop.Refunded")));
    assert!(!avro.has_changes());
    // load:hunter2
    assert_eq!(registry.authorization().as_deref(), Some("Basic bG9hZDpodW50ZXIy"));
    assert_eq!(registry.asked("/schemas/ids/7"), 0);
    for (wrong, why) in [
        (&b""[..], "shorter than its prefix"),
        (b"\0\0\0", "shorter than its prefix"),
        (b"{\"id\":1}", "its first byte is 123"),
        (b"\0\0\0\0\x07\x06p", "it ends too early at byte 1"),
        (b"\0\0\0\0\x07\x02pp", "1 bytes after its value"),
    ] {
        let error = avro.read(wrong).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_later_schema_is_asked_for_once_and_never_waited_for_while_stamping() {
    let registry = of_topic();
    let mut avro = open(registry.server(), &[], Duration::ZERO).unwrap();
    registry.add("/schemas/ids/9", 200, &json!({ "schema": "\"string\"" }));
    let error = avro.read(&message(9, "x")).unwrap_err();
    assert!(error.contains("schema 9 was not known at the beginning"), "{error}");
    let deadline_ns = now_ns() + 20 * SECOND_NS;
    let read = loop {
        match avro.read(&message(9, "x")) {
            Ok((read, _)) => break read,
            Err(error) => assert!(now_ns() < deadline_ns, "{error}"),
        }
        std::thread::yield_now();
    };
    assert_eq!((read, registry.asked("/schemas/ids/9")), (json!("x"), 1));
}

#[test]
fn whoever_is_patient_waits_and_learns_what_there_is_not() {
    let registry = of_topic();
    let mut avro = open(registry.server(), &[], Duration::from_secs(20)).unwrap();
    registry.add("/schemas/ids/9", 200, &json!({ "schema": "\"string\"" }));
    assert_eq!(avro.read(&message(9, "x")).unwrap().0, json!("x"));
    let proto = json!({ "schema": "syntax", "schemaType": "PROTOBUF" });
    registry.add("/schemas/ids/10", 200, &proto);
    let said = "no: hunter2, bG9hZDpodW50ZXIy, Basic bG9hZDpodW50ZXIy";
    registry.add("/schemas/ids/11", 500, &json!({ "message": said }));
    registry.add("/schemas/ids/12", 200, &json!({ "schema": "{\"type\":\"shop.Gone\"}" }));
    for (id, why) in [
        (10, "of the type PROTOBUF, not Avro"),
        (11, "HTTP status 500: no: ***, ***, Basic ***"),
        (12, "names `shop.Gone`, which it does not define"),
        (13, "it has none"),
    ] {
        let error = avro.read(&message(id, "x")).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    // What there is not is not asked for with each message.
    assert!(avro.read(&message(13, "x")).is_err());
    assert_eq!(registry.asked("/schemas/ids/13"), 1);
}

#[test]
fn a_registry_that_cannot_be_used_is_an_error_before_the_run() {
    let registry = of_topic();
    let error = open(registry.server(), &["payd"], Duration::ZERO).unwrap_err();
    assert!(error.message.contains("subject `payd`: it has none"), "{error:?}");
    registry.add("/schemas/types", 401, &json!({}));
    let error = open(registry.server(), &[], Duration::ZERO).unwrap_err();
    assert!(error.message.contains("HTTP status 401"), "{error:?}");
    assert!(error.hint.unwrap().contains("PASSWORD"));
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let away = Server { port, ..registry.server() };
    let error = open(away, &[], Duration::ZERO).unwrap_err();
    assert!(error.message.contains(&format!("schema registry 127.0.0.1:{port}")), "{error:?}");
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[test]
fn a_plain_server_where_tls_is_asked_for_is_refused() {
    let registry = of_topic();
    let tls = Server { tls: true, ..registry.server() };
    assert!(open(tls, &[], Duration::ZERO).is_err());
}

/// `ca` is an authority: a certificate that the server shows of itself vouches for nobody. Asked is
/// whatever speaks TLS: once it is trusted, it turns out to be no registry.
#[test]
fn a_servers_own_certificate_is_no_authority() {
    let mosquitto = Mosquitto::start().unwrap();
    let port = mosquitto.url_tls().rsplit_once(':').unwrap().1.parse().unwrap();
    let said = |ca: PathBuf| {
        let trust = Tls { ca: Some(ca), ..Tls::default() };
        let host = "localhost".to_owned();
        let server = Server { host, port, tls: true, trust, ..Server::default() };
        open(server, &[], Duration::ZERO).unwrap_err().message
    };
    let own = said(mosquitto.instance().folder().join("server.pem"));
    assert!(own.contains("certificate"), "{own}");
    let authority = said(mosquitto.ca_file().unwrap());
    assert!(!authority.contains("certificate"), "{authority}");
}

#[test]
fn debeziums_changes_are_known_by_their_schema() {
    let fields = json!([
        { "name": "before", "type": ["null", "string"] },
        { "name": "after", "type": ["null", "string"] },
        { "name": "source", "type": "string" },
        { "name": "op", "type": "string" },
    ]);
    let schema = json!({ "type": "record", "name": "Envelope", "fields": fields });
    let registry = FakeRegistry::start(&[
        ("/subjects/s/versions", 200, json!([3])),
        ("/subjects/s/versions/3", 200, json!({ "id": 1, "schema": schema.to_string() })),
    ]);
    assert!(open(registry.server(), &["s"], Duration::ZERO).unwrap().has_changes());
}

/// Fifty versions that take 0.4 s each, and what all of them refer to: 20 s one after the other.
#[test]
fn many_versions_of_a_distant_registry_are_had_in_time() {
    let paid = record("Paid", &json!("string"));
    let numbers: Vec<u64> = (1..=60).collect();
    let paths: Vec<String> =
        numbers.iter().map(|number| format!("/subjects/s/versions/{number}")).collect();
    let references = json!([{ "name": "shop.Paid", "subject": "other", "version": 1 }]);
    let mut answers = vec![
        ("/subjects/s/versions", 200, json!(numbers)),
        ("/subjects/other/versions/1", 200, json!({ "id": 100, "schema": paid })),
    ];
    answers.extend(paths.iter().zip(&numbers).map(|(path, number)| {
        let schema = record(&format!("V{number}"), &json!("shop.Paid"));
        (path.as_str(), 200, json!({ "id": number, "schema": schema, "references": references }))
    }));
    let registry = FakeRegistry::slow(Duration::from_millis(400), &answers);
    let mut avro = open(registry.server(), &["s"], Duration::ZERO).unwrap();
    assert_eq!(avro.read(&message(60, "x")).unwrap().1.as_deref(), Some("shop.V60"));
    assert_eq!(avro.read(&message(11, "x")).unwrap().1.as_deref(), Some("shop.V11"));
    // The latest fifty, and what they have in common once.
    assert_eq!(registry.asked("/subjects/s/versions/10"), 0);
    assert_eq!(registry.asked("/subjects/other/versions/1"), 1);
}

/// Of a subject of which one version refers to what is not there, the others are known.
#[test]
fn a_missing_reference_spoils_one_version_only() {
    let (gone, paid) = (record("Gone", &json!("shop.None")), record("Paid", &json!("string")));
    let references = json!([{ "name": "shop.None", "subject": "none", "version": 3 }]);
    let registry = FakeRegistry::start(&[
        ("/subjects/paid%2Dvalue/versions", 200, json!([1, 2, 4])),
        ("/subjects/paid%2Dvalue/versions/1", 200, json!({ "id": 7, "schema": paid })),
        (
            "/subjects/paid%2Dvalue/versions/2",
            200,
            json!({ "id": 8, "schema": gone, "references": references }),
        ),
        // Version 4 has been removed since.
    ]);
    let mut avro = open(registry.server(), &[], Duration::ZERO).unwrap();
    assert_eq!(avro.read(&message(7, "x")).unwrap().0, json!({ "id": "x" }));
    let error = avro.read(&message(8, "x")).unwrap_err();
    assert!(error.contains("it refers to version 3 of subject `none`: it has none"), "{error}");
}

/// The first message waits as long as its patience and the registry longer; the second one waits
/// for the same answer.
#[test]
fn every_message_is_patient() {
    let answers = [("/schemas/ids/9", 200, json!({ "schema": "\"string\"" }))];
    let registry = FakeRegistry::slow(Duration::from_millis(900), &answers);
    let mut avro = open(registry.server(), &[], Duration::from_millis(600)).unwrap();
    let error = avro.read(&message(9, "x")).unwrap_err();
    assert!(error.contains("is being asked for"), "{error}");
    assert_eq!(avro.read(&message(9, "x")).unwrap().0, json!("x"));
    assert_eq!(registry.asked("/schemas/ids/9"), 1);
}
