//! Tests of decoders that are opened.

use std::time::Duration;

use sojourn_plan::{AvroSchema, Channel, Connector, Decoder, KafkaChannel, ProtobufSchema};

use super::OpenDecoder;

fn channel(decoder: Decoder) -> Channel {
    Channel {
        name: "events".to_owned(),
        connector: Connector::Kafka(KafkaChannel::default()),
        decoder,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    }
}

fn open(decoder: Decoder) -> Result<OpenDecoder, crate::BrokerError> {
    OpenDecoder::open(&channel(decoder), Duration::ZERO)
}

#[test]
fn files_that_are_not_there_are_named_with_the_channel() {
    let avro = Decoder::Avro(AvroSchema::File("/nowhere/paid.avsc".into()));
    let set = ProtobufSchema { descriptor: "/nowhere/a.binpb".into(), ..ProtobufSchema::default() };
    for (decoder, file) in
        [(avro, "/nowhere/paid.avsc"), (Decoder::Protobuf(set), "/nowhere/a.binpb")]
    {
        let error = open(decoder).unwrap_err();
        assert!(error.message.contains("channel `events`"), "{error}");
        assert!(error.message.contains(file) && error.hint.is_some(), "{error}");
    }
    assert!(open(Decoder::Json).is_ok());
}

mod avro {
    use serde_json::json;
    use sojourn_plan::{
        AvroSchema, Check, Decoder, Journey, Plan, Selector, Stage, StageSource, Test,
    };

    use super::{channel, open};
    use crate::testing::{message, path};
    use crate::{OpenDecoder, Router};

    /// A schema in a file that lives as long as the test.
    fn schema(text: &str) -> (tempfile::NamedTempFile, Decoder) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let decoder = Decoder::Avro(AvroSchema::File(file.path().to_owned()));
        (file, decoder)
    }

    const PAID: &str = r#"{"type":"record","name":"Paid","namespace":"shop","fields":[
      {"name":"id","type":"string"},{"name":"cents","type":"long"},
      {"name":"state","type":{"type":"enum","name":"State","symbols":["NEW","DONE"]}}]}"#;

    fn equals(selector: Selector, value: serde_json::Value) -> Check {
        Check { text: String::new(), selector, test: Test::Equals(value) }
    }

    fn router(decoder: &Decoder, matches: Vec<Check>) -> Router {
        let source = StageSource::Event {
            channel: 0,
            matches,
            checks: vec![equals(path("$.cents"), json!(9_007_199_254_740_993_i64))],
            key: path("$.id"),
            key_format: "pay:{}".to_owned(),
        };
        let stage = Stage::new("paid", source);
        let plan = Plan {
            channels: vec![channel(decoder.clone())],
            journeys: vec![Journey {
                name: "payment".to_owned(),
                steps: Vec::new(),
                stages: vec![stage],
                within_ns: 1,
                linger_ns: 0,
                trace: false,
                label: None,
                poison: None,
            }],
            ..Plan::default()
        };
        Router::new(&plan, 0, "run-1").with_decoder(open(decoder.clone()).unwrap())
    }

    /// `p-1`, 9007199254740993 cents, this state.
    fn paid(state: u8) -> Vec<u8> {
        let cents = [0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
        [&[6][..], b"p-1", &cents, &[state << 1]].concat()
    }

    #[test]
    fn stages_match_on_decoded_fields_and_take_their_key_from_them() {
        let (_file, decoder) = schema(PAID);
        let by_type = equals(Selector::Type, json!("Paid"));
        let mut router = router(&decoder, vec![by_type, equals(path("$.state"), json!("DONE"))]);
        let observation = router.observe(&message(&paid(1))).unwrap();
        let candidate = &observation.candidates[0];
        assert_eq!(candidate.key.as_bytes(), b"pay:p-1");
        assert!(!candidate.check_failed && !observation.undecodable);
        let observation = router.observe(&message(&paid(0))).unwrap();
        assert!(observation.candidates.is_empty() && !observation.undecodable);
        // Cut short: whether it fits cannot be said, and is counted.
        let observation = router.observe(&message(&paid(1)[..5])).unwrap();
        assert!(observation.candidates.is_empty() && observation.undecodable);
        let sample = &router.undecodable_samples()[0];
        assert!(sample.contains("not Avro of its schema: it ends too early"), "{sample}");
    }

    #[test]
    fn a_message_says_its_own_type_before_its_schema_does() {
        let (_file, decoder) = schema(PAID);
        let mut open = open(decoder.clone()).unwrap();
        let data = paid(1);
        let decoded = open.decode(&message(&data)).unwrap();
        assert_eq!(decoded.event_type.as_deref(), Some("shop.Paid"));
        assert_eq!(decoded.type_alias.as_deref(), Some("Paid"));
        let mut with_header = message(&data);
        with_header.headers = vec![("type", b"Own"), ("message-id", b"m")];
        let decoded = open.decode(&with_header).unwrap();
        assert_eq!(decoded.event_type.as_deref(), Some("Own"));
        assert_eq!((decoded.message_id.as_deref(), decoded.type_alias), (Some("m"), None));
        let unopened = OpenDecoder::plain(decoder).decode(&message(&data)).unwrap_err();
        assert!(unopened.contains("not opened"), "{unopened}");
    }

    #[test]
    fn debeziums_changes_are_recognised_and_its_tombstones_no_events() {
        let (_file, decoder) = schema(
            r#"{"type":"record","name":"Envelope","namespace":"s.orders","fields":[
              {"name":"before","type":["null",{"type":"record","name":"Value","fields":[
                {"name":"id","type":"long"}]}]},
              {"name":"after","type":["null","Value"]},
              {"name":"source","type":{"type":"record","name":"Source","fields":[
                {"name":"version","type":"string"},{"name":"connector","type":"string"},
                {"name":"table","type":"string"}]}},
              {"name":"op","type":"string"}]}"#,
        );
        let mut open = open(decoder).unwrap();
        let decoded = open.decode(&message(b"\0\x02\x0e\x023\x04pg\x0corders\x02c")).unwrap();
        assert_eq!(decoded.event_type.as_deref(), Some("orders.c"));
        assert_eq!(decoded.body, Some(json!({ "id": 7 })));
        assert_eq!(decoded.envelope.unwrap()["source"]["connector"], "pg");
        assert!(open.read(&message(b""), false).is_tombstone);
    }
}

mod protobuf {
    use serde_json::json;
    use sojourn_plan::{Decoder, ProtobufSchema};

    use super::open;
    use crate::testing::message;

    #[test]
    fn the_type_is_the_message_and_paths_see_its_fields() {
        let descriptor =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../sojourn-protobuf/tests/fixtures/events.binpb");
        let message_name = "shop.Created".to_owned();
        let schema = ProtobufSchema {
            descriptor: descriptor.into(),
            message: message_name,
            registry: false,
        };
        let mut decoder = open(Decoder::Protobuf(schema.clone())).unwrap();
        let decoded = decoder.decode(&message(b"\x0a\x03p-1")).unwrap();
        assert_eq!(decoded.event_type.as_deref(), Some("shop.Created"));
        assert_eq!(decoded.type_alias.as_deref(), Some("Created"));
        assert_eq!(decoded.body, Some(json!({ "payment_id": "p-1" })));
        assert!(decoder.decode(&message(b"\x0a\x03p")).is_err());
        let wrong = ProtobufSchema { message: "shop.Creatd".to_owned(), ..schema };
        let error = open(Decoder::Protobuf(wrong)).unwrap_err();
        assert!(error.hint.unwrap().contains("`shop.Created`"), "{}", error.message);
    }
}
