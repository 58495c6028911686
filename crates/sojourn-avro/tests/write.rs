//! Data that we write: the specification's examples, and whatever the reader reads again.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sojourn_avro::Schema;

fn schema(schema: &Value) -> Schema {
    Schema::parse(&schema.to_string()).unwrap()
}

fn hex(schema_: &Value, value: &Value) -> Result<String, String> {
    let bytes = schema(schema_).write(value)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// <https://avro.apache.org/docs/1.12.0/specification/>, "Binary encoding".
#[test]
fn the_examples_of_the_specification() {
    let numbers = [(0, "00"), (-1, "01"), (1, "02"), (-2, "03"), (2, "04"), (-64, "7f")];
    for (number, expected) in numbers.into_iter().chain([(64, "8001"), (8192, "808001")]) {
        for kind in ["int", "long"] {
            assert_eq!(hex(&json!(kind), &json!(number)).unwrap(), expected);
        }
    }
    assert_eq!(hex(&json!("string"), &json!("foo")).unwrap(), "06666f6f");
    let fields = json!([{ "name": "a", "type": "long" }, { "name": "b", "type": "string" }]);
    let record = json!({ "type": "record", "name": "test", "fields": fields });
    assert_eq!(hex(&record, &json!({ "a": 27, "b": "foo" })).unwrap(), "3606666f6f");
    let array = json!({ "type": "array", "items": "long" });
    assert_eq!(hex(&array, &json!([3, 27])).unwrap(), "04063600");
    assert_eq!(hex(&array, &json!([])).unwrap(), "00");
    let union = json!(["null", "string"]);
    for (value, expected) in
        [(json!(null), "00"), (json!("a"), "020261"), (json!({ "string": "a" }), "020261")]
    {
        assert_eq!(hex(&union, &value).unwrap(), expected, "{value}");
    }
    let symbols = json!({ "type": "enum", "name": "Foo", "symbols": ["A", "B", "C", "D"] });
    assert_eq!(hex(&symbols, &json!("D")).unwrap(), "06");
    let map = json!({ "type": "map", "values": "int" });
    assert_eq!(hex(&map, &json!({ "k": 7 })).unwrap(), "02026b0e00");
    let uuid = json!({ "type": "fixed", "name": "U", "size": 16, "logicalType": "uuid" });
    let text = json!("00112233-4455-6677-8899-aabbccddeeff");
    assert_eq!(hex(&uuid, &text).unwrap(), "00112233445566778899aabbccddeeff");
    let bytes = json!("bytes");
    assert_eq!(hex(&bytes, &json!([1, 255])).unwrap(), "0401ff");
    assert_eq!(hex(&bytes, &json!("\u{1}ÿ")).unwrap(), "0401ff");
    let decimal = json!({ "type": "bytes", "logicalType": "decimal", "scale": 2 });
    assert_eq!(hex(&decimal, &json!("12.50")).unwrap(), "0404e2");
    assert_eq!(hex(&json!("long"), &json!("9007199254740993")).unwrap().len(), 16);
}

#[test]
fn defaults_and_named_branches() {
    let inner = json!({ "type": "record", "name": "In", "namespace": "x",
        "fields": [{ "name": "n", "type": "int", "default": 5 }] });
    let schema_ = json!({ "type": "record", "name": "Out", "namespace": "x",
        "fields": [{ "name": "u", "type": ["null", inner, "x.In2"], "default": null }] });
    assert!(Schema::parse(&schema_.to_string()).is_err());
    let schema_ = json!({ "type": "record", "name": "Out", "namespace": "x",
        "fields": [{ "name": "u", "type": ["null", inner], "default": null }] });
    assert_eq!(hex(&schema_, &json!({})).unwrap(), "00");
    for value in [json!({}), json!({ "x.In": {} }), json!({ "In": { "n": 5 } })] {
        assert_eq!(hex(&schema_, &json!({ "u": value })).unwrap(), "020a", "{value}");
    }
}

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    let fields = json!([{ "name": "a", "type": { "type": "array", "items": "int" } }]);
    let record = json!({ "type": "record", "name": "R", "fields": fields });
    for (schema, value, part) in [
        (record.clone(), json!({ "a": [1, "x"] }), "field `a` of `R`: item 1: \"x\" is no int"),
        (record, json!({}), "field `a` of `R`: it is missing"),
        (json!("int"), json!(2_147_483_648_u32), "is no int"),
        (json!("long"), json!(1.5), "is no long"),
        (json!(["null", "int"]), json!("x"), "no branch"),
        (json!("bytes"), json!([256]), "is no bytes"),
        (json!({ "type": "fixed", "name": "F", "size": 2 }), json!([1]), "fixed of 2 bytes"),
        (json!({ "type": "enum", "name": "E", "symbols": ["A"] }), json!("B"), "symbol"),
    ] {
        let problem = hex(&schema, &value).unwrap_err();
        assert!(problem.contains(part), "{problem}");
    }
}

/// A schema and a value of it that the reader gives back as it is.
fn pairs() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        Just((json!("null"), json!(null))),
        any::<bool>().prop_map(|held| (json!("boolean"), json!(held))),
        any::<i32>().prop_map(|number| (json!("int"), json!(number))),
        any::<i64>().prop_map(|number| (json!("long"), json!(number))),
        (-1e9..1e9_f64).prop_map(|number| (json!("double"), json!(number))),
        ".{0,20}".prop_map(|text| (json!("string"), json!(text))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..4_usize).prop_map(|((schema, value), count)| {
                (json!({ "type": "array", "items": schema }), json!(vec![value; count]))
            }),
            (inner.clone(), "[a-z]{1,8}").prop_map(|((schema, value), key)| {
                (json!({ "type": "map", "values": schema }), json!({ key: value }))
            }),
            prop::collection::vec(inner, 1..4).prop_map(|fields| {
                let (mut names, mut object) = (Vec::new(), Map::new());
                for (at, (schema, value)) in fields.into_iter().enumerate() {
                    names.push(json!({ "name": format!("f{at}"), "type": schema }));
                    object.insert(format!("f{at}"), value);
                }
                // Records within each other are named by what is in them.
                let name =
                    format!("R{}", names.iter().map(|it| it.to_string().len()).sum::<usize>());
                let schema = json!({ "type": "record", "name": name, "fields": names });
                (schema, Value::Object(object))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again((schema_, value) in pairs()) {
        // Two records of one name in a schema are one too many.
        let Ok(schema) = Schema::parse(&schema_.to_string()) else { return Ok(()) };
        let bytes = schema.write(&value).unwrap();
        prop_assert_eq!(schema.read(&bytes).unwrap(), value);
    }
}
