//! Rows of as many cells each: all text in one place, and where each cell ends in it.

use std::io::{self, Read, Write};

use super::bytes::{Bytes, Gather};

/// Bytes of an end of a cell.
const END_BYTES: usize = size_of::<u32>();

/// See the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(super) columns: Vec<String>,
    /// At least 1.
    pub(super) width: usize,
    /// All cells, one behind the other, UTF-8 each.
    pub(super) text: Bytes,
    /// Where each cell ends, `u32`, little end first.
    pub(super) ends: Bytes,
}

/// Why text is no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub(super) struct TableError {
    /// From 1.
    line: u64,
    /// A lower-case fragment.
    message: String,
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A table while it is read.
struct Reading<'a> {
    fields: &'a [String],
    columns: Vec<String>,
    width: usize,
    text: Gather,
    ends: Gather,
}

fn wrong(line: u64, message: impl Into<String>) -> TableError {
    TableError { line, message: message.into() }
}

impl Table {
    /// Reads rows, quoted as CSV has it. `fields` names the columns where no header does; with both
    /// `fields` count. Errs when lines have different numbers of cells, when the text is not
    /// UTF-8, and when there is no row.
    pub(super) fn read(
        from: impl Read,
        delimiter: u8,
        has_header: bool,
        fields: &[String],
    ) -> Result<Self, ReadError> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(64 << 10)
            .from_reader(from);
        let mut reading = Reading::new(fields);
        let mut record = csv::StringRecord::new();
        let mut is_header = has_header;
        loop {
            let line = reader.position().line();
            if !reader.read_record(&mut record).map_err(|error| cannot_read(error, line))? {
                break;
            }
            let line = record.position().map_or(line, csv::Position::line);
            reading.check_width(record.len(), line)?;
            if std::mem::take(&mut is_header) {
                reading.header(&record);
            } else {
                reading.row(&record, line)?;
            }
        }
        reading.finish(reader.position().line())
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.ends.len() / END_BYTES / self.width
    }

    /// How many columns there are.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Names of the columns; may be fewer than there are.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// A cell, both numbers from 0; empty where there is none.
    pub(crate) fn cell(&self, row: usize, column: usize) -> &str {
        let place = row.saturating_mul(self.width).saturating_add(column);
        let Some(end) = self.end(place).filter(|_| column < self.width) else { return "" };
        let start = place.checked_sub(1).map_or(Some(0), |before| self.end(before));
        let cell = start.and_then(|start| self.text.get(start..end)).unwrap_or_default();
        // Each was text when it was read; looking again costs less than the request it is for.
        std::str::from_utf8(cell).unwrap_or_default()
    }

    /// Where the cell of this number ends.
    fn end(&self, place: usize) -> Option<usize> {
        let at = place.checked_mul(END_BYTES)?;
        let end = self.ends.get(at..at.checked_add(END_BYTES)?)?;
        end.try_into().ok().map(|end| u32::from_le_bytes(end) as usize)
    }
}

fn cannot_read(error: csv::Error, line: u64) -> ReadError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ReadError::Io(error),
        csv::ErrorKind::Utf8 { .. } => wrong(line, "it is not UTF-8").into(),
        other => wrong(line, format!("it cannot be read ({other:?})")).into(),
    }
}

impl<'a> Reading<'a> {
    fn new(fields: &'a [String]) -> Self {
        let (text, ends) = (Gather::default(), Gather::default());
        Self { fields, columns: fields.to_vec(), width: 0, text, ends }
    }

    fn check_width(&mut self, width: usize, line: u64) -> Result<(), TableError> {
        if self.width == 0 {
            self.width = width;
        }
        if width == self.width {
            return Ok(());
        }
        Err(wrong(line, format!("{width} cells, but {} above", self.width)))
    }

    fn header(&mut self, record: &csv::StringRecord) {
        if self.fields.is_empty() {
            self.columns = record.iter().map(|name| name.trim().to_owned()).collect();
        }
    }

    fn row(&mut self, record: &csv::StringRecord, line: u64) -> Result<(), ReadError> {
        for cell in record {
            self.text.write_all(cell.as_bytes())?;
            let end = u32::try_from(self.text.length());
            let end = end.map_err(|_| wrong(line, "more than 4 GiB of cells"))?;
            self.ends.write_all(&end.to_le_bytes())?;
        }
        Ok(())
    }

    /// The table; `line` is the last one.
    fn finish(self, line: u64) -> Result<Table, ReadError> {
        if self.ends.length() == 0 {
            return Err(wrong(line, "there is no row").into());
        }
        let (columns, width) = (self.columns, self.width);
        if columns.len() > width {
            let message = format!("{} columns are named, but there are {width}", columns.len());
            return Err(wrong(1, message).into());
        }
        // Both in files or none, so that all of it can be shared.
        let is_much = self.text.is_much() || self.ends.is_much();
        let (text, ends) = (self.text.finish(is_much)?, self.ends.finish(is_much)?);
        Ok(Table { columns, width, text, ends })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str, delimiter: u8, has_header: bool) -> Result<Table, String> {
        let read = Table::read(text.as_bytes(), delimiter, has_header, &[]);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn rows_have_names_or_numbers() {
        let table = parse("id,name\n1,Ann\n2,\"a \"\"b\"\", c\"\n", b',', true).unwrap();
        assert_eq!((table.rows(), table.width()), (2, 2));
        assert_eq!(table.columns(), ["id", "name"]);
        assert_eq!(
            (table.cell(0, 1), table.cell(1, 1), table.cell(1, 0)),
            ("Ann", "a \"b\", c", "2")
        );
        assert_eq!((table.cell(2, 0), table.cell(0, 2)), ("", ""));
        assert_eq!((table.cell(usize::MAX, 0), table.cell(usize::MAX / 2, 1)), ("", ""));
        let tabs = parse("1\tä b\n\n2\t\n", b'\t', false).unwrap();
        assert_eq!((tabs.rows(), tabs.cell(0, 1), tabs.cell(1, 1)), (2, "ä b", ""));
        let named = Table::read(&b"x,y"[..], b',', false, &["a".to_owned()]).unwrap();
        assert_eq!(named.columns(), ["a"]);
    }

    #[test]
    fn a_mark_of_the_byte_order_is_no_text() {
        let table = parse("\u{feff}id,name\n1,Ann\n", b',', true).unwrap();
        assert_eq!(table.columns(), ["id", "name"]);
        assert_eq!(parse("\u{feff}1\n", b',', false).unwrap().cell(0, 0), "1");
        assert_eq!(parse("\u{feff}\"a\"\n", b',', false).unwrap().cell(0, 0), "a");
    }

    #[test]
    fn what_is_no_table_says_where() {
        assert_eq!(
            parse("a,b\n1,2\n3\n", b',', true),
            Err("line 3: 1 cells, but 2 above".to_owned())
        );
        assert_eq!(parse("a,b\n", b',', true), Err("line 2: there is no row".to_owned()));
        assert!(Table::read(&b"a\n\xff\n"[..], b',', true, &[]).is_err());
        let two = ["a".to_owned(), "b".to_owned()];
        assert!(Table::read(&b"a\n"[..], b',', false, &two).is_err());
    }

    /// A file that breaks off is told as such, not as a table of fewer rows.
    #[test]
    fn a_failure_to_read_is_no_end() {
        struct Breaks(&'static [u8]);
        impl Read for Breaks {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                match self.0.read(into) {
                    Ok(0) => Err(io::Error::other("the disk is gone")),
                    read => read,
                }
            }
        }
        let read = Table::read(Breaks(b"a\n1\n"), b',', true, &[]);
        assert_eq!(read.unwrap_err().to_string(), "the disk is gone");
    }

    #[test]
    fn much_is_mapped_and_little_is_not() {
        assert!(!parse("a\n1\n", b',', true).unwrap().text.is_mapped());
        // Less than a mebibyte of text, more than one of ends; and cells without any text.
        for cell in ["7", ""] {
            let rows = 400_000;
            let table = parse(&format!("{cell},\n").repeat(rows), b',', false).unwrap();
            assert!(table.ends.is_mapped());
            assert_eq!(table.text.is_mapped(), !cell.is_empty());
            assert_eq!((table.rows(), table.cell(rows - 1, 0)), (rows, cell));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn every_cell_is_the_one_that_was_written(
            cells in prop::collection::vec("[a-z\"ä,\n]{0,9}", 6),
            repeats in prop_oneof![1..10usize, 60_000..90_000usize],
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            for number in 0..repeats {
                let row = cells.iter().map(|cell| format!("{cell}{number}"));
                writer.write_record(row).unwrap();
            }
            let text = writer.into_inner().unwrap();
            let table = Table::read(text.as_slice(), b',', false, &[]).unwrap();
            prop_assert_eq!(table.rows(), repeats);
            for number in 0..repeats {
                for (column, cell) in cells.iter().enumerate() {
                    prop_assert_eq!(table.cell(number, column), format!("{cell}{number}"));
                }
            }
        }
    }
}
