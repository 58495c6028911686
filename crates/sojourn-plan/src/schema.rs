//! The JSON Schema of journey files, for editors: made from the shapes that the reader goes by.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::read::shape::{Kind, Shape};
use crate::read::{OPERATORS, shapes};

/// The schema (draft 2020-12) of a journey file.
pub(crate) fn of_file() -> Value {
    schema_of("Sojourn journey file", &shapes::FILE)
}

/// The schema (draft 2020-12) of a file of this shape.
pub fn schema_of(title: &str, shape: &'static Shape) -> Value {
    let mut definitions = Map::new();
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".to_owned(), title.into());
    schema.extend(of_shape(shape, &mut definitions));
    schema.insert("$defs".to_owned(), Value::Object(definitions));
    Value::Object(schema)
}

fn of_shape(shape: &'static Shape, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = BTreeSet::new();
    for field in shape.fields {
        let mut property = of_kind(field.kind, definitions);
        property.insert("description".to_owned(), field.doc.into());
        properties.insert(field.name.to_owned(), Value::Object(property));
        if field.required {
            required.insert(field.name);
        }
    }
    let mut schema = Map::new();
    schema.insert("description".to_owned(), shape.doc.into());
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn of_kind(kind: Kind, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let value = match kind {
        Kind::Conditions => json!({
            "type": "object",
            "additionalProperties": {
                "anyOf": [
                    { "type": ["string", "number", "boolean", "null", "array"] },
                    {
                        "type": "object",
                        "propertyNames": { "enum": OPERATORS },
                    },
                ],
            },
        }),
        Kind::List(item) => json!({ "type": "array", "items": of_kind(*item, definitions) }),
        Kind::Named(value) => json!({
            "type": "object",
            "additionalProperties": of_kind(*value, definitions),
        }),
        Kind::Map(shape) => {
            // Without its article.
            let name = shape.name.split_once(' ').map_or(shape.name, |(_, name)| name);
            let name = name.replace(' ', "_");
            if !definitions.contains_key(&name) {
                definitions.insert(name.clone(), Value::Null);
                let schema = of_shape(shape, definitions);
                definitions.insert(name.clone(), Value::Object(schema));
            }
            json!({ "$ref": format!("#/$defs/{name}") })
        }
        Kind::Either(kinds) => {
            let kinds: Vec<_> = kinds.iter().map(|kind| of_kind(*kind, definitions)).collect();
            json!({ "anyOf": kinds })
        }
        scalar => of_scalar(scalar),
    };
    match value {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// A duration, or a variable that holds one.
const DURATION: &str = r"^([0-9.]+(ns|us|µs|ms|s|sec|m|min|h|d))+$|^0$|\$\{";

fn of_scalar(kind: Kind) -> Value {
    // Any value may be given as `${NAME}`, so a number may also be text.
    let variable = json!({ "type": "string", "pattern": "\\$\\{" });
    match kind {
        Kind::Duration => json!({
            "anyOf": [
                { "type": "string", "pattern": DURATION },
                { "const": 0 },
            ],
        }),
        Kind::Rate => json!({ "type": "string", "pattern": "^[0-9.]+ ?/ ?[0-9a-zµ.]+$|\\$\\{" }),
        Kind::Fraction => json!({
            "anyOf": [
                { "type": "string", "pattern": "^[0-9.]+%?$|\\$\\{" },
                { "type": "number", "minimum": 0, "maximum": 1 },
            ],
        }),
        Kind::Size => json!({
            "anyOf": [
                { "type": "string", "pattern": "^[0-9.]+ ?[kKmMgGiI]*[bB]?$|\\$\\{" },
                { "type": "integer", "minimum": 0 },
            ],
        }),
        Kind::Count => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, variable] }),
        Kind::Number => json!({ "anyOf": [{ "type": "number" }, variable] }),
        Kind::Flag => json!({ "anyOf": [{ "type": "boolean" }, variable] }),
        Kind::Text => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Selector => json!({ "type": "string", "minLength": 1 }),
        Kind::Choice(words) => json!({ "anyOf": [{ "enum": words }, variable] }),
        _ => json!({}),
    }
}
