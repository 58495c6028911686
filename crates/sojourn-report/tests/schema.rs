//! The JSON report against its schema.

use std::path::Path;

use serde_json::{Value, json};
use sojourn_record::RunFile;
use sojourn_report::{ReportModel, render, schema};

use crate::{from_run, payments};

fn hold(name: &str, model: &ReportModel) {
    let report: Value = serde_json::from_str(&render::json(model).unwrap()).unwrap();
    let schema = jsonschema::draft202012::new(&schema()).unwrap();
    let wrong: Vec<String> = schema
        .iter_errors(&report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(10)
        .collect();
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

fn of_file(is_whole: bool) -> ReportModel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sojourn");
    from_run::write(&path, is_whole);
    ReportModel::from_run(&RunFile::open(Path::new(&path)).unwrap())
}

#[test]
fn reports_are_as_their_schema_says() {
    hold("payments", &payments::model());
    hold("empty", &payments::empty());
    hold("a file", &of_file(true));
    hold("a file that was cut off", &of_file(false));
}

#[test]
fn the_schema_refuses_what_is_no_report() {
    let schema = jsonschema::draft202012::new(&schema()).unwrap();
    let report =
        || -> Value { serde_json::from_str(&render::json(&payments::model()).unwrap()).unwrap() };
    assert!(schema.is_valid(&report()));
    let mut wrong = report();
    wrong["verdict"]["outcome"] = json!("maybe");
    assert!(!schema.is_valid(&wrong));
    let mut wrong = report();
    wrong["ledger"]["journeys_total"]["steady"]["lost"] = json!(-1);
    assert!(!schema.is_valid(&wrong));
    let mut wrong = report();
    wrong["journeys"][0].as_object_mut().unwrap().remove("quantiles");
    assert!(!schema.is_valid(&wrong));
    // Within a version fields are added.
    let mut newer = report();
    newer["journeys"][0]["from_a_later_version"] = json!(1);
    assert!(schema.is_valid(&newer));
}

#[test]
fn every_field_is_described() {
    fn look(at: &str, value: &Value, missing: &mut Vec<String>) {
        if let Some(properties) = value["properties"].as_object() {
            for (name, property) in properties {
                // The tags of variants need no words: the variant has them.
                if property["description"].is_null() && property["const"].is_null() {
                    missing.push(format!("{at}.{name}"));
                }
            }
        }
        match value {
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(name, value)| look(&format!("{at}/{name}"), value, missing));
            }
            Value::Array(items) => items.iter().for_each(|value| look(at, value, missing)),
            _ => {}
        }
    }
    let mut missing = Vec::new();
    look("", &schema(), &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
}

/// What a schema says of a field, whether or not it may be `null`.
fn field<'a>(root: &'a Value, schema: &'a Value, name: &str) -> Option<&'a Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        return field(root, root.pointer(reference.strip_prefix('#')?)?, name);
    }
    let either = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    if let Some(found) = either.and_then(|of| of.iter().find_map(|it| field(root, it, name))) {
        return Some(found);
    }
    match name.parse::<usize>() {
        Ok(_) => schema.get("items"),
        Err(_) => schema["properties"].get(name),
    }
}

#[test]
fn the_examples_for_test_frameworks_read_fields_that_there_are() {
    let examples = [
        include_str!("../../../examples/from-tests/pytest/test_orders.py"),
        include_str!("../../../examples/from-tests/jest/orders.test.js"),
        include_str!("../../../examples/from-tests/junit/src/test/java/OrdersTest.java"),
        include_str!("../../../examples/from-tests/xunit/OrdersTest.cs"),
    ];
    let schema = schema();
    for example in examples {
        let quoted = example.split('"').skip(1).step_by(2);
        let pointers: Vec<&str> = quoted
            .filter(|text| text.starts_with('/') && text.len() > 1 && !text.contains("://"))
            .collect();
        assert!(pointers.len() >= 8, "{pointers:?}");
        for pointer in pointers {
            let found =
                pointer.split('/').skip(1).try_fold(&schema, |at, name| field(&schema, at, name));
            assert!(found.is_some(), "no report has {pointer}");
        }
        // The one field that they read otherwise.
        assert!(example.contains("held"));
    }
    let thresholds = field(&schema, &schema, "thresholds").unwrap();
    let row = field(&schema, thresholds, "0").unwrap();
    assert!(field(&schema, row, "held").is_some() && field(&schema, row, "heeld").is_none());
}
