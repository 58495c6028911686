//! The JSON Schema agrees with the reader: a small validator of the keywords it uses.

use regex::Regex;
use serde_json::{Value, json};

use crate::published;

#[test]
fn published_files_fit_the_schema() {
    let schema = sojourn_plan::schema();
    for (name, text) in published::files() {
        let value: Value = serde_saphyr::from_str(&text).unwrap();
        if let Err(wrong) = fits(&value, &schema, &schema, "") {
            panic!("{name}: {wrong}\n{text}");
        }
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = sojourn_plan::schema();
    let good = json!({
        "journeys": { "a": { "root": { "http": "GET http://x/" } } },
        "load": [{ "rate": "1/s", "steady": "5s" }],
    });
    assert_eq!(fits(&good, &schema, &schema, ""), Ok(()));
    let change = |pointer: &str, name: &str, value: Value| {
        let mut bad = good.clone();
        let object = bad.pointer_mut(pointer).and_then(Value::as_object_mut);
        object.unwrap().insert(name.to_owned(), value);
        bad
    };
    for bad in [
        change("", "journey", json!({})),
        change("/load/0", "rate", json!(50)),
        change("/load/0", "steady", json!("5")),
        change("/load/0", "arrivals", json!("random")),
        change("/journeys/a", "within", json!("soon")),
        change("/journeys/a", "stages", json!([{ "on": "x" }])),
        change("/journeys/a/root", "expect", json!({ "status": { "above": 1 } })),
        change("/journeys/a/root", "http", json!({ "uri": "/" })),
        json!({ "load": [] }),
    ] {
        assert!(fits(&bad, &schema, &schema, "").is_err(), "{bad}");
    }
}

#[test]
fn every_definition_is_whole() {
    let schema = sojourn_plan::schema();
    let definitions = schema["$defs"].as_object().unwrap();
    assert!(definitions.len() > 20);
    for (name, definition) in definitions {
        assert!(definition["properties"].is_object(), "{name}");
        assert_eq!(definition["additionalProperties"], false, "{name}");
    }
}

fn fits(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{at}: {value} {what}"));
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return fits(value, target.unwrap(), root, at);
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        let mut problems = Vec::new();
        for form in forms {
            match fits(value, form, root, at) {
                Ok(()) => return Ok(()),
                Err(problem) => problems.push(problem),
            }
        }
        return Err(problems.join(" / "));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    if !types.is_empty() && !types.iter().any(|name| is_type(value, name)) {
        return wrong(&format!("is not {types:?}"));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return wrong("is not one of the words");
    }
    if schema.get("const").is_some_and(|expected| expected != value) {
        return wrong("is not the value");
    }
    if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str())
        && !Regex::new(pattern).unwrap().is_match(text)
    {
        return wrong("does not match");
    }
    for (name, item) in value.as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        let names = &schema["propertyNames"];
        if names.is_object() {
            fits(&name.as_str().into(), names, root, &at)?;
        }
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Object(property), _) => fits(item, &property.clone().into(), root, &at)?,
            (_, Value::Bool(false)) => return Err(format!("{at}: unknown")),
            (_, rest @ Value::Object(_)) => fits(item, rest, root, &at)?,
            _ => {}
        }
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            return wrong(&format!("lacks {name}"));
        }
    }
    for (place, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(items) = schema.get("items") {
            fits(item, items, root, &format!("{at}/{place}"))?;
        }
    }
    Ok(())
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
