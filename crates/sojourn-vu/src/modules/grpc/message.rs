//! Objects of scripts as messages, and messages as objects: JSON as Protobuf defines it
//! (<https://protobuf.dev/programming-guides/json/>).

use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, SerializeOptions};
use serde::de::Deserialize as _;
use serde_json::Value;
use serde_json::value::RawValue;

/// The encoded message that a JSON text stands for. The error is in the words of Go's protojson,
/// with positions in the text.
pub(in crate::modules) fn encode(
    descriptor: &MessageDescriptor,
    json: &str,
) -> Result<Vec<u8>, String> {
    if descriptor.parent_file().package_name() != "google.protobuf" {
        check(descriptor, json, 1)?;
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let message = DynamicMessage::deserialize(descriptor.clone(), &mut reader)
        .map_err(|error| format!("proto: {error}"))?;
    Ok(message.encode_to_vec())
}

/// The JSON of a message: all its fields, those without values too.
pub(in crate::modules) fn decode(
    descriptor: &MessageDescriptor,
    bytes: &[u8],
) -> Result<Value, String> {
    let message = DynamicMessage::decode(descriptor.clone(), bytes)
        .map_err(|error| format!("proto: cannot parse invalid wire-format data: {error}"))?;
    let options = SerializeOptions::new().skip_default_fields(false);
    let mut value = message
        .serialize_with_options(serde_json::value::Serializer, &options)
        .map_err(|error| format!("proto: {error}"))?;
    show_absent(&message, &mut value);
    Ok(value)
}

/// A message that is not there is null.
fn show_absent(message: &DynamicMessage, value: &mut Value) {
    let descriptor = prost_reflect::ReflectMessage::descriptor(message);
    if descriptor.parent_file().package_name() == "google.protobuf" {
        return;
    }
    let Some(object) = value.as_object_mut() else { return };
    for field in descriptor.fields() {
        let Kind::Message(_) = field.kind() else { continue };
        if field.is_map() {
            continue;
        }
        if !message.has_field(&field) {
            if !field.is_list() && field.containing_oneof().is_none() {
                object.entry(field.json_name()).or_insert(Value::Null);
            }
            continue;
        }
        let Some(shown) = object.get_mut(field.json_name()) else { continue };
        match &*message.get_field(&field) {
            prost_reflect::Value::Message(inner) => show_absent(inner, shown),
            prost_reflect::Value::List(items) => {
                for (item, shown) in items.iter().zip(shown.as_array_mut().into_iter().flatten()) {
                    if let Some(inner) = item.as_message() {
                        show_absent(inner, shown);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Looks for the mistakes that scripts make: names that there are not, values of the wrong kind.
/// `column` is where the text begins, from 1.
fn check(descriptor: &MessageDescriptor, json: &str, column: usize) -> Result<(), String> {
    let Some(members) = members(json) else {
        let token: String = json.trim().chars().take(20).collect();
        let token = token.trim_matches('"');
        return Err(format!(
            "proto: syntax error (line 1:{column}): unexpected token {}",
            if json.starts_with('"') { format!("\"{token}\"") } else { token.to_owned() }
        ));
    };
    for member in members {
        let name = member.name.as_str();
        let field =
            descriptor.get_field_by_json_name(name).or_else(|| descriptor.get_field_by_name(name));
        let Some(field) = field else {
            if name.starts_with('[') {
                continue;
            }
            let at = column + member.at;
            return Err(format!("proto: (line 1:{at}): unknown field \"{name}\""));
        };
        let (value, at) = (member.value, column + member.value_at);
        if value == "null" || field.is_list() || field.is_map() {
            continue;
        }
        match field.kind() {
            Kind::Message(inner) if inner.parent_file().package_name() != "google.protobuf" => {
                check(&inner, value, at)?;
            }
            kind => {
                if let Some(kind) = mismatch(&kind, value) {
                    return Err(format!(
                        "proto: (line 1:{at}): invalid value for {kind} field {name}: {value}"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The name of a kind that a value can't be of.
fn mismatch(kind: &Kind, value: &str) -> Option<&'static str> {
    let is_text = value.starts_with('"');
    let is_number = value.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let is_whole = is_number && value.parse::<f64>().is_ok_and(|number| number.fract() == 0.0);
    let text_as = |is_fine: fn(&str) -> bool| is_text && is_fine(value.trim_matches('"'));
    let whole = |text: &str| text.parse::<f64>().is_ok_and(|number| number.fract() == 0.0);
    let any = |text: &str| {
        text.parse::<f64>().is_ok() || matches!(text, "NaN" | "Infinity" | "-Infinity")
    };
    let (name, fits) = match kind {
        Kind::String => ("string", is_text),
        Kind::Bytes => ("bytes", is_text),
        Kind::Bool => ("bool", matches!(value, "true" | "false")),
        Kind::Double => ("double", is_number || text_as(any)),
        Kind::Float => ("float", is_number || text_as(any)),
        Kind::Int32 => ("int32", is_whole || text_as(whole)),
        Kind::Int64 => ("int64", is_whole || text_as(whole)),
        Kind::Uint32 => ("uint32", is_whole || text_as(whole)),
        Kind::Uint64 => ("uint64", is_whole || text_as(whole)),
        Kind::Sint32 => ("sint32", is_whole || text_as(whole)),
        Kind::Sint64 => ("sint64", is_whole || text_as(whole)),
        Kind::Fixed32 => ("fixed32", is_whole || text_as(whole)),
        Kind::Fixed64 => ("fixed64", is_whole || text_as(whole)),
        Kind::Sfixed32 => ("sfixed32", is_whole || text_as(whole)),
        Kind::Sfixed64 => ("sfixed64", is_whole || text_as(whole)),
        Kind::Enum(_) => ("enum", is_text || is_whole),
        Kind::Message(_) => return None,
    };
    (!fits).then_some(name)
}

/// A member of a JSON object.
struct Member<'a> {
    name: String,
    /// Where its name and its value begin, in bytes from the object's begin.
    at: usize,
    value: &'a str,
    value_at: usize,
}

/// The members of an object as the text has them; `None` if it is none.
fn members(json: &str) -> Option<Vec<Member<'_>>> {
    let mut found = Vec::new();
    let mut at = skip(json, 0, "{")?;
    if json.get(at..)?.starts_with('}') {
        return Some(found);
    }
    loop {
        let mut names = serde_json::Deserializer::from_str(json.get(at..)?).into_iter::<String>();
        let name = names.next()?.ok()?;
        let name_at = at;
        at = skip(json, at + names.byte_offset(), ":")?;
        let mut values = serde_json::Deserializer::from_str(json.get(at..)?);
        let value = <&RawValue>::deserialize(&mut values).ok()?.get();
        found.push(Member { name, at: name_at, value, value_at: at });
        at += value.len();
        match skip(json, at, ",") {
            Some(next) => at = next,
            None => return Some(found),
        }
    }
}

/// Past a mark and the space around it.
fn skip(json: &str, at: usize, mark: &str) -> Option<usize> {
    let rest = json.get(at..)?.trim_start().strip_prefix(mark)?.trim_start();
    Some(json.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor() -> MessageDescriptor {
        let source = "syntax = \"proto3\"; package t; message Inner { int32 n = 1; }
            message M { string name = 1; Inner inner = 2; repeated Inner many = 3; int64 big = 4;
                        map<string, int32> by_name = 5; optional bool maybe = 6; bytes raw = 7; }";
        let file = protox::file::File::from_source("t.proto", source).unwrap();
        let mut pool = prost_reflect::DescriptorPool::new();
        pool.add_file_descriptor_proto(file.file_descriptor_proto().clone()).unwrap();
        pool.get_message_by_name("t.M").unwrap()
    }

    #[test]
    fn a_message_comes_back_with_all_its_fields() {
        let json = r#"{"name":"a","inner":{"n":2},"many":[{},{"n":3}],"big":5,"byName":{"x":1}}"#;
        let bytes = encode(&descriptor(), json).unwrap();
        let expected = serde_json::json!({
            "name": "a", "inner": {"n": 2}, "many": [{"n": 0}, {"n": 3}], "big": "5",
            "byName": {"x": 1}, "raw": "",
        });
        assert_eq!(decode(&descriptor(), &bytes).unwrap(), expected);
    }

    #[test]
    fn a_message_that_is_not_there_is_null() {
        let expected = serde_json::json!({
            "name": "", "inner": null, "many": [], "big": "0", "byName": {}, "raw": "",
        });
        assert_eq!(decode(&descriptor(), &[]).unwrap(), expected);
    }

    #[test]
    fn mistakes_are_told_with_their_places() {
        let told = |json| encode(&descriptor(), json).unwrap_err();
        assert_eq!(told(r#"{"nick":"x"}"#), "proto: (line 1:2): unknown field \"nick\"");
        let wrong = "proto: (line 1:9): invalid value for string field name: 5";
        assert_eq!(told(r#"{"name":5}"#), wrong);
        let within = "proto: (line 1:15): invalid value for int32 field n: \"x\"";
        assert_eq!(told(r#"{"inner":{"n":"x"}}"#), within);
        let second = "proto: (line 1:13): unknown field \"b\"";
        assert_eq!(told(r#"{"name":"a","b":1}"#), second);
        let none = "proto: syntax error (line 1:1): unexpected token \"x\"";
        assert_eq!(told(r#""x""#), none);
    }
}
