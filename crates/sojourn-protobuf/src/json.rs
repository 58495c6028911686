//! Values to JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::{DynamicMessage, Kind, MapKey, ReflectMessage, Value as Read};
use serde_json::{Map, Number, Value};

/// A message as an object. Recursion is bounded by the depth to which messages are read; `budget`
/// is how many values may be made: fields without presence are there even in a message of no bytes,
/// so that a short payload may stand for very many of them.
pub(crate) fn message(message: &DynamicMessage, budget: &mut usize) -> Result<Value, &'static str> {
    let descriptor = message.descriptor();
    let mut object = Map::new();
    for field in descriptor.fields() {
        if field.supports_presence() && !message.has_field(&field) {
            continue;
        }
        let read = message.get_field(&field);
        object.insert(field.name().to_owned(), value(&read, &field.kind(), budget)?);
    }
    Ok(Value::Object(object))
}

fn value(read: &Read, kind: &Kind, budget: &mut usize) -> Result<Value, &'static str> {
    *budget = budget.checked_sub(1).ok_or("more values than its length allows")?;
    Ok(match read {
        Read::Bool(flag) => (*flag).into(),
        Read::I32(number) => (*number).into(),
        Read::I64(number) => (*number).into(),
        Read::U32(number) => (*number).into(),
        Read::U64(number) => (*number).into(),
        Read::F32(number) => float(f64::from(*number)),
        Read::F64(number) => float(*number),
        Read::String(text) => text.as_str().into(),
        Read::Bytes(bytes) => STANDARD.encode(bytes).into(),
        Read::EnumNumber(number) => match kind {
            Kind::Enum(declared) => declared
                .get_value(*number)
                .map_or_else(|| (*number).into(), |value| value.name().into()),
            _ => (*number).into(),
        },
        Read::Message(inner) => message(inner, budget)?,
        Read::List(items) => {
            let items = items.iter().map(|item| value(item, kind, budget));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Read::Map(entries) => {
            let of_value = match kind {
                Kind::Message(entry) => entry.map_entry_value_field().kind(),
                other => other.clone(),
            };
            // In an order of their own, so that the same message reads the same.
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            let entries = entries
                .into_iter()
                .map(|(name, item)| Ok((key(name), value(item, &of_value, budget)?)));
            Value::Object(entries.collect::<Result<_, &'static str>>()?)
        }
    })
}

fn key(key: &MapKey) -> String {
    match key {
        MapKey::Bool(flag) => flag.to_string(),
        MapKey::I32(number) => number.to_string(),
        MapKey::I64(number) => number.to_string(),
        MapKey::U32(number) => number.to_string(),
        MapKey::U64(number) => number.to_string(),
        MapKey::String(text) => text.clone(),
    }
}

fn float(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}
