//! Avro's data: any bytes of a schema that has everything, and schemas of any text.

use sojourn_avro::Schema;

use crate::Input;

const SCHEMA: &str = r#"{"type":"record","name":"E","fields":[
  {"name":"a","type":{"type":"array","items":["null","E","string","double","long","boolean"]}},
  {"name":"m","type":{"type":"map","values":{"type":"array","items":"null"}}},
  {"name":"d","type":[{"type":"bytes","logicalType":"decimal","scale":3},"float","bytes","int",
    {"type":"fixed","name":"U","size":16,"logicalType":"uuid"},
    {"type":"fixed","name":"D","size":12,"logicalType":"duration"},
    {"type":"enum","name":"S","symbols":["A"]}]}]}"#;

/// Option 0: the first line is the schema, and the rest is data of it.
pub(crate) fn check(input: Input<'_>) {
    let (schema, data) = if input.has(0) {
        let mut lines = input.bytes.splitn(2, |byte| *byte == b'\n');
        let text = String::from_utf8_lossy(lines.next().unwrap_or_default());
        (Schema::parse(&text), lines.next().unwrap_or_default())
    } else {
        (Schema::parse(SCHEMA), input.bytes)
    };
    let Ok(schema) = schema else {
        assert!(input.has(0), "the schema above is one");
        return;
    };
    if schema.read(data).is_ok() {
        let longer = [data, b"\0"].concat();
        assert!(schema.read(&longer).is_err(), "a value takes up all of its data");
    }
}
