//! A column's text as a JSON value.

use serde::de::IgnoredAny;

/// The types' numbers, fixed in every PostgreSQL (`pg_type.dat`).
const BOOL: u32 = 16;
const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;
const OID: u32 = 26;
const JSON: u32 = 114;
const FLOAT4: u32 = 700;
const FLOAT8: u32 = 701;
const NUMERIC: u32 = 1700;
const JSONB: u32 = 3802;

/// Appends a value: numbers, truth values and JSON as such, every other type as its text. `NaN` and
/// infinities, for which JSON has no number, are texts too.
pub(crate) fn push_value(type_id: u32, value: Option<&[u8]>, json: &mut String) {
    let Some(bytes) = value else {
        json.push_str("null");
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    let as_it_is = match type_id {
        BOOL => {
            json.push_str(if text == "t" { "true" } else { "false" });
            return;
        }
        INT2 | INT4 | INT8 | OID | FLOAT4 | FLOAT8 | NUMERIC => is_number(&text),
        JSON | JSONB => serde_json::from_str::<IgnoredAny>(&text).is_ok(),
        _ => false,
    };
    match as_it_is {
        true => json.push_str(&text),
        false => push_text(&text, json),
    }
}

fn is_number(text: &str) -> bool {
    // JSON's grammar, without the white space around it that its reader lets pass.
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    is_plain && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn push_text(text: &str, json: &mut String) {
    json.push('"');
    let mut rest = text;
    // All of them are one byte long, and no byte of a longer letter is one of them.
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    while let Some(end) = rest.bytes().position(is_special) {
        json.push_str(&rest[..end]);
        let letter = rest.as_bytes()[end];
        match letter {
            b'"' => json.push_str("\\\""),
            b'\\' => json.push_str("\\\\"),
            b'\n' => json.push_str("\\n"),
            b'\r' => json.push_str("\\r"),
            b'\t' => json.push_str("\\t"),
            _ => {
                json.push_str("\\u00");
                for digit in [letter >> 4, letter & 15] {
                    json.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
                }
            }
        }
        rest = &rest[end + 1..];
    }
    json.push_str(rest);
    json.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn pushed(type_id: u32, text: &str) -> String {
        let mut json = String::new();
        push_value(type_id, Some(text.as_bytes()), &mut json);
        json
    }

    #[test]
    fn values_are_what_their_type_says() {
        assert_eq!(pushed(INT8, "-9223372036854775808"), "-9223372036854775808");
        assert_eq!(pushed(NUMERIC, "12345678901234567890.50"), "12345678901234567890.50");
        assert_eq!(pushed(FLOAT8, "1e+30"), "1e+30");
        for text in ["NaN", "Infinity", "-Infinity", " 1", "1\n", ""] {
            assert_eq!(pushed(NUMERIC, text), Value::from(text).to_string());
        }
        assert_eq!((pushed(BOOL, "t").as_str(), pushed(BOOL, "f").as_str()), ("true", "false"));
        assert_eq!(pushed(JSONB, r#"{"a": [1]}"#), r#"{"a": [1]}"#);
        assert_eq!(pushed(25, "{1,2}"), r#""{1,2}""#);
        let mut json = String::new();
        push_value(25, None, &mut json);
        assert_eq!(json, "null");
    }

    proptest! {
        #[test]
        fn any_bytes_become_valid_json(
            type_id in prop::sample::select(vec![BOOL, INT4, NUMERIC, JSON, JSONB, 25, 1184]),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut json = String::new();
            push_value(type_id, Some(&bytes), &mut json);
            prop_assert!(serde_json::from_str::<Value>(&json).is_ok(), "{}", json);
        }

        #[test]
        fn texts_come_back(text in ".*") {
            prop_assert_eq!(serde_json::from_str::<String>(&pushed(25, &text)).unwrap(), text);
        }
    }
}
