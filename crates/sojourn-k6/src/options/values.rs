//! The plain kinds of values: numbers, switches, texts, durations, lists, tags.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{
    duration::Nanos,
    options::{
        error::Wrong,
        table::{Kind, object, read},
    },
};

/// Names and values of tags, or of environment variables.
pub type Tags = BTreeMap<String, String>;

impl Kind for bool {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        value.as_bool().ok_or_else(|| Wrong::type_of(value, "true or false"))
    }

    /// Variables know these two words only.
    fn from_text(text: &str) -> Result<Self, Wrong> {
        text.parse().map_err(|_| Wrong::new(format!("`{text}` is not true or false")))
    }

    fn to_json(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Kind for i64 {
    const EMPTY_IS_NONE: bool = true;

    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| Wrong::type_of(value, "a whole number"))
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        text.parse().map_err(|_| Wrong::new(format!("`{text}` is not a whole number")))
    }

    fn to_json(&self) -> Value {
        Value::from(*self)
    }
}

/// The whole number that a float is. JavaScript has no other numbers: 10 may come as 10.0.
fn whole(number: f64) -> Option<i64> {
    // Above 2⁵³ neighbouring whole numbers are no longer told apart.
    (number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0).then_some(number as i64)
}

impl Kind for String {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        value.as_str().map(Self::from).ok_or_else(|| Wrong::type_of(value, "a text"))
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Ok(text.to_owned())
    }

    fn to_json(&self) -> Value {
        Value::String(self.clone())
    }
}

impl Kind for Nanos {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let wrong = || Wrong::type_of(value, "a duration such as \"30s\", or milliseconds");
        match value {
            Value::Number(number) => number.as_f64().and_then(Self::from_ms).ok_or_else(wrong),
            Value::String(text) => Self::parse(text).map_err(|error| Wrong::new(error.to_string())),
            _ => Err(wrong()),
        }
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Self::parse(text).map_err(|error| Wrong::new(error.to_string()))
    }

    fn to_json(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl Kind for Vec<String> {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let list = value.as_array().ok_or_else(|| Wrong::type_of(value, "a list of texts"))?;
        let texts = list.iter().enumerate();
        texts.map(|(at, text)| String::from_json(text).map_err(|wrong| wrong.within(at))).collect()
    }

    /// Separated by commas.
    fn from_text(text: &str) -> Result<Self, Wrong> {
        if text.is_empty() {
            return Ok(Self::new());
        }
        Ok(text.split(',').map(String::from).collect())
    }

    fn to_json(&self) -> Value {
        Value::from(self.clone())
    }
}

impl Kind for Tags {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let entries = object(value, "an object of texts")?.iter();
        entries
            .map(|(name, value)| {
                let text: Option<String> = read(value).map_err(|wrong| wrong.within(name))?;
                Ok((name.clone(), text.unwrap_or_default()))
            })
            .collect()
    }

    /// `name:value`, separated by commas.
    fn from_text(text: &str) -> Result<Self, Wrong> {
        let pairs = text.split(',').filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| {
                let (name, value) = pair
                    .split_once(':')
                    .ok_or_else(|| Wrong::new(format!("`{pair}` is not name:value")))?;
                Ok((name.to_owned(), value.to_owned()))
            })
            .collect()
    }

    fn to_json(&self) -> Value {
        self.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Cuts `name=value`.
pub(crate) fn name_and_value(pair: &str) -> Result<(String, String), Wrong> {
    match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Wrong::new(format!("`{pair}` is not name=value"))),
    }
}

/// What others may read, by name.
impl Kind for Map<String, Value> {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        object(value, "an object").cloned()
    }

    fn to_json(&self) -> Value {
        Value::Object(self.clone())
    }
}

/// Anything: kept as it is, for whoever else may read it.
impl Kind for Value {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        Ok(value.clone())
    }

    fn to_json(&self) -> Value {
        self.clone()
    }
}
