//! From a stream's entry to a message.

use std::io::Write;

use serde_json::Value;
use sojourn_broker::{Position, RawMessage};

use crate::failure::Failure;
use crate::id::Id;
use crate::resp::{Cursor, Token};

/// The field that is a message's key, when it has one.
pub(crate) const KEY_FIELD: &str = "key";

/// An entry, read in place.
#[derive(Debug, Default)]
pub(crate) struct Entry<'a> {
    pub(crate) id: Id,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) headers: Vec<(&'a str, &'a [u8])>,
    /// The payload's field; `None`: there is none, or all fields are the payload.
    pub(crate) payload: Option<&'a [u8]>,
}

impl<'a> Entry<'a> {
    /// Reads `[id, [field, value …]]`; `None` for an entry that has been deleted. Fields whose
    /// names are not UTF-8 are left out, since no plan could name them.
    pub(crate) fn read(
        cursor: &mut Cursor<'a>,
        field: Option<&str>,
    ) -> Result<Option<Self>, Failure> {
        let values = cursor.array()?;
        let id = Id::parse(cursor.text()?);
        let fields = match cursor.token()? {
            Token::Array(fields) => fields / 2,
            _ => return Ok(None),
        };
        for _ in 2..values {
            cursor.skip()?;
        }
        let id = id.ok_or_else(|| Failure::Lost("an entry without an id".to_owned()))?;
        let mut entry = Self { id, ..Self::default() };
        entry.headers.reserve(fields);
        for _ in 0..fields {
            let (name, value) = (cursor.text()?, cursor.text()?);
            let Ok(name) = std::str::from_utf8(name) else { continue };
            if field == Some(name) && entry.payload.is_none() {
                entry.payload = Some(value);
                continue;
            }
            if name == KEY_FIELD && entry.key.is_none() {
                entry.key = Some(value);
            }
            entry.headers.push((name, value));
        }
        Ok(Some(entry))
    }

    /// The message it is, stamped, of the stream with this name and index. `object`: all fields are
    /// the payload, to be written there.
    pub(crate) fn message<'m>(
        self,
        stream: &'m str,
        index: usize,
        stamp_ns: u64,
        object: Option<&'m mut Vec<u8>>,
    ) -> RawMessage<'m>
    where
        'a: 'm,
    {
        let payload = match object {
            Some(object) => {
                self.write_object(object);
                object.as_slice()
            }
            None => self.payload.unwrap_or_default(),
        };
        let partition = index as u64;
        RawMessage {
            stamp_ns,
            topic: stream,
            key: self.key,
            headers: self.headers,
            payload,
            position: self.id.offset().map(|offset| Position { partition, offset }),
        }
    }

    /// Writes the fields as a JSON object of texts. A value that is not UTF-8 becomes null: read as
    /// text, two different ones could become the same.
    pub(crate) fn write_object(&self, object: &mut Vec<u8>) {
        object.clear();
        object.push(b'{');
        for (index, (name, value)) in self.headers.iter().enumerate() {
            if index > 0 {
                object.push(b',');
            }
            write_text(object, name);
            object.push(b':');
            match std::str::from_utf8(value) {
                Ok(text) => write_text(object, text),
                Err(_) => object.extend_from_slice(b"null"),
            }
        }
        object.push(b'}');
    }
}

fn write_text(object: &mut Vec<u8>, text: &str) {
    // Writing a text into memory does not fail.
    drop(serde_json::to_writer(object, text));
}

/// The fields of an entry that carries this message: the payload in `field`, or each of its members
/// in a field of its own; headers and key beside it. Errs when the payload must be a JSON object
/// and is not. Hands each name and value to `take`.
pub(crate) fn fields_of(
    field: Option<&str>,
    key: Option<&[u8]>,
    headers: &[(&str, &[u8])],
    payload: &[u8],
    mut take: impl FnMut(&[u8], &[u8]),
) -> Result<(), String> {
    if let Some(key) = key {
        take(KEY_FIELD.as_bytes(), key);
    }
    for (name, value) in headers {
        take(name.as_bytes(), value);
    }
    if let Some(field) = field {
        take(field.as_bytes(), payload);
        return Ok(());
    }
    let members = match serde_json::from_slice(payload) {
        Ok(Value::Object(members)) if !members.is_empty() => members,
        _ => {
            return Err("without `field`, what is published to a stream is a JSON object whose \
                        members become the entry's fields"
                .to_owned());
        }
    };
    let mut text = Vec::new();
    for (name, value) in &members {
        match value {
            Value::String(value) => take(name.as_bytes(), value.as_bytes()),
            value => {
                text.clear();
                drop(write!(text, "{value}"));
                take(name.as_bytes(), &text);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::write_argument;

    /// `[id, [field, value …]]` as a server writes it.
    fn answer(id: &str, fields: &[(&[u8], &[u8])]) -> Vec<u8> {
        let head = format!("*2\r\n${}\r\n{id}\r\n*{}\r\n", id.len(), fields.len() * 2);
        let mut bytes = head.into_bytes();
        for (name, value) in fields {
            write_argument(&mut bytes, name);
            write_argument(&mut bytes, value);
        }
        bytes
    }

    #[test]
    fn a_field_is_the_payload_and_the_others_are_headers() {
        let bytes = answer("7-1", &[(b"type", b"Paid"), (b"data", b"{}"), (b"key", b"k")]);
        let entry = Entry::read(&mut Cursor::new(&bytes), Some("data")).unwrap().unwrap();
        assert_eq!(entry.id, Id { ms: 7, sequence: 1 });
        assert_eq!(entry.payload, Some(b"{}".as_slice()));
        assert_eq!(entry.key, Some(b"k".as_slice()));
        assert_eq!(entry.headers, [("type", b"Paid".as_slice()), ("key", b"k")]);
    }

    #[test]
    fn without_a_field_all_are_an_object() {
        let bytes = answer("7-1", &[(b"a", b"1\"\n"), (b"b", b"\xff"), (b"\xff", b"x")]);
        let entry = Entry::read(&mut Cursor::new(&bytes), None).unwrap().unwrap();
        let mut object = Vec::new();
        entry.write_object(&mut object);
        assert_eq!(String::from_utf8(object).unwrap(), r#"{"a":"1\"\n","b":null}"#);
    }

    #[test]
    fn a_deleted_entry_is_none() {
        let entry = Entry::read(&mut Cursor::new(b"*2\r\n$3\r\n1-1\r\n*-1\r\n"), None);
        assert!(entry.unwrap().is_none());
    }

    #[test]
    fn what_is_published_comes_back_as_it_was() {
        let check = |field, payload: &str, expect: &str| {
            let mut fields: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            let headers = [("h", b"v".as_slice())];
            fields_of(field, Some(b"k"), &headers, payload.as_bytes(), |name, value| {
                fields.push((name.to_vec(), value.to_vec()));
            })
            .unwrap();
            let shown: Vec<_> = fields
                .iter()
                .map(|(name, value)| format!("{}={}", name.escape_ascii(), value.escape_ascii()))
                .collect();
            assert_eq!(shown.join(" "), expect);
        };
        check(Some("data"), "x y", "key=k h=v data=x y");
        check(None, r#"{"a":"t","n":1.5,"o":{"p":[]}}"#, r#"key=k h=v a=t n=1.5 o={\"p\":[]}"#);
        for payload in ["", "[]", "1", "{}", "{"] {
            assert!(fields_of(None, None, &[], payload.as_bytes(), |_, _| {}).is_err());
        }
    }
}
