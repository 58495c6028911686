//! Avro's binary data to JSON.
//!
//! Lengths that a message claims are never reserved beforehand. Items may take no byte at all
//! (nulls, empty records), so what is built is bounded by a budget besides.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value, json};

use crate::decimal;
use crate::schema::{Node, Schema};

/// Deepest nesting, as for JSON.
const DEPTH_MAX: usize = 128;
/// Values built besides four for each byte.
const VALUES_FREE: usize = 100_000;
const TOO_SHORT: &str = "it ends too early";

impl Schema {
    /// Reads one value that takes up the whole payload.
    ///
    /// Bytes are Base64, enums their symbols, a union the value of its branch. Decimals are exact
    /// texts, `uuid` is text, `duration` is `{months, days, millis}`; other logical types (dates,
    /// times) are the numbers that they are written as. Numbers that JSON does not have are null.
    pub fn read(&self, payload: &[u8]) -> Result<Value, String> {
        let budget = payload.len().saturating_mul(4).saturating_add(VALUES_FREE);
        let mut rest = Rest { nodes: &self.nodes, bytes: payload, budget };
        let value = rest.value(self.root, 0).map_err(|problem| {
            let at = payload.len() - rest.bytes.len();
            format!("the payload is not Avro of its schema: {problem} at byte {at}")
        })?;
        match rest.bytes.len() {
            0 => Ok(value),
            more => {
                Err(format!("the payload is not Avro of its schema: {more} bytes after its value"))
            }
        }
    }
}

struct Rest<'a> {
    nodes: &'a [Node],
    bytes: &'a [u8],
    budget: usize,
}

impl<'a> Rest<'a> {
    fn value(&mut self, place: usize, depth: usize) -> Result<Value, &'static str> {
        if depth > DEPTH_MAX {
            return Err("it is nested too deeply");
        }
        self.budget = self.budget.checked_sub(1).ok_or("more values than its length allows")?;
        let nodes = self.nodes;
        // The schema's reader makes no place that there is not.
        let node = nodes.get(place).ok_or("a schema with a hole")?;
        Ok(match node {
            Node::Null => Value::Null,
            Node::Boolean => match self.array()? {
                [0] => false.into(),
                [1] => true.into(),
                _ => return Err("a boolean that is neither 0 nor 1"),
            },
            Node::Int => {
                let int = i32::try_from(self.long()?);
                int.map_err(|_| "an int of more than 32 bits")?.into()
            }
            Node::Long => self.long()?.into(),
            Node::Float => number(f64::from(f32::from_le_bytes(self.array()?))),
            Node::Double => number(f64::from_le_bytes(self.array()?)),
            Node::Bytes => STANDARD.encode(self.sized()?).into(),
            Node::Text => self.text()?.into(),
            Node::Record { fields, .. } => {
                let mut object = Map::with_capacity(fields.len());
                for (name, kind) in fields {
                    let value = self.value(*kind, depth + 1)?;
                    object.insert(name.clone(), value);
                }
                Value::Object(object)
            }
            Node::Enum(symbols) => {
                let symbol = usize::try_from(self.long()?).ok();
                let symbol = symbol.and_then(|symbol| symbols.get(symbol));
                symbol.ok_or("an enum without this symbol")?.as_str().into()
            }
            Node::Array(items) => self.list(*items, depth)?,
            Node::Map(values) => self.map(*values, depth)?,
            Node::Union(branches) => {
                let branch = usize::try_from(self.long()?).ok();
                let branch = branch.and_then(|branch| branches.get(branch));
                self.value(*branch.ok_or("a union without this branch")?, depth + 1)?
            }
            Node::Fixed(size) => STANDARD.encode(self.take(*size)?).into(),
            Node::Decimal { scale, size } => {
                let bytes = match size {
                    Some(size) => self.take(*size)?,
                    None => self.sized()?,
                };
                decimal::text(bytes, *scale)?.into()
            }
            Node::Uuid => uuid(&self.array()?).into(),
            Node::Duration => {
                let mut part = || self.array().map(u32::from_le_bytes);
                json!({ "months": part()?, "days": part()?, "millis": part()? })
            }
        })
    }

    fn list(&mut self, items: usize, depth: usize) -> Result<Value, &'static str> {
        let mut list = Vec::new();
        self.blocks(|rest| {
            list.push(rest.value(items, depth + 1)?);
            Ok(())
        })?;
        Ok(Value::Array(list))
    }

    fn map(&mut self, values: usize, depth: usize) -> Result<Value, &'static str> {
        let mut object = Map::new();
        self.blocks(|rest| {
            let key = rest.text()?.to_owned();
            let value = rest.value(values, depth + 1)?;
            object.insert(key, value);
            Ok(())
        })?;
        Ok(Value::Object(object))
    }

    /// Arrays and maps: blocks of items until one of none; a negative count is followed by the
    /// block's length in bytes, which is of no use here.
    fn blocks(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), &'static str>,
    ) -> Result<(), &'static str> {
        loop {
            let count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                self.long()?;
            }
            for _ in 0..count.unsigned_abs() {
                item(self)?;
            }
        }
    }

    /// A zigzag number of variable length.
    fn long(&mut self) -> Result<i64, &'static str> {
        let mut number = 0_u64;
        for shift in (0..70).step_by(7) {
            let [byte] = self.array()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                // Zigzag: the lowest bit is the sign.
                return Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed());
            }
        }
        Err("a number of more than 64 bits")
    }

    fn text(&mut self) -> Result<&'a str, &'static str> {
        str::from_utf8(self.sized()?).map_err(|_| "a string that is not UTF-8")
    }

    fn sized(&mut self) -> Result<&'a [u8], &'static str> {
        let length = usize::try_from(self.long()?).map_err(|_| "a negative length")?;
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(TOO_SHORT)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(TOO_SHORT)?;
        self.bytes = rest;
        Ok(*taken)
    }
}

fn number(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn uuid(bytes: &[u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(*bytes));
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
