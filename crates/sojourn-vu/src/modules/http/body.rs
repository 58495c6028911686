//! What a script gives as a body, as bytes and a content type.

use std::fmt::Write as _;

use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{self, Array, Coerced, Ctx, Exception, FromJs, Function, Object, Value};

use crate::modules::{bytes, coerced, go_type};

/// The hidden property by which an object of `http.file` is known.
const FILE: &str = "__sojourn_file";

/// A body as it goes over the wire.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    /// For a request that does not say its own.
    pub(super) content_type: Option<String>,
}

/// `http.file(data, filename, contentType)`.
pub(super) fn file<'js>(
    ctx: &Ctx<'js>,
    data: Value<'js>,
    name: Opt<Value<'js>>,
    content_type: Opt<Value<'js>>,
) -> js::Result<Object<'js>> {
    if raw(ctx, &data)?.is_none() {
        let kind = go_type::name(ctx, &data)?;
        let told = format!("invalid type {kind}, expected string or ArrayBuffer");
        return Err(Exception::throw_message(ctx, &told));
    }
    let text = |value: Opt<Value<'js>>| value.0.map(|value| coerced::text(ctx, &value)).transpose();
    let (name, content_type) = (text(name)?, text(content_type)?);
    let object = Object::new(ctx.clone())?;
    object.set("data", data)?;
    let name = name.unwrap_or_else(|| jiff::Timestamp::now().as_nanosecond().to_string());
    object.set("filename", name)?;
    let content_type = content_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    object.set("content_type", content_type)?;
    object.prop(FILE, js::object::Property::from(true))?;
    Ok(object)
}

fn is_file(value: &Value<'_>) -> bool {
    value.as_object().is_some_and(|object| object.contains_key(FILE).unwrap_or(false))
}

/// The bytes of what goes as it is: strings, buffers, views of bytes. Views of wider numbers would
/// go in the order of this machine's bytes: they are as wrong as in k6.
fn raw<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Option<Vec<u8>>> {
    let Some(bytes) = bytes::of(value) else { return Ok(None) };
    let goes = value.is_string()
        || matches!(
            go_type::tag(ctx, value)?.as_str(),
            "ArrayBuffer" | "Uint8Array" | "Uint8ClampedArray" | "DataView"
        );
    Ok(goes.then_some(bytes))
}

/// The members of an object that can be a form; what else there is can't be a body.
fn members<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Vec<(String, Value<'js>)>> {
    let kind = if is_file(value) {
        "*http.FileData".to_owned()
    } else if value.is_symbol() {
        "symbol".to_owned()
    } else {
        go_type::name(ctx, value)?
    };
    match value.as_object() {
        Some(object) if kind == go_type::OBJECT => object.props().collect(),
        _ => {
            let told = format!("unknown request body type {kind}");
            Err(Exception::throw_message(ctx, &told))
        }
    }
}

/// Strings and bytes go as they are; an object is a form, of several parts where a file is in it.
pub(super) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Body> {
    if value.is_null() || value.is_undefined() {
        return Ok(Body::default());
    }
    if let Some(bytes) = raw(ctx, value)? {
        return Ok(Body { bytes, content_type: None });
    }
    let entries = members(ctx, value)?;
    if entries.iter().any(|(_, value)| is_file(value)) {
        return multipart(ctx, entries);
    }
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    let mut sorted = entries;
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    for (key, value) in sorted {
        match value.as_array() {
            Some(array) => {
                for item in Array::iter::<Value<'js>>(array) {
                    form.append_pair(&key, &text(ctx, item?)?);
                }
            }
            None => {
                form.append_pair(&key, &text(ctx, value)?);
            }
        }
    }
    let content_type = Some("application/x-www-form-urlencoded".to_owned());
    Ok(Body { bytes: form.finish().into_bytes(), content_type })
}

/// A form's value; null and objects are shown as Go shows them, as in k6.
fn text<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> js::Result<String> {
    if value.is_null() || value.is_undefined() {
        return Ok("<nil>".to_owned());
    }
    if let Some(array) = value.as_array() {
        let parts = array.iter().map(|item| text(ctx, item?)).collect::<js::Result<Vec<_>>>()?;
        return Ok(format!("[{}]", parts.join(" ")));
    }
    if go_type::name(ctx, &value)? == go_type::TIME {
        return time(&value);
    }
    if let Some(object) = value.as_object() {
        let mut parts = Vec::new();
        for entry in object.props::<String, Value<'js>>() {
            let (key, inner) = entry?;
            parts.push(format!("{key}:{}", text(ctx, inner)?));
        }
        return Ok(format!("map[{}]", parts.join(" ")));
    }
    Coerced::<String>::from_js(ctx, value).map(|text| text.0)
}

/// An instant as Go writes it: `2026-01-02 03:04:05.6 +0000 UTC`.
fn time(date: &Value<'_>) -> js::Result<String> {
    let object = date.as_object().ok_or(js::Error::Unknown)?;
    let show: Function<'_> = object.get("toISOString")?;
    let shown: String = show.call((This(date.clone()),))?;
    let shown = shown.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
    Ok(format!("{} +0000 UTC", shown.replace('T', " ")))
}

fn multipart<'js>(ctx: &Ctx<'js>, entries: Vec<(String, Value<'js>)>) -> js::Result<Body> {
    let boundary = boundary();
    let mut out = Vec::new();
    for (key, value) in entries {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", escaped(&key));
        let content = if is_file(&value) {
            let part = Object::from_js(ctx, value)?;
            let name: String = part.get("filename")?;
            let content_type: String = part.get("content_type")?;
            // Writing to a string can't fail.
            write!(head, "; filename=\"{}\"\r\nContent-Type: {content_type}", escaped(&name)).ok();
            bytes::of(&part.get("data")?).unwrap_or_default()
        } else {
            text(ctx, value)?.into_bytes()
        };
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&content);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let content_type = Some(format!("multipart/form-data; boundary={boundary}"));
    Ok(Body { bytes: out, content_type })
}

/// Quotes and line ends would end the name early.
fn escaped(name: &str) -> String {
    let quoted = name.replace('\\', r"\\").replace('"', r#"\""#);
    quoted.replace('\r', "%0D").replace('\n', "%0A")
}

/// 60 digits that no content has by chance.
fn boundary() -> String {
    let mut text = String::with_capacity(64);
    let mut word = sojourn_clock::now_ns();
    for _ in 0..4 {
        word = sojourn_pace::random_u64(word, 0x626f_756e, text.len() as u64);
        // Writing to a string can't fail.
        write!(text, "{word:015x}").ok();
    }
    text
}
