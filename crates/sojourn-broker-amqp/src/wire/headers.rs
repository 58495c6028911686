//! A message's headers as names and texts: tables and properties flattened.

use std::ops::Range;

use super::Malformed;
use super::reader::Reader;

/// Deeper tables are not looked into.
const DEPTH_MAX: usize = 8;
/// Most headers of a message; further ones are left out.
const HEADERS_MAX: usize = 1_024;

/// Names and values in order, in memory that is used again from message to message.
///
/// Numbers, booleans and timestamps (seconds) are decimal text; a field of a nested table is named
/// `table.field`, an item of an array `array.0`. Names that are not UTF-8 are left out: no plan
/// could name them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers {
    text: Vec<u8>,
    entries: Vec<(Range<usize>, Range<usize>)>,
}

impl Headers {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
    }

    pub(crate) fn push(&mut self, name: &[u8], value: &[u8]) {
        if self.entries.len() < HEADERS_MAX && std::str::from_utf8(name).is_ok() {
            let name = self.keep(name);
            let value = self.keep(value);
            self.entries.push((name, value));
        }
    }

    /// The headers, and one more behind them.
    pub(crate) fn with<'a>(&'a self, more: (&'a str, &'a [u8])) -> Vec<(&'a str, &'a [u8])> {
        let mut headers = Vec::with_capacity(self.entries.len() + 1);
        for (name, value) in &self.entries {
            let name = std::str::from_utf8(&self.text[name.clone()]).unwrap_or_default();
            headers.push((name, &self.text[value.clone()]));
        }
        headers.push(more);
        headers
    }

    /// The first value of a name, as written.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        let found =
            self.entries.iter().find(|(known, _)| &self.text[known.clone()] == name.as_bytes());
        found.map(|(_, value)| &self.text[value.clone()])
    }

    /// Reads a table's fields, without the table's own length.
    pub(crate) fn read_table(&mut self, table: &[u8]) -> Result<(), Malformed> {
        self.fields(&mut Vec::new(), table, 0)
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.text.len();
        self.text.extend_from_slice(bytes);
        start..self.text.len()
    }

    fn fields(&mut self, name: &mut Vec<u8>, table: &[u8], depth: usize) -> Result<(), Malformed> {
        let mut reader = Reader::new(table);
        let before = name.len();
        while !reader.is_empty() {
            name.extend_from_slice(reader.short()?);
            self.value(name, &mut reader, depth)?;
            name.truncate(before);
        }
        Ok(())
    }

    fn items(&mut self, name: &mut Vec<u8>, array: &[u8], depth: usize) -> Result<(), Malformed> {
        let mut reader = Reader::new(array);
        let before = name.len();
        for index in 0_u32.. {
            if reader.is_empty() {
                break;
            }
            name.extend_from_slice(index.to_string().as_bytes());
            self.value(name, &mut reader, depth)?;
            name.truncate(before);
        }
        Ok(())
    }

    fn value(
        &mut self,
        name: &mut Vec<u8>,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<(), Malformed> {
        let text = match reader.u8()? {
            b'S' | b'x' => {
                self.push(name, reader.long()?);
                return Ok(());
            }
            kind @ (b'F' | b'A') => {
                let inner = reader.long()?;
                if depth < DEPTH_MAX {
                    let before = name.len();
                    name.push(b'.');
                    match kind {
                        b'F' => self.fields(name, inner, depth + 1)?,
                        _ => self.items(name, inner, depth + 1)?,
                    }
                    name.truncate(before);
                }
                return Ok(());
            }
            b't' => (if reader.u8()? == 0 { "false" } else { "true" }).to_owned(),
            b'b' => reader.u8()?.cast_signed().to_string(),
            b'B' => reader.u8()?.to_string(),
            b's' => reader.u16()?.cast_signed().to_string(),
            b'u' => reader.u16()?.to_string(),
            b'I' => reader.u32()?.cast_signed().to_string(),
            b'i' => reader.u32()?.to_string(),
            b'l' | b'L' => reader.u64()?.cast_signed().to_string(),
            b'T' => reader.u64()?.to_string(),
            b'f' => f32::from_bits(reader.u32()?).to_string(),
            b'd' => f64::from_bits(reader.u64()?).to_string(),
            b'D' => decimal(reader.u8()?, reader.u32()?.cast_signed()),
            b'V' => String::new(),
            _ => return Err(Malformed("a table has a field of a type that AMQP does not know")),
        };
        self.push(name, text.as_bytes());
        Ok(())
    }
}

/// A number of `unscaled` times ten to the power of minus `scale`.
fn decimal(scale: u8, unscaled: i32) -> String {
    let scale = usize::from(scale);
    let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    match fraction {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::writer::Writer;
    use super::*;

    fn read(table: &[u8]) -> Vec<(String, String)> {
        let mut headers = Headers::default();
        headers.read_table(table).unwrap();
        let all = headers.with(("end", b""));
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let (_, all) = all.split_last().unwrap();
        all.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect()
    }

    /// One field of each type, as RabbitMQ numbers them.
    fn every_type() -> Vec<u8> {
        let mut out = Writer::default();
        let mut field = |kind: u8, value: &[u8]| {
            out.short(&[b'f', kind]).unwrap();
            out.u8(kind);
            out.bytes.extend_from_slice(value);
        };
        field(b't', &[1]);
        field(b'b', &[0xFF]);
        field(b'B', &[0xFF]);
        field(b's', &[0xFF, 0xFE]);
        field(b'u', &[0xFF, 0xFE]);
        field(b'I', &(-70_000_i32).to_be_bytes());
        field(b'i', &3_000_000_000_u32.to_be_bytes());
        field(b'l', &i64::MIN.to_be_bytes());
        field(b'T', &1_700_000_000_u64.to_be_bytes());
        field(b'f', &1.5_f32.to_be_bytes());
        field(b'd', &(-0.25_f64).to_be_bytes());
        field(b'D', &[2, 0xFF, 0xFF, 0xFF, 0xFB]);
        field(b'S', b"\0\0\0\x04text");
        field(b'x', b"\0\0\0\x01z");
        field(b'V', b"");
        field(b'F', b"\0\0\0\x08\x01kS\0\0\0\x01v");
        field(b'A', b"\0\0\0\x04t\0B\x07");
        out.bytes
    }

    #[test]
    fn every_type_of_field_has_a_text() {
        let expect = [
            ("ft", "true"),
            ("fb", "-1"),
            ("fB", "255"),
            ("fs", "-2"),
            ("fu", "65534"),
            ("fI", "-70000"),
            ("fi", "3000000000"),
            ("fl", "-9223372036854775808"),
            ("fT", "1700000000"),
            ("ff", "1.5"),
            ("fd", "-0.25"),
            ("fD", "-0.05"),
            ("fS", "text"),
            ("fx", "z"),
            ("fV", ""),
            ("fF.k", "v"),
            ("fA.0", "false"),
            ("fA.1", "7"),
        ];
        let expect = expect.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read(&every_type()), expect);
    }

    #[test]
    fn decimals_keep_their_scale() {
        for (scale, unscaled, text) in
            [(0, 12, "12"), (1, 12, "1.2"), (3, 12, "0.012"), (2, -1234, "-12.34"), (2, 0, "0.00")]
        {
            assert_eq!(decimal(scale, unscaled), text);
        }
        assert_eq!(decimal(255, i32::MIN).len(), 258);
    }

    #[test]
    fn tables_within_tables_end_somewhere() {
        let mut table = b"\x01kt\x01".to_vec();
        for _ in 0..1_000 {
            let mut outer = Writer::default();
            outer.short(b"n").unwrap();
            outer.u8(b'F');
            outer.long(&table).unwrap();
            table = outer.bytes;
        }
        assert_eq!(read(&table), []);
    }

    #[test]
    fn a_table_cut_off_anywhere_inside_a_field_is_malformed() {
        let table = every_type();
        let mut whole = 0;
        for end in 0..table.len() {
            whole += usize::from(Headers::default().read_table(&table[..end]).is_ok());
        }
        // Only the ends of the seventeen fields, the last apart, and of none.
        assert_eq!(whole, 17);
    }

    proptest! {
        #[test]
        fn any_table_is_read_or_malformed(mut table in Just(every_type()),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
            for (place, byte) in changes {
                let place = place.index(table.len());
                table[place] = byte;
            }
            let mut headers = Headers::default();
            let _either = headers.read_table(&table);
            prop_assert!(headers.with(("", b"")).len() <= HEADERS_MAX + 1);
        }
    }
}
