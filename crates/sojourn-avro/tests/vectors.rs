//! Data written by others: the specification's examples by hand, and apache-avro's encoder.

use serde_json::{Value, json};
use sojourn_avro::Schema;

fn read(schema: &Value, data: &[u8]) -> Result<Value, String> {
    Schema::parse(&schema.to_string()).unwrap().read(data)
}

fn of_hex(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// <https://avro.apache.org/docs/1.12.0/specification/>, "Binary encoding".
#[test]
fn the_examples_of_the_specification() {
    let numbers = [(0, "00"), (-1, "01"), (1, "02"), (-2, "03"), (2, "04"), (-64, "7f")];
    for (number, hex) in numbers.into_iter().chain([(64, "8001"), (8192, "808001")]) {
        for kind in ["int", "long"] {
            assert_eq!(read(&json!(kind), &of_hex(hex)), Ok(json!(number)), "{hex}");
        }
    }
    assert_eq!(read(&json!("string"), &of_hex("06 66 6f 6f")), Ok(json!("foo")));
    let fields = json!([{ "name": "a", "type": "long" }, { "name": "b", "type": "string" }]);
    let record = json!({ "type": "record", "name": "test", "fields": fields });
    assert_eq!(read(&record, &of_hex("36 06 66 6f 6f")), Ok(json!({ "a": 27, "b": "foo" })));
    let array = json!({ "type": "array", "items": "long" });
    assert_eq!(read(&array, &of_hex("04 06 36 00")), Ok(json!([3, 27])));
    // The same in a block that tells its length.
    assert_eq!(read(&array, &of_hex("03 04 06 36 00")), Ok(json!([3, 27])));
    let union = json!(["null", "string"]);
    assert_eq!(read(&union, &of_hex("00")), Ok(Value::Null));
    assert_eq!(read(&union, &of_hex("02 02 61")), Ok(json!("a")));
    let symbols = json!({ "type": "enum", "name": "Foo", "symbols": ["A", "B", "C", "D"] });
    assert_eq!(read(&symbols, &of_hex("06")), Ok(json!("D")));
    let map = json!({ "type": "map", "values": "int" });
    assert_eq!(read(&map, &of_hex("02 02 6b 0e 00")), Ok(json!({ "k": 7 })));
    let uuid = json!({ "type": "fixed", "name": "U", "size": 16, "logicalType": "uuid" });
    let data = of_hex("00112233445566778899aabbccddeeff");
    assert_eq!(read(&uuid, &data), Ok(json!("00112233-4455-6677-8899-aabbccddeeff")));
    assert_eq!(read(&json!("double"), &f64::NAN.to_le_bytes()), Ok(Value::Null));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let array = json!({ "type": "array", "items": "long" });
    for (schema, hex, why) in [
        (json!("long"), "ffffffffffffffffffff01", "more than 64 bits"),
        (json!("long"), "80808080808080808002", "more than 64 bits"),
        (json!("int"), "8080808010", "an int of more than 32 bits"),
        (json!("boolean"), "02", "neither 0 nor 1 at byte 1"),
        (json!("string"), "03", "a negative length"),
        (json!("string"), "04ff", "it ends too early"),
        (json!("string"), "02ff", "not UTF-8"),
        (json!(["null"]), "02", "a union without this branch"),
        (json!({ "type": "enum", "name": "E", "symbols": ["A"] }), "02", "without this symbol"),
        (array, "0206", "it ends too early at byte 2"),
        (json!("null"), "00", "1 bytes after its value"),
    ] {
        let error = read(&schema, &of_hex(hex)).unwrap_err();
        assert!(error.contains(why), "{schema} {hex}: {error}");
    }
}

#[test]
fn schemas_that_make_no_sense_say_where() {
    for (schema, why) in [
        ("{", "the schema is not JSON"),
        ("7", "`7` is not a schema"),
        (r#"{"name":"x"}"#, "without `type`"),
        (r#""shop.Paid""#, "names `shop.Paid`, which it does not define"),
        (r#"{"type":"array"}"#, "without `items`"),
        (r#"{"type":"record","name":"R"}"#, "record `R` without `fields`"),
        (
            r#"{"type":"record","name":"n.R","fields":[{"name":"a","type":"Gone"}]}"#,
            "field `a` of `n.R`: the schema names `Gone`",
        ),
        (r#"{"type":"fixed","name":"F"}"#, "a fixed without `size`"),
        (r#"{"type":"bytes","logicalType":"decimal","scale":1001}"#, "no scale"),
        (
            r#"[{"type":"fixed","name":"F","size":1},{"type":"fixed","name":"F","size":1}]"#,
            "defines `F` twice",
        ),
    ] {
        let error = Schema::parse(schema).unwrap_err();
        assert!(error.contains(why), "{schema}: {error}");
    }
}

#[test]
fn names_are_found_in_their_namespace_first() {
    let schema = json!({ "type": "record", "name": "a.Outer", "fields": [
        { "name": "one", "type": { "type": "enum", "name": "E", "symbols": ["ONE"] } },
        { "name": "two", "type": { "type": "enum", "name": "b.E", "symbols": ["TWO"] } },
        { "name": "three", "type": "E" },
        { "name": "four", "type": "b.E" },
        { "name": "five", "type": { "type": "string" } },
    ] });
    let parsed = Schema::parse(&schema.to_string()).unwrap();
    assert_eq!(parsed.name(), Some("a.Outer"));
    let expected = json!({ "one": "ONE", "two": "TWO", "three": "ONE", "four": "TWO", "five": "" });
    assert_eq!(parsed.read(&[0; 5]), Ok(expected));
    assert_eq!(Schema::parse("string").unwrap().read(&[0]), Ok(json!("")));
}

const PAID: &str = r#"{"type":"record","name":"Paid","namespace":"shop","fields":[
  {"name":"id","type":"string"},{"name":"cents","type":"long"},{"name":"count","type":"int"},
  {"name":"ok","type":"boolean"},{"name":"ratio","type":"double"},{"name":"half","type":"float"},
  {"name":"raw","type":"bytes"},
  {"name":"state","type":{"type":"enum","name":"State","symbols":["NEW","DONE"]}},
  {"name":"note","type":["null","string"]},{"name":"none","type":["null","string"]},
  {"name":"tags","type":{"type":"array","items":"string"}},
  {"name":"marks","type":{"type":"map","values":"long"}},
  {"name":"hash","type":{"type":"fixed","name":"Hash","size":4}},
  {"name":"amount","type":{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}},
  {"name":"day","type":{"type":"int","logicalType":"date"}},
  {"name":"at","type":{"type":"long","logicalType":"timestamp-micros"}},
  {"name":"span","type":{"type":"fixed","name":"Span","size":12,"logicalType":"duration"}},
  {"name":"next","type":["null","Paid"]}]}"#;

/// A `Paid` within a `Paid`, written by apache-avro 0.22.
const PAID_DATA: &str = "
    0c7061792dc3bcffffffffffffffffff017f01000000000000e0bf0000c03f0400ff0202026e000402610262
    0002026d8280808080808020000102030410fffffffffffffb1ec0b8028280f2818389850601000000020000
    002c010000020c7061792dc3bcffffffffffffffffff017f01000000000000e0bf0000c03f0400ff0202026e
    0004026102620002026d8280808080808020000102030410fffffffffffffb1ec0b8028280f2818389850601
    000000020000002c01000000";

#[test]
fn what_apache_avro_wrote() {
    let schema = Schema::parse(PAID).unwrap();
    let mut expected = json!({
        "id": "pay-ü", "cents": i64::MIN, "count": -64, "ok": true, "ratio": -0.5, "half": 1.5,
        "raw": "AP8=", "state": "DONE", "note": "n", "none": null, "tags": ["a", "b"],
        "marks": { "m": 9_007_199_254_740_993_i64 }, "hash": "AQIDBA==", "amount": "-12.50",
        "day": 20_000, "at": 1_700_000_000_000_001_i64,
        "span": { "months": 1, "days": 2, "millis": 300 }, "next": null,
    });
    expected["next"] = expected.clone();
    assert_eq!(schema.read(&of_hex(PAID_DATA)), Ok(expected));
    let data = of_hex(PAID_DATA);
    for end in 0..data.len() {
        assert!(schema.read(&data[..end]).is_err(), "{end}");
    }
}
