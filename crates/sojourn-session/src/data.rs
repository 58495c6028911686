//! Files that sessions use: rows, and bodies. Read once, shared by all clients.

use std::path::Path;
use std::sync::Arc;

use sojourn_plan::{Files, PlanErrors};

use crate::definition::{Definition, SourceKind};

/// The content of a definition's files, in the order of [`Definition::sources`].
#[derive(Clone, Debug, Default)]
pub struct Data {
    pub(crate) sources: Vec<Content>,
}

/// One file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Rows(Arc<Table>),
    Bytes(Arc<[u8]>),
}

/// Rows of as many cells each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<String>,
    width: usize,
    /// All cells, one behind the other.
    text: String,
    /// Where each cell ends.
    ends: Vec<u32>,
}

/// Why text is no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct TableError {
    /// From 1.
    pub line: u64,
    /// A lower-case fragment.
    pub message: String,
}

impl Data {
    /// Reads all files of a definition. Errs with all that can't be read, each where the script
    /// names it.
    pub fn load(definition: &Definition, files: &dyn Files) -> Result<Self, PlanErrors> {
        let (mut sources, mut errors) = (Vec::new(), Vec::new());
        for source in &definition.sources {
            let path = &source.path;
            match read(Path::new(path), &source.kind, files) {
                Ok(content) => sources.push(content),
                Err(problem) => {
                    errors.push(source.place.error(format!("the file `{path}`: {problem}"), None));
                }
            }
        }
        if errors.is_empty() { Ok(Self { sources }) } else { Err(PlanErrors(errors)) }
    }
}

fn read(path: &Path, kind: &SourceKind, files: &dyn Files) -> Result<Content, String> {
    let bytes = files.read_bytes(path).map_err(|error| error.to_string())?;
    match kind {
        SourceKind::Raw => Ok(Content::Bytes(bytes.into())),
        SourceKind::Structured { delimiter, has_header, fields } => {
            let table = Table::parse(&bytes, *delimiter, *has_header, fields);
            table.map(|table| Content::Rows(Arc::new(table))).map_err(|error| error.to_string())
        }
    }
}

impl Table {
    /// Reads rows, quoted as CSV has it. `fields` names the columns where no header does; with both
    /// `fields` count. Errs when lines have different numbers of cells, when the text is not
    /// UTF-8, and when there is no row.
    pub fn parse(
        bytes: &[u8],
        delimiter: u8,
        has_header: bool,
        fields: &[String],
    ) -> Result<Self, TableError> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let wrong = |line, message: &str| TableError { line, message: message.to_owned() };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes);
        let mut table =
            Self { columns: fields.to_vec(), width: 0, text: String::new(), ends: Vec::new() };
        let mut record = csv::StringRecord::new();
        let mut is_header = has_header;
        loop {
            let line = reader.position().line();
            let more = reader.read_record(&mut record).map_err(|error| match error.kind() {
                csv::ErrorKind::Utf8 { .. } => wrong(line, "it is not UTF-8"),
                _ => wrong(line, &error.to_string()),
            })?;
            if !more {
                break;
            }
            if table.width == 0 {
                table.width = record.len();
            } else if record.len() != table.width {
                let message = format!("{} cells, but {} above", record.len(), table.width);
                return Err(wrong(record.position().map_or(line, csv::Position::line), &message));
            }
            if std::mem::take(&mut is_header) {
                if fields.is_empty() {
                    table.columns = record.iter().map(|name| name.trim().to_owned()).collect();
                }
                continue;
            }
            for cell in &record {
                table.text.push_str(cell);
                let end = u32::try_from(table.text.len());
                table.ends.push(end.map_err(|_| wrong(line, "more than 4 GiB of cells"))?);
            }
        }
        if table.ends.is_empty() {
            return Err(wrong(reader.position().line(), "there is no row"));
        }
        if table.columns.len() > table.width {
            let message =
                format!("{} columns are named, but there are {}", table.columns.len(), table.width);
            return Err(wrong(1, &message));
        }
        Ok(table)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ends.len() / self.width
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Names of the columns; may be fewer than there are.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// A cell, both numbers from 0; empty where there is none.
    pub fn cell(&self, row: usize, column: usize) -> &str {
        let place = row.saturating_mul(self.width).saturating_add(column);
        let Some(&end) = self.ends.get(place).filter(|_| column < self.width) else { return "" };
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, delimiter: u8, has_header: bool) -> Result<Table, String> {
        Table::parse(text.as_bytes(), delimiter, has_header, &[]).map_err(|error| error.to_string())
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
        let tabs = parse("1\tä b\n\n2\t\n", b'\t', false).unwrap();
        assert_eq!((tabs.rows(), tabs.cell(0, 1), tabs.cell(1, 1)), (2, "ä b", ""));
        let named = Table::parse(b"x,y", b',', false, &["a".to_owned()]).unwrap();
        assert_eq!(named.columns(), ["a"]);
    }

    #[test]
    fn what_is_no_table_says_where() {
        assert_eq!(
            parse("a,b\n1,2\n3\n", b',', true),
            Err("line 3: 1 cells, but 2 above".to_owned())
        );
        assert_eq!(parse("a,b\n", b',', true), Err("line 2: there is no row".to_owned()));
        assert!(Table::parse(b"a\n\xff\n", b',', true, &[]).is_err());
        assert!(Table::parse(b"a\n", b',', false, &["a".to_owned(), "b".to_owned()]).is_err());
    }
}
