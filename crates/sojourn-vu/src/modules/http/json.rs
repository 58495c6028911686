//! A body as JSON, whole or in parts: `Response.json("users.0.name")`.

use serde_json::Value as Json;
use sojourn_script::js::{self, Ctx, Exception, Value};

/// The selected part as a script's value; undefined where there is none.
pub(super) fn select<'js>(ctx: &Ctx<'js>, body: &[u8], path: &str) -> js::Result<Value<'js>> {
    let parsed: Json = parse(ctx, body)?;
    match super::path::find(&parsed, path) {
        Some(found) => ctx.json_parse(found.to_string()),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// The body as JSON, or the error that k6 throws.
fn parse(ctx: &Ctx<'_>, body: &[u8]) -> js::Result<Json> {
    serde_json::from_slice(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let told = format!(
            "cannot parse json due to an error at line {line}, character {column} , error: {}",
            problem(&error, body)
        );
        Exception::throw_message(ctx, &told)
    })
}

/// The whole body as a script's value.
pub(super) fn whole<'js>(ctx: &Ctx<'js>, body: &[u8]) -> js::Result<Value<'js>> {
    match ctx.json_parse(body) {
        Ok(value) => Ok(value),
        Err(error) => {
            ctx.catch();
            parse(ctx, body)?;
            Err(error)
        }
    }
}

/// What is wrong, in the words of Go.
fn problem(error: &serde_json::Error, body: &[u8]) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = body.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1));
    let letter = line.and_then(|line| line.get(error.column().saturating_sub(1)));
    let letter = letter.map_or(' ', |byte| char::from(*byte));
    let text = error.to_string();
    let place = if text.starts_with("key must be a string") {
        "looking for beginning of object key string"
    } else if text.starts_with("trailing characters") {
        "after top-level value"
    } else if text.starts_with("expected `,` or `}`") {
        "after object key:value pair"
    } else if text.starts_with("expected `,` or `]`") {
        "after array element"
    } else if text.starts_with("expected `:`") {
        "after object key"
    } else {
        "looking for beginning of value"
    };
    format!("invalid character '{letter}' {place}")
}
