//! Whatever bytes come, and whatever schema: an answer, bounded in depth and size.

use proptest::prelude::*;
use serde_json::{Value, json};
use sojourn_avro::Schema;

/// A schema with a value of it, and its data by the specification.
fn value_of_a_schema() -> impl Strategy<Value = (Value, Value, Vec<u8>)> {
    let leaf = prop_oneof![
        Just((json!("null"), Value::Null, vec![])),
        any::<bool>().prop_map(|flag| (json!("boolean"), json!(flag), vec![u8::from(flag)])),
        any::<i32>().prop_map(|it| (json!("int"), json!(it), long(it.into()))),
        any::<i64>().prop_map(|it| (json!("long"), json!(it), long(it))),
        (-1e300..1e300)
            .prop_map(|it: f64| { (json!("double"), json!(it), it.to_le_bytes().to_vec()) }),
        any::<String>().prop_map(|it| (json!("string"), json!(it), text(&it))),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|fields| record(&fields)),
            (inner.clone(), 0..4_usize, any::<bool>()).prop_map(
                |((kind, value, data), n, sized)| {
                    let all = data.repeat(n);
                    let mut block = match (n, sized) {
                        (0, _) => vec![],
                        (_, false) => long(n as i64),
                        (_, true) => [long(-(n as i64)), long(all.len() as i64)].concat(),
                    };
                    block.extend(all);
                    block.push(0);
                    (json!({ "type": "array", "items": kind }), json!(vec![value; n]), block)
                }
            ),
            inner.prop_map(|(kind, value, data)| {
                let branch = [long(1), data].concat();
                (json!([{ "type": "fixed", "name": "F", "size": 1 }, kind]), value, branch)
            }),
        ]
    })
    // A schema with two types of one name is refused, rightly.
    .prop_filter("names once", |(schema, ..)| schema.to_string().matches("\"F\"").count() < 2)
}

fn record(fields: &[(Value, Value, Vec<u8>)]) -> (Value, Value, Vec<u8>) {
    let name = |place: usize| format!("f{place}");
    let kinds: Vec<_> = fields
        .iter()
        .enumerate()
        .map(|(place, (kind, ..))| json!({ "name": name(place), "type": kind }))
        .collect();
    let values = fields.iter().enumerate().map(|(place, (_, it, _))| (name(place), it.clone()));
    let values = Value::Object(values.collect());
    let data = fields.iter().flat_map(|(.., data)| data.clone()).collect();
    // Names need only be different.
    let full = format!("R{:x}", fxhash(&json!(kinds).to_string()));
    (json!({ "type": "record", "name": full, "fields": kinds }), values, data)
}

fn fxhash(text: &str) -> u64 {
    text.bytes().fold(7, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(byte.into()))
}

fn long(number: i64) -> Vec<u8> {
    let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
    let mut bytes = vec![];
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

fn text(text: &str) -> Vec<u8> {
    [long(text.len() as i64), text.as_bytes().to_vec()].concat()
}

const EVERYTHING: &str = r#"{"type":"record","name":"E","fields":[
  {"name":"a","type":{"type":"array","items":["null","E","string","double"]}},
  {"name":"m","type":{"type":"map","values":{"type":"array","items":"null"}}},
  {"name":"d","type":[{"type":"bytes","logicalType":"decimal","scale":3},"float","bytes",
    {"type":"fixed","name":"U","size":16,"logicalType":"uuid"},
    {"type":"enum","name":"S","symbols":["A"]}]}]}"#;

proptest! {
    #[test]
    fn what_was_written_is_read((schema, value, data) in value_of_a_schema()) {
        match Schema::parse(&schema.to_string()) {
            // The same record drawn twice.
            Err(why) => prop_assert!(why.contains("twice"), "{}", why),
            Ok(schema) => prop_assert_eq!(schema.read(&data), Ok(value)),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let schema = Schema::parse(EVERYTHING).unwrap();
        let _read = schema.read(&bytes);
    }

    #[test]
    fn any_text_is_a_schema_or_refused(text: String) {
        let _schema = Schema::parse(&text);
    }
}

#[test]
fn nesting_is_bounded() {
    let next = r#"{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}"#;
    let error = Schema::parse(next).unwrap().read(&[2; 1_000_000]).unwrap_err();
    assert!(error.contains("nested too deeply"), "{error}");
    let endless = r#"{"type":"record","name":"L","fields":[{"name":"next","type":"L"}]}"#;
    assert!(Schema::parse(endless).unwrap().read(&[]).is_err());
}

#[test]
fn items_without_bytes_are_bounded() {
    let schema = Schema::parse(r#"{"type":"array","items":"null"}"#).unwrap();
    let error = schema.read(&[long(i64::MAX), vec![0]].concat()).unwrap_err();
    assert!(error.contains("more values than its length allows"), "{error}");
    assert!(schema.read(&[long(i64::MIN), long(0)].concat()).is_err());
    assert_eq!(schema.read(&[long(3), vec![0]].concat()), Ok(json!([null, null, null])));
}
