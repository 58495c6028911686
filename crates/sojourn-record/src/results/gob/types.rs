//! Type definitions, and stepping over a value of any type.

use std::collections::HashMap;

use super::wire::Wire;

/// Most types that a stream may define, and most fields of one: far above what results need.
const TYPES_MAX: usize = 1_000;
const FIELDS_MAX: usize = 1_000;

/// How deep values may lie within each other.
const DEPTH_MAX: u32 = 64;

/// Numbers of the types that need no definition.
pub(super) mod builtin {
    pub(in super::super) const BOOL: i64 = 1;
    pub(in super::super) const INT: i64 = 2;
    pub(in super::super) const UINT: i64 = 3;
    pub(in super::super) const FLOAT: i64 = 4;
    pub(in super::super) const BYTES: i64 = 5;
    pub(in super::super) const STRING: i64 = 6;
    pub(in super::super) const COMPLEX: i64 = 7;
}

/// What values of a type look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Count, then elements of a type: arrays and slices.
    List(i64),
    /// Count, then keys and values.
    Map(i64, i64),
    /// Length and bytes that a type has written itself.
    Opaque,
    /// Fields: name and type.
    Struct(Vec<(Vec<u8>, i64)>),
}

/// The types of a stream, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Types {
    shapes: HashMap<i64, Shape>,
}

impl Types {
    pub(super) fn shape(&self, number: i64) -> Option<&Shape> {
        self.shapes.get(&number)
    }

    /// Reads the definition of a type. Returns whether it is news: a stream that follows another
    /// one repeats them all. Errs in words.
    pub(super) fn define(
        &mut self,
        number: i64,
        wire: &mut Wire<'_>,
    ) -> Result<bool, &'static str> {
        let shape = read_definition(wire).ok_or("a type definition is damaged")?;
        if self.shapes.len() >= TYPES_MAX && !self.shapes.contains_key(&number) {
            return Err("it defines too many types");
        }
        let is_news = self.shapes.get(&number) != Some(&shape);
        self.shapes.insert(number, shape);
        Ok(is_news)
    }

    /// Steps over a value.
    pub(super) fn skip(&self, number: i64, wire: &mut Wire<'_>) -> Option<()> {
        self.skip_within(number, wire, DEPTH_MAX)
    }

    fn skip_within(&self, number: i64, wire: &mut Wire<'_>, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match number {
            builtin::BOOL | builtin::INT | builtin::UINT | builtin::FLOAT => {
                wire.uint()?;
            }
            builtin::BYTES | builtin::STRING => {
                wire.text()?;
            }
            builtin::COMPLEX => {
                wire.uint()?;
                wire.uint()?;
            }
            _ => match self.shape(number)? {
                Shape::List(element) => {
                    for _ in 0..wire.uint()? {
                        self.skip_within(*element, wire, depth)?;
                    }
                }
                Shape::Map(key, value) => {
                    for _ in 0..wire.uint()? {
                        self.skip_within(*key, wire, depth)?;
                        self.skip_within(*value, wire, depth)?;
                    }
                }
                Shape::Opaque => {
                    wire.text()?;
                }
                Shape::Struct(fields) => wire.fields(|field, wire| {
                    let (_, number) = fields.get(usize::try_from(field).ok()?)?;
                    self.skip_within(*number, wire, depth)
                })?,
            },
        }
        Some(())
    }
}

/// A definition is a struct with one field that says which kind of type it is.
fn read_definition(wire: &mut Wire<'_>) -> Option<Shape> {
    let mut shape = None;
    wire.fields(|kind, wire| {
        shape = Some(match kind {
            0 | 1 => Shape::List(read_parts(wire)?[0]),
            2 => Shape::Struct(read_struct(wire)?),
            3 => {
                let [key, value] = read_parts(wire)?;
                Shape::Map(key, value)
            }
            4..=6 => {
                read_parts(wire)?;
                Shape::Opaque
            }
            _ => return None,
        });
        Some(())
    })?;
    shape.filter(|_| wire.is_at_end())
}

/// Name and number, which are known from elsewhere, then the types of the parts. An array has its
/// length in the second place, which is in front of each of its values too.
fn read_parts(wire: &mut Wire<'_>) -> Option<[i64; 2]> {
    let mut parts = [0; 2];
    wire.fields(|field, wire| {
        match field {
            0 => skip_common(wire)?,
            1 | 2 => parts[field as usize - 1] = wire.int()?,
            _ => return None,
        }
        Some(())
    })?;
    Some(parts)
}

fn read_struct(wire: &mut Wire<'_>) -> Option<Vec<(Vec<u8>, i64)>> {
    let mut fields = Vec::new();
    wire.fields(|field, wire| {
        match field {
            0 => skip_common(wire)?,
            1 => {
                for _ in 0..wire.uint().filter(|count| *count <= FIELDS_MAX as u64)? {
                    fields.push(read_field(wire)?);
                }
            }
            _ => return None,
        }
        Some(())
    })?;
    Some(fields)
}

fn read_field(wire: &mut Wire<'_>) -> Option<(Vec<u8>, i64)> {
    let (mut name, mut number) = (Vec::new(), 0);
    wire.fields(|field, wire| {
        match field {
            0 => {
                let range = wire.text()?;
                name = wire.bytes(range).to_vec();
            }
            1 => number = wire.int()?,
            _ => return None,
        }
        Some(())
    })?;
    Some((name, number))
}

/// A type's own name and number.
fn skip_common(wire: &mut Wire<'_>) -> Option<()> {
    wire.fields(|field, wire| {
        match field {
            0 => {
                wire.text()?;
            }
            1 => {
                wire.int()?;
            }
            _ => return None,
        }
        Some(())
    })
}
