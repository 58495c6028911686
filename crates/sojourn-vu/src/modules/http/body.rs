//! What a script gives as a body, as bytes and a content type.

use std::fmt::Write as _;

use sojourn_script::js::{self, Array, Coerced, Ctx, FromJs, Object, Value};

use crate::modules::bytes;

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
    name: Option<String>,
    content_type: Option<String>,
) -> js::Result<Object<'js>> {
    bytes::required(ctx, &data, "a file's data")?;
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

/// Strings and bytes go as they are; an object is a form, of several parts where a file is in it.
pub(super) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Body> {
    if value.is_null() || value.is_undefined() {
        return Ok(Body::default());
    }
    if let Some(bytes) = bytes::of(value) {
        return Ok(Body { bytes, content_type: None });
    }
    let Some(object) = value.as_object() else {
        let text = Coerced::<String>::from_js(ctx, value.clone())?.0;
        return Ok(Body { bytes: text.into_bytes(), content_type: None });
    };
    let entries: Vec<(String, Value<'js>)> = object.props().collect::<js::Result<_>>()?;
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

/// A form's value; what is no text, number or boolean is empty.
fn text<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> js::Result<String> {
    if value.is_null() || value.is_undefined() || value.is_object() {
        return Ok(String::new());
    }
    Coerced::<String>::from_js(ctx, value).map(|text| text.0)
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

/// Quotes and line ends would end the name early (WHATWG's encoding of forms).
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
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
