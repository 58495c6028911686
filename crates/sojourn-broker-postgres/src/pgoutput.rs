//! The messages of the plug-in `pgoutput`, version 1: pure, from bytes to changes as JSON.
//!
//! The format is PostgreSQL's: "Logical Replication Message Formats" in its documentation. Lengths
//! are never trusted: bytes that end too early are an error.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::identifier::shown;
use crate::values::push_value;

/// Most tables that a publication may tell of.
const RELATIONS_MAX: usize = 65_536;

/// Knows the tables that the server has described so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    relations: HashMap<u32, Relation>,
    /// The last change's JSON, kept for its room.
    json: String,
}

/// What a message was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// A transaction follows; its place in the log.
    Begin {
        /// Where its commit stands.
        commit_lsn: u64,
    },
    /// One change of a row, or a table emptied.
    Change {
        /// The table.
        table: &'a str,
        /// The change as JSON.
        json: &'a str,
    },
    /// The transaction is complete.
    Commit,
    /// About the stream itself.
    Other,
}

#[derive(Debug)]
struct Relation {
    shown: String,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    /// `"name":`
    label: String,
    is_key: bool,
    type_id: u32,
}

/// A message ended too early, or is not one that was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

impl Decoder {
    /// Reads one message. A table's changes come after its description; one that was not described
    /// is an error.
    pub(crate) fn read(&mut self, message: &[u8]) -> Result<Event<'_>, Malformed> {
        let mut bytes = Bytes(message);
        match bytes.u8()? {
            b'B' => Ok(Event::Begin { commit_lsn: bytes.u64()? }),
            b'C' => Ok(Event::Commit),
            b'R' => self.describe(&mut bytes).map(|()| Event::Other),
            b'I' => self.change("insert", &mut bytes),
            b'U' => self.change("update", &mut bytes),
            b'D' => self.change("delete", &mut bytes),
            b'O' | b'Y' | b'M' => Ok(Event::Other),
            // The server says which tables; one message each is `Self::truncated`'s.
            b'T' => Ok(Event::Other),
            _ => Err(Malformed("an unknown message of replication")),
        }
    }

    /// The tables that a message says were emptied.
    pub(crate) fn truncated(&self, message: &[u8]) -> Result<Vec<&str>, Malformed> {
        let mut bytes = Bytes(message);
        if bytes.u8()? != b'T' {
            return Ok(Vec::new());
        }
        let count = bytes.u32()?;
        bytes.u8()?;
        (0..count)
            .map(|_| {
                let relation = self.relations.get(&bytes.u32()?);
                Ok(relation.ok_or(UNDESCRIBED)?.shown.as_str())
            })
            .collect()
    }

    fn describe(&mut self, bytes: &mut Bytes<'_>) -> Result<(), Malformed> {
        let id = bytes.u32()?;
        let schema = bytes.text()?;
        let name = bytes.text()?;
        bytes.u8()?;
        let count = bytes.u16()?;
        let mut columns = Vec::new();
        for _ in 0..count {
            let flags = bytes.u8()?;
            let name = bytes.text()?;
            let type_id = bytes.u32()?;
            bytes.u32()?;
            let label = format!("{}:", serde_json::Value::String(name));
            columns.push(Column { label, is_key: flags & 1 == 1, type_id });
        }
        // The system's own is called so where the server sends nothing.
        let schema = if schema.is_empty() { "pg_catalog".to_owned() } else { schema };
        if self.relations.len() >= RELATIONS_MAX && !self.relations.contains_key(&id) {
            return Err(Malformed("more than 65536 tables"));
        }
        self.relations.insert(id, Relation { shown: shown(&schema, &name), columns });
        Ok(())
    }

    fn change(&mut self, op: &str, bytes: &mut Bytes<'_>) -> Result<Event<'_>, Malformed> {
        let relation = self.relations.get(&bytes.u32()?).ok_or(UNDESCRIBED)?;
        let json = &mut self.json;
        json.clear();
        json.push_str("{\"table\":");
        // Writing to a text can't fail.
        let _never = write!(json, "{}", serde_json::Value::String(relation.shown.clone()));
        let _never = write!(json, ",\"op\":\"{op}\"");
        let mut kind = bytes.u8()?;
        if op == "update" && matches!(kind, b'K' | b'O') {
            json.push_str(",\"old\":");
            relation.row(kind, bytes, json)?;
            kind = bytes.u8()?;
        }
        let expected: &[u8] = if op == "delete" { b"KO" } else { b"N" };
        if !expected.contains(&kind) {
            return Err(Malformed("a change without its row"));
        }
        json.push_str(",\"row\":");
        relation.row(kind, bytes, json)?;
        json.push('}');
        Ok(Event::Change { table: &relation.shown, json: &self.json })
    }
}

const UNDESCRIBED: Malformed = Malformed("a change of a table that was not described");

impl Relation {
    /// A row as a JSON object. Values that the server leaves out are left out: of an old row all
    /// but the key (kind `K`), of a new one large values that did not change.
    fn row(&self, kind: u8, bytes: &mut Bytes<'_>, json: &mut String) -> Result<(), Malformed> {
        let count = bytes.u16()?;
        if usize::from(count) != self.columns.len() {
            return Err(Malformed("a row of another shape than its table"));
        }
        json.push('{');
        let mut is_first = true;
        for column in &self.columns {
            let value = match bytes.u8()? {
                b'n' => None,
                b'u' => continue,
                b't' => Some(bytes.counted()?),
                _ => return Err(Malformed("a value of unknown format")),
            };
            if kind == b'K' && !column.is_key {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                json.push(',');
            }
            json.push_str(&column.label);
            push_value(column.type_id, value, json);
        }
        json.push('}');
        Ok(())
    }
}

/// What is left of a message.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

const TOO_SHORT: Malformed = Malformed("a message of replication that ends too early");

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(TOO_SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(TOO_SHORT)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    /// Bytes behind their number.
    fn counted(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.u32()?;
        self.take(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Text up to a zero.
    fn text(&mut self) -> Result<String, Malformed> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or(TOO_SHORT)?;
        let text = String::from_utf8_lossy(self.take(end)?).into_owned();
        self.u8()?;
        Ok(text)
    }
}

#[cfg(test)]
#[path = "pgoutput_tests.rs"]
mod tests;
