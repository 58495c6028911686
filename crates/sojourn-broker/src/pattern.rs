//! Text by a regular expression: its named groups become fields.

use regex::Regex;
use serde_json::{Map, Value};

/// The groups that took part, as texts. The expression's work grows linearly with the payload.
pub(crate) fn read(regex: &Regex, payload: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(payload).map_err(|error| {
        format!("the payload is not text of UTF-8: byte {} is wrong", error.valid_up_to())
    })?;
    let groups = regex
        .captures(text)
        .ok_or_else(|| format!("the text does not match /{}/", regex.as_str()))?;
    let fields: Map<String, Value> = regex
        .capture_names()
        .flatten()
        .filter_map(|name| Some((name.to_owned(), groups.name(name)?.as_str().into())))
        .collect();
    Ok(Value::Object(fields))
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
