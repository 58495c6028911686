//! Targets as JSON, one object a line: `method`, `url`, and where wanted `body` (base64), `header`
//! (an object of lists) and `name`. Other keys are passed over.

use std::{io::BufRead, sync::Arc};

use base64::Engine;
use serde_json::{Map, Value};

use super::{
    reader::TargetReader,
    target::{Target, TargetDefaults, TargetError, Wrong},
};

/// The next target; `None` at the end.
pub(super) fn next<R: BufRead>(
    reader: &mut TargetReader<'_, R>,
) -> Result<Option<Target>, TargetError> {
    while let Some(line) = reader.lines.take()? {
        if !line.is_empty() {
            let target = of_line(&line, &reader.defaults);
            return target.map(Some).map_err(|wrong| reader.lines.wrong(wrong));
        }
    }
    Ok(None)
}

fn of_line(line: &str, defaults: &TargetDefaults) -> Result<Target, Wrong> {
    let hint = || Some(r#"such as {"method": "GET", "url": "http://127.0.0.1:8080/"}"#.to_owned());
    let object: Map<String, Value> = serde_json::from_str(line)
        .map_err(|error| (format!("bad target: not a JSON object: {error}"), hint()))?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let required =
        |key: &str| text(key).ok_or_else(|| (format!("target: required {key} is missing"), hint()));
    let method = required("method")?;
    if !method.bytes().all(is_token_byte) {
        return Err((format!("bad method: {method}"), hint()));
    }
    let mut target = Target::new(method, required("url")?, defaults)?;
    target.name = text("name").map(str::to_owned);
    match object.get("body") {
        None | Some(Value::Null) => {}
        Some(Value::String(body)) => {
            let body = base64::engine::general_purpose::STANDARD
                .decode(body)
                .map_err(|error| (format!("bad body: not base64: {error}"), None))?;
            target.body = Arc::from(body);
        }
        Some(other) => return Err((format!("bad body: {other} is not a base64 string"), None)),
    }
    match object.get("header") {
        None | Some(Value::Null) => {}
        Some(header) => target.headers.extend(headers(header)?),
    }
    Ok(target)
}

fn headers(header: &Value) -> Result<Vec<(String, String)>, Wrong> {
    let wrong = || {
        let hint = r#"write "header": {"Accept": ["text/plain"]}"#;
        (format!("bad header: {header}"), Some(hint.to_owned()))
    };
    let mut headers = Vec::new();
    for (key, values) in header.as_object().ok_or_else(wrong)? {
        for value in values.as_array().ok_or_else(wrong)? {
            headers.push((key.clone(), value.as_str().ok_or_else(wrong)?.to_owned()));
        }
    }
    Ok(headers)
}

/// Of a token of RFC 9110 §5.6.2: nothing else can be sent as a method.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
