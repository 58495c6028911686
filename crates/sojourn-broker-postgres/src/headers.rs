//! Headers in a column of JSON.

use serde_json::{Map, Value};

/// The fields of a JSON object, as headers: texts as they are, everything else as JSON.
#[derive(Debug, Default)]
pub(crate) struct Headers(Vec<(String, String)>);

impl Headers {
    /// Reads a column; one that is not an object has no headers.
    pub(crate) fn read(json: &[u8]) -> Self {
        let fields: Map<String, Value> = serde_json::from_slice(json).unwrap_or_default();
        let text = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Self(fields.into_iter().map(|(name, value)| (name, text(value))).collect())
    }

    pub(crate) fn pairs(&self) -> Vec<(&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
    }

    /// The column's JSON for these headers; `Err`: one is not UTF-8.
    pub(crate) fn write(headers: &[(&str, &[u8])]) -> Result<String, String> {
        let mut fields = Map::new();
        for (name, value) in headers {
            let text = std::str::from_utf8(value)
                .map_err(|_| format!("header {name} is not UTF-8, as JSON must be"))?;
            fields.insert((*name).to_owned(), Value::String(text.to_owned()));
        }
        Ok(Value::Object(fields).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_as_they_were_written() {
        let given: [(&str, &[u8]); 2] = [("type", b"paid"), ("x\"y", "ä".as_bytes())];
        let written = Headers::write(&given).unwrap();
        assert_eq!(Headers::read(written.as_bytes()).pairs(), given);
        assert_eq!(Headers::read(b"{\"n\":1}").pairs(), [("n", b"1".as_slice())]);
        assert!(Headers::read(b"[1]").pairs().is_empty());
        assert!(Headers::write(&[("b", b"\xff")]).unwrap_err().contains("header b"));
    }
}
