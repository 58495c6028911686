//! Reading header blocks.

use super::dynamic_table::DynamicTable;
use super::static_table::STATIC_TABLE;
use super::{Broken, FIELD_OVERHEAD, huffman, integer};

/// The table that we offer: the default of RFC 9113 §6.5.2, which needs no word.
pub(crate) const TABLE_BYTES_MAX: usize = 4_096;

/// Takes the fields of a block.
pub(crate) trait Fields {
    /// Whether the value of this name is of interest; if not, the field is left undecoded where the
    /// table allows it.
    fn wants(&mut self, name: &[u8]) -> bool;
    /// A field of interest, in the order of the block.
    fn field(&mut self, name: &[u8], value: &[u8]);
    /// The rest is not shown: the list is longer than allowed.
    fn too_long(&mut self);
}

/// Decodes one connection's blocks.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: DynamicTable,
    name: Vec<u8>,
    value: Vec<u8>,
    /// The present block depends on the table, or has changed its size.
    needs_table: bool,
}

/// What decoding a block has used and changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// The same block would be other fields if the table were another.
    pub(crate) needs_table: bool,
    /// Size of the fields that it added to the table.
    pub(crate) inserted_bytes: u64,
}

/// A string of a block, perhaps coded.
#[derive(Clone, Copy)]
struct Text<'a> {
    bytes: &'a [u8],
    is_coded: bool,
}

impl Decoder {
    pub(crate) fn new() -> Self {
        Self {
            table: DynamicTable::new(TABLE_BYTES_MAX),
            name: Vec::new(),
            value: Vec::new(),
            needs_table: false,
        }
    }

    /// How often the table has changed.
    pub(crate) fn table_changes(&self) -> u64 {
        self.table.changes()
    }

    /// Decodes a whole block. `list_bytes_max` bounds the sum of names, values and 32 bytes a
    /// field; beyond it fields are read for the table's sake but not shown.
    pub(crate) fn decode(
        &mut self,
        block: &[u8],
        list_bytes_max: usize,
        fields: &mut impl Fields,
    ) -> Result<Effect, Broken> {
        self.needs_table = false;
        let inserted_before = self.table.inserted_bytes();
        let mut input = block;
        let mut list = List { bytes: 0, bytes_max: list_bytes_max, fields };
        let mut may_resize = true;
        while let Some(first) = input.first() {
            match first {
                0x80.. => {
                    let index = integer::read(&mut input, 7)?;
                    self.needs_table |= index > STATIC_TABLE.len();
                    let (name, value) = self.entry(index)?;
                    list.show(name, value);
                }
                0x40..0x80 => self.literal(&mut input, 6, true, &mut list)?,
                0x20..0x40 => {
                    let size = integer::read(&mut input, 5)?;
                    if !may_resize || size > TABLE_BYTES_MAX {
                        return Err(Broken("a header block that changes the table's size wrongly"));
                    }
                    self.table.resize(size);
                    self.needs_table = true;
                    continue;
                }
                0x00..0x20 => self.literal(&mut input, 4, false, &mut list)?,
            }
            may_resize = false;
        }
        Ok(Effect {
            needs_table: self.needs_table,
            inserted_bytes: self.table.inserted_bytes() - inserted_before,
        })
    }

    fn literal<F: Fields>(
        &mut self,
        input: &mut &[u8],
        prefix_bits: u8,
        is_kept: bool,
        list: &mut List<'_, F>,
    ) -> Result<(), Broken> {
        let index = integer::read(input, prefix_bits)?;
        let mut name_buffer = std::mem::take(&mut self.name);
        name_buffer.clear();
        let is_static = (1..=STATIC_TABLE.len()).contains(&index);
        let name = if index == 0 {
            read_string(input)?.decode(&mut name_buffer)?
        } else if is_static {
            STATIC_TABLE[index - 1].0
        } else {
            self.needs_table = true;
            name_buffer.extend_from_slice(self.entry(index)?.0);
            &name_buffer
        };
        let text = read_string(input)?;
        let is_shown = list.takes(name, text.bytes.len());
        if is_kept || is_shown {
            self.value.clear();
            let value = text.decode(&mut self.value)?;
            if is_shown {
                list.show(name, value);
            }
            if is_kept {
                self.table.insert(name, value);
            }
        }
        self.name = name_buffer;
        Ok(())
    }

    fn entry(&self, index: usize) -> Result<(&[u8], &[u8]), Broken> {
        let missing = Broken("a header block that points at a field that no table has");
        let place = index.checked_sub(1).ok_or(missing)?;
        match STATIC_TABLE.get(place) {
            Some((name, value)) => Ok((name, value)),
            None => self.table.get(place - STATIC_TABLE.len()).ok_or(missing),
        }
    }
}

/// The list as far as it has been shown.
struct List<'a, F> {
    bytes: usize,
    bytes_max: usize,
    fields: &'a mut F,
}

impl<F: Fields> List<'_, F> {
    /// Whether a literal of this length, perhaps coded, is to be shown. Counts it if not.
    fn takes(&mut self, name: &[u8], length: usize) -> bool {
        if self.bytes > self.bytes_max {
            return false;
        }
        let is_wanted = self.fields.wants(name);
        if !is_wanted {
            self.count(name.len() + length);
        }
        is_wanted
    }

    fn show(&mut self, name: &[u8], value: &[u8]) {
        if self.count(name.len() + value.len()) {
            self.fields.field(name, value);
        }
    }

    /// Whether the list is still within its bound.
    fn count(&mut self, bytes: usize) -> bool {
        if self.bytes > self.bytes_max {
            return false;
        }
        self.bytes += bytes + FIELD_OVERHEAD;
        if self.bytes > self.bytes_max {
            self.fields.too_long();
            return false;
        }
        true
    }
}

impl<'a> Text<'a> {
    /// The string: as it lies in the block, or decoded into the buffer.
    fn decode(self, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], Broken> {
        if !self.is_coded {
            return Ok(self.bytes);
        }
        huffman::decode(self.bytes, buffer)?;
        Ok(buffer)
    }
}

fn read_string<'a>(input: &mut &'a [u8]) -> Result<Text<'a>, Broken> {
    let is_coded = input.first().is_some_and(|first| first & 0x80 != 0);
    let length = integer::read(input, 7)?;
    if length > input.len() {
        return Err(Broken("a header block that ends inside a field"));
    }
    let (bytes, rest) = input.split_at(length);
    *input = rest;
    Ok(Text { bytes, is_coded })
}

#[cfg(test)]
mod tests;
