//! JSON to Avro's binary data.

use serde_json::Value;

use crate::decimal;
use crate::schema::{Node, Schema};

/// Deepest nesting, as when it is read.
const DEPTH_MAX: usize = 128;

impl Schema {
    /// Writes one value.
    ///
    /// A union takes the value of a branch, or an object whose only member is called like the
    /// branch (`{ "string": "x" }`, as in Avro's own JSON); of several branches that can take a
    /// value, the first. Bytes are a list of numbers, or a text whose characters are bytes. Fields
    /// that are left out have their defaults; a long may be a text of digits. Errs in words that
    /// say where in the value.
    pub fn write(&self, value: &Value) -> Result<Vec<u8>, String> {
        let mut writer = Writer { schema: self, bytes: Vec::new() };
        writer.value(self.root, value, 0)?;
        Ok(writer.bytes)
    }
}

struct Writer<'a> {
    schema: &'a Schema,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn value(&mut self, place: usize, value: &Value, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err("it is nested too deeply".to_owned());
        }
        let schema = self.schema;
        // The schema's reader makes no place that there is not.
        let node = schema.nodes.get(place).ok_or("a schema with a hole")?;
        let no = |what: &str| format!("{} is no {what}", shown(value));
        match node {
            Node::Null => match value {
                Value::Null => {}
                _ => return Err(no("null")),
            },
            Node::Boolean => {
                self.bytes.push(u8::from(value.as_bool().ok_or_else(|| no("boolean"))?));
            }
            Node::Int => {
                let int = whole(value).and_then(|long| i32::try_from(long).ok());
                self.long(i64::from(int.ok_or_else(|| no("int"))?));
            }
            Node::Long => self.long(whole(value).ok_or_else(|| no("long"))?),
            Node::Float => {
                let float = value.as_f64().ok_or_else(|| no("float"))? as f32;
                self.bytes.extend(float.to_le_bytes());
            }
            Node::Double => {
                let double = value.as_f64().ok_or_else(|| no("double"))?;
                self.bytes.extend(double.to_le_bytes());
            }
            Node::Bytes => self.sized(&bytes_of(value).ok_or_else(|| no("bytes"))?),
            Node::Text => self.sized(value.as_str().ok_or_else(|| no("string"))?.as_bytes()),
            Node::Record { name, fields } => self.record(place, name, fields, value, depth)?,
            Node::Enum(symbols) => {
                let symbol = value.as_str();
                let at = symbols.iter().position(|known| Some(known.as_str()) == symbol);
                let at = at.ok_or_else(|| no(&format!("symbol of {symbols:?}")))?;
                self.long(at as i64);
            }
            Node::Array(items) => {
                let list = value.as_array().ok_or_else(|| no("array"))?;
                self.array(*items, list, depth)?;
            }
            Node::Map(values) => self.map(*values, value, depth)?,
            Node::Union(branches) => self.union(branches, value, depth)?,
            Node::Fixed(size) => {
                let bytes = bytes_of(value).filter(|bytes| bytes.len() == *size);
                self.bytes.extend(bytes.ok_or_else(|| no(&format!("fixed of {size} bytes")))?);
            }
            Node::Decimal { scale, size } => self.decimal(*scale, *size, value)?,
            Node::Uuid => {
                let bytes = value.as_str().and_then(uuid_of);
                self.bytes.extend(bytes.ok_or_else(|| no("uuid"))?);
            }
            Node::Duration => {
                for part in ["months", "days", "millis"] {
                    let number = value.get(part).and_then(Value::as_u64);
                    let number = number.and_then(|number| u32::try_from(number).ok());
                    let number = number.ok_or_else(|| no("{ months, days, millis }"))?;
                    self.bytes.extend(number.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        place: usize,
        name: &str,
        fields: &[(String, usize)],
        value: &Value,
        depth: usize,
    ) -> Result<(), String> {
        let object = value.as_object();
        let object = object.ok_or_else(|| format!("{} is no record `{name}`", shown(value)))?;
        let schema = self.schema;
        for (at, (field, kind)) in fields.iter().enumerate() {
            let within = |problem| format!("field `{field}` of `{name}`: {problem}");
            let given = object.get(field).or_else(|| schema.defaults.get(&(place, at)));
            let given = given.ok_or_else(|| within("it is missing".to_owned()))?;
            self.value(*kind, given, depth + 1).map_err(within)?;
        }
        Ok(())
    }

    fn array(&mut self, items: usize, list: &[Value], depth: usize) -> Result<(), String> {
        if !list.is_empty() {
            self.long(list.len() as i64);
        }
        for (at, item) in list.iter().enumerate() {
            let within = |problem| format!("item {at}: {problem}");
            self.value(items, item, depth + 1).map_err(within)?;
        }
        self.long(0);
        Ok(())
    }

    fn map(&mut self, values: usize, value: &Value, depth: usize) -> Result<(), String> {
        let object = value.as_object().ok_or_else(|| format!("{} is no map", shown(value)))?;
        if !object.is_empty() {
            self.long(object.len() as i64);
        }
        for (key, value) in object {
            self.sized(key.as_bytes());
            let within = |problem| format!("`{key}`: {problem}");
            self.value(values, value, depth + 1).map_err(within)?;
        }
        self.long(0);
        Ok(())
    }

    fn union(&mut self, branches: &[usize], value: &Value, depth: usize) -> Result<(), String> {
        let begin = self.bytes.len();
        let wrapped = value.as_object().filter(|object| object.len() == 1);
        if let Some((name, inner)) = wrapped.and_then(|object| object.iter().next()) {
            let named = branches.iter().position(|branch| self.is_called(*branch, name));
            if let Some(at) = named {
                self.long(at as i64);
                if self.value(branches[at], inner, depth + 1).is_ok() {
                    return Ok(());
                }
                self.bytes.truncate(begin);
            }
        }
        let mut problems = Vec::new();
        for (at, branch) in branches.iter().enumerate() {
            self.long(at as i64);
            match self.value(*branch, value, depth + 1) {
                Ok(()) => return Ok(()),
                Err(problem) => problems.push(problem),
            }
            self.bytes.truncate(begin);
        }
        Err(format!("no branch of the union takes it: {}", problems.join("; ")))
    }

    /// Whether a branch of a union has this name.
    fn is_called(&self, branch: usize, name: &str) -> bool {
        if let Some(full) = self.schema.names.get(&branch) {
            return full == name || full.rsplit('.').next() == Some(name);
        }
        let kind = match self.schema.nodes.get(branch) {
            Some(Node::Boolean) => "boolean",
            Some(Node::Int) => "int",
            Some(Node::Long) => "long",
            Some(Node::Float) => "float",
            Some(Node::Double) => "double",
            Some(Node::Bytes | Node::Decimal { .. }) => "bytes",
            Some(Node::Text) => "string",
            Some(Node::Array(_)) => "array",
            Some(Node::Map(_)) => "map",
            _ => return false,
        };
        kind == name
    }

    fn decimal(&mut self, scale: u32, size: Option<usize>, value: &Value) -> Result<(), String> {
        let bytes = match value {
            Value::String(text) => decimal::bytes(text, scale, size)?,
            Value::Number(number) => decimal::bytes(&number.to_string(), scale, size)?,
            other => bytes_of(other).ok_or_else(|| format!("{} is no decimal", shown(value)))?,
        };
        match size {
            None => self.sized(&bytes),
            Some(size) if bytes.len() == size => self.bytes.extend(bytes),
            Some(size) => return Err(format!("a decimal that is not of {size} bytes")),
        }
        Ok(())
    }

    /// A zigzag number of variable length.
    fn long(&mut self, number: i64) {
        let mut rest = (number << 1 ^ number >> 63).cast_unsigned();
        while rest >= 0x80 {
            // The lowest seven bits.
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    fn sized(&mut self, bytes: &[u8]) {
        self.long(bytes.len() as i64);
        self.bytes.extend(bytes);
    }
}

/// A whole number, however it is written.
fn whole(value: &Value) -> Option<i64> {
    /// The first whole number that a long does not have.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
            (-BEYOND..BEYOND).contains(&float).then_some(float as i64)
        }),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Bytes as a list of numbers, or as a text whose characters are bytes.
fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Array(list) => {
            let byte = |value: &Value| whole(value).and_then(|byte| u8::try_from(byte).ok());
            list.iter().map(byte).collect()
        }
        Value::String(text) => {
            text.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect()
        }
        _ => None,
    }
}

fn uuid_of(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|char| *char != '-').collect();
    let is_hex = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)).flatten()
}

/// The beginning of a value, for messages.
fn shown(value: &Value) -> String {
    const CHARS_MAX: usize = 60;
    let text = value.to_string();
    match text.chars().count() > CHARS_MAX {
        true => format!("{}…", text.chars().take(CHARS_MAX).collect::<String>()),
        false => text,
    }
}
