//! Reading a line. Keys in any order; what is unknown is stepped over; what is missing or `null`
//! is empty.

use std::{borrow::Cow, fmt, ops::Range};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

use crate::results::{Detail, Headers, Timestamp, fault::Fault, slots::Slots};

/// A line as it stands there.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    attack: Text<'a>,
    seq: Option<u64>,
    code: Option<u16>,
    #[serde(borrow)]
    timestamp: Option<Text<'a>>,
    latency: Option<i64>,
    bytes_out: Option<u64>,
    bytes_in: Option<u64>,
    #[serde(borrow)]
    error: Text<'a>,
    #[serde(borrow)]
    body: Option<Text<'a>>,
    #[serde(borrow)]
    method: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    headers: Option<&'a serde_json::value::RawValue>,
}

/// Decodes a line into the slots, whose places are of `text`.
pub(in crate::results) fn decode(
    line: &[u8],
    detail: Detail,
    slots: &mut Slots,
    text: &mut Vec<u8>,
) -> Result<(), Fault> {
    // A list of values would do for a struct as well.
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err(Fault::new("it is no JSON object"));
    }
    let line: Line<'_> = serde_json::from_slice(line).map_err(|error| Fault::new(words(&error)))?;
    slots.clear();
    text.clear();
    slots.attack = append(text, line.attack.0.as_bytes());
    slots.seq = line.seq.unwrap_or(0);
    slots.code = line.code.unwrap_or(0);
    slots.latency_ns = line.latency.unwrap_or(0);
    slots.bytes_out = line.bytes_out.unwrap_or(0);
    slots.bytes_in = line.bytes_in.unwrap_or(0);
    slots.error = append(text, line.error.0.as_bytes());
    if let Some(Text(timestamp)) = line.timestamp {
        slots.timestamp = Timestamp::parse_rfc3339(timestamp.as_bytes())
            .map_err(|reason| Fault::new(format!("its timestamp \"{timestamp}\" {reason}")))?;
    }
    if detail == Detail::Figures {
        return Ok(());
    }
    if let Some(Text(body)) = line.body {
        let start = text.len();
        BASE64_STANDARD
            .decode_vec(body.as_bytes(), text)
            .map_err(|error| Fault::new(format!("its body is no Base64: {error}")))?;
        slots.body = Some(start..text.len());
    }
    slots.method = append(text, line.method.0.as_bytes());
    slots.url = append(text, line.url.0.as_bytes());
    if let Some(headers) = line.headers {
        let mut reader = serde_json::Deserializer::from_str(headers.get());
        reader
            .deserialize_map(HeadersVisitor(&mut slots.headers))
            .map_err(|error| Fault::new(format!("its headers: {}", words(&error))))?;
        slots.has_headers = true;
    }
    Ok(())
}

/// What is wrong and in which column; the line within the line is always the first.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    match error.column() {
        0 => reason.to_owned(),
        column => format!("{reason} (column {column})"),
    }
}

fn append(text: &mut Vec<u8>, bytes: &[u8]) -> Range<usize> {
    let start = text.len();
    text.extend_from_slice(bytes);
    start..text.len()
}

/// A string, borrowed where it has no escapes; `null` is empty.
#[derive(Default)]
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_none<E: Error>(self) -> Result<Text<'de>, E> {
        Ok(Text::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text<'de>, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}

/// An object of lists of strings, straight into the headers.
struct HeadersVisitor<'h>(&'h mut Headers);

impl<'de> Visitor<'de> for HeadersVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of lists of strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Text<'de>>()? {
            let values: Option<Vec<Text<'de>>> = map.next_value()?;
            for value in values.unwrap_or_default() {
                if !self.0.push(name.0.as_bytes(), value.0.as_bytes()) {
                    return Err(A::Error::custom("too many values"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<(Slots, Vec<u8>), String> {
        let (mut slots, mut text) = (Slots::default(), Vec::new());
        match decode(line.as_bytes(), Detail::Everything, &mut slots, &mut text) {
            Ok(()) => Ok((slots, text)),
            Err(Fault::Format(reason)) => Err(reason.into_owned()),
            Err(fault) => panic!("{fault:?}"),
        }
    }

    #[test]
    fn escapes_are_undone() {
        let line = r#"{"error":"\u003ca\u003e \u0026 \"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 é"}"#;
        let (slots, text) = read(line).unwrap();
        let error = slots.view(&text).error.to_vec();
        assert_eq!(String::from_utf8(error).unwrap(), "<a> & \"\\/\u{8}\u{c}\n\r\té😀 é");
    }

    #[test]
    fn keys_stand_in_any_order_and_what_is_missing_or_null_is_empty() {
        let line = r#" {"headers":{"B":["2","3"],"A":null},"more":{"x":[1,{}]},"code":204,
            "error":null,"body":null,"latency":-5,"seq":null,"url":"u"} "#;
        let (slots, text) = read(line).unwrap();
        let result = slots.view(&text);
        assert_eq!((result.code, result.latency_ns, result.url), (204, -5, &b"u"[..]));
        assert_eq!((result.seq, result.error, result.body), (0, &b""[..], None));
        assert!(!result.timestamp.is_known());
        let headers: Vec<_> = result.headers.unwrap().iter().collect();
        assert_eq!(headers, [(&b"B"[..], &b"2"[..]), (b"B", b"3")]);
        assert_eq!(read("{}").unwrap().0.view(b""), Slots::default().view(b""));
    }

    #[test]
    fn what_is_no_result_is_refused_with_a_reason() {
        for (line, reason) in [
            ("[1]", "no JSON object"),
            ("{\"code\":65536}", "u16"),
            ("{\"seq\":-1}", "integer `-1`"),
            ("{\"latency\":1.5}", "1.5"),
            ("{\"error\":1}", "expected a string"),
            ("{\"error\":\"\\ud800\"}", "column"),
            ("{\"body\":\"=\"}", "no Base64"),
            ("{\"timestamp\":\"now\"}", "timestamp \"now\" is not a time"),
            ("{\"headers\":[]}", "its headers"),
            ("{\"code\":200", "column"),
            ("{} {}", "trailing"),
        ] {
            let said = read(line).err().unwrap_or_default();
            assert!(said.contains(reason), "{line}: {said}");
        }
    }
}
