//! MessagePack to JSON.
//!
//! Every value takes at least one byte of the payload, so what is built is bounded by its length;
//! lengths that a message claims are never reserved beforehand.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value, json};

/// Deepest nesting, as for JSON.
const DEPTH_MAX: usize = 128;

/// Reads one value that takes up the whole payload.
///
/// Bytes are their text where they are UTF-8, else Base64. Keys that are no texts are written as
/// JSON. A time is `{seconds, nanoseconds}`, another extension `{type, data}`. Numbers that JSON
/// does not have (NaN, infinities) are null.
pub(crate) fn read(payload: &[u8]) -> Result<Value, String> {
    let mut rest = Rest { bytes: payload };
    let value = rest.value(0).map_err(|problem| {
        let at = payload.len() - rest.bytes.len();
        format!("the payload is not MessagePack: {problem} at byte {at}")
    })?;
    match rest.bytes.len() {
        0 => Ok(value),
        more => Err(format!("the payload is not MessagePack: {more} bytes after its value")),
    }
}

const TOO_SHORT: &str = "it ends too early";

struct Rest<'a> {
    bytes: &'a [u8],
}

impl<'a> Rest<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, &'static str> {
        let [mark] = self.array()?;
        Ok(match mark {
            0x00..=0x7f => mark.into(),
            0x80..=0x8f => self.map(usize::from(mark & 0x0f), depth)?,
            0x90..=0x9f => self.list(usize::from(mark & 0x0f), depth)?,
            0xa0..=0xbf => self.text(usize::from(mark & 0x1f))?,
            0xc0 => Value::Null,
            0xc1 => return Err("a byte that has no meaning"),
            0xc2 => false.into(),
            0xc3 => true.into(),
            0xc4..=0xc6 => {
                let length = self.length(mark - 0xc4)?;
                bytes_text(self.take(length)?)
            }
            0xc7..=0xc9 => {
                let length = self.length(mark - 0xc7)?;
                self.extension(length)?
            }
            0xca => number(f64::from(f32::from_be_bytes(self.array()?))),
            0xcb => number(f64::from_be_bytes(self.array()?)),
            0xcc => u8::from_be_bytes(self.array()?).into(),
            0xcd => u16::from_be_bytes(self.array()?).into(),
            0xce => u32::from_be_bytes(self.array()?).into(),
            0xcf => u64::from_be_bytes(self.array()?).into(),
            0xd0 => i8::from_be_bytes(self.array()?).into(),
            0xd1 => i16::from_be_bytes(self.array()?).into(),
            0xd2 => i32::from_be_bytes(self.array()?).into(),
            0xd3 => i64::from_be_bytes(self.array()?).into(),
            0xd4..=0xd8 => self.extension(1 << (mark - 0xd4))?,
            0xd9..=0xdb => {
                let length = self.length(mark - 0xd9)?;
                self.text(length)?
            }
            0xdc | 0xdd => {
                let length = self.length(mark - 0xdc + 1)?;
                self.list(length, depth)?
            }
            0xde | 0xdf => {
                let length = self.length(mark - 0xde + 1)?;
                self.map(length, depth)?
            }
            0xe0..=0xff => mark.cast_signed().into(),
        })
    }

    fn list(&mut self, length: usize, depth: usize) -> Result<Value, &'static str> {
        let depth = self.deeper(length, depth)?;
        let mut list = Vec::new();
        for _ in 0..length {
            list.push(self.value(depth)?);
        }
        Ok(Value::Array(list))
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value, &'static str> {
        let depth = self.deeper(length, depth)?;
        let mut map = Map::new();
        for _ in 0..length {
            let key = match self.value(depth)? {
                Value::String(text) => text,
                other => other.to_string(),
            };
            map.insert(key, self.value(depth)?);
        }
        Ok(Value::Object(map))
    }

    /// One level down; refuses at once what can't fit into the rest.
    fn deeper(&self, length: usize, depth: usize) -> Result<usize, &'static str> {
        if length > self.bytes.len() {
            return Err(TOO_SHORT);
        }
        if depth >= DEPTH_MAX {
            return Err("nested deeper than 128");
        }
        Ok(depth + 1)
    }

    fn text(&mut self, length: usize) -> Result<Value, &'static str> {
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map(Value::from).map_err(|_| "a text that is not UTF-8")
    }

    fn extension(&mut self, length: usize) -> Result<Value, &'static str> {
        let [kind] = self.array()?;
        let data = self.take(length)?;
        let mut time = Rest { bytes: data };
        Ok(match (kind.cast_signed(), length) {
            (-1, 4) => instant(u32::from_be_bytes(time.array()?).into(), 0),
            (-1, 8) => {
                let both = u64::from_be_bytes(time.array()?);
                // 30 bits of nanoseconds before 34 of seconds.
                instant((both & ((1 << 34) - 1)).cast_signed(), both >> 34)
            }
            (-1, 12) => {
                let nanoseconds = u32::from_be_bytes(time.array()?);
                instant(i64::from_be_bytes(time.array()?), nanoseconds.into())
            }
            (kind, _) => json!({"type": kind, "data": bytes_text(data)}),
        })
    }

    /// A length of 1, 2 or 4 bytes.
    fn length(&mut self, power: u8) -> Result<usize, &'static str> {
        Ok(match power {
            0 => u8::from_be_bytes(self.array()?).into(),
            1 => u16::from_be_bytes(self.array()?).into(),
            _ => usize::try_from(u32::from_be_bytes(self.array()?)).map_err(|_| TOO_SHORT)?,
        })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (array, rest) = self.bytes.split_first_chunk().ok_or(TOO_SHORT)?;
        self.bytes = rest;
        Ok(*array)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(TOO_SHORT)?;
        self.bytes = rest;
        Ok(taken)
    }
}

fn number(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn bytes_text(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => STANDARD.encode(bytes).into(),
    }
}

fn instant(seconds: i64, nanoseconds: u64) -> Value {
    json!({"seconds": seconds, "nanoseconds": nanoseconds})
}

#[cfg(test)]
#[path = "messagepack_tests.rs"]
mod tests;
