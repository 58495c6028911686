//! Rows from files.

use std::path::Path;
use std::sync::Arc;

use crate::DataSource;

use super::fields::Fields;
use super::node::Node;
use super::{PlanError, Reader, shapes};

impl Reader<'_> {
    /// The data sources, in declared order. One that can't be read is left out and reported.
    pub fn data(&mut self, node: &Node) -> Vec<Arc<DataSource>> {
        let mut sources = Vec::new();
        for (key, value) in self.problems.map(node).unwrap_or_default() {
            let named = self.problems.check_name(key.range.start, &key.name, "data source");
            let Some(fields) = Fields::of(value, &shapes::DATA, &mut self.problems) else {
                continue;
            };
            let rows = fields.get("csv").and_then(|csv| self.csv(&key.name, csv));
            sources.extend(named.and(rows).map(Arc::new));
        }
        sources
    }

    fn csv(&mut self, name: &str, node: &Node) -> Option<DataSource> {
        let path = self.problems.text(node)?;
        let text = match self.files.read(Path::new(path)) {
            Ok(text) => text,
            Err(error) => {
                self.unreadable(node, &error);
                return None;
            }
        };
        match parse(name, text.trim_start_matches('\u{feff}')) {
            Ok(source) if source.rows.is_empty() => {
                let hint = Some("its first line names the columns, the others are rows".to_owned());
                let shown = self.problems.offending(node);
                self.problems.at(node, format!("`{shown}` has no rows"), hint);
                None
            }
            Ok(source) => Some(source),
            Err((line, message)) => {
                self.problems.push(PlanError {
                    file: path.to_owned(),
                    line,
                    column: 1,
                    message,
                    hint: None,
                });
                None
            }
        }
    }
}

/// Err: line and what is wrong with it.
fn parse(name: &str, text: &str) -> Result<DataSource, (usize, String)> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(text.as_bytes());
    let wrong = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let message = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} values, but {expected_len} columns")
            }
            other => format!("malformed CSV: {other:?}"),
        };
        (usize::try_from(line).unwrap_or(1), message)
    };
    let headers = reader.headers().map_err(wrong)?;
    let columns: Vec<String> = headers.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        rows.push(record.iter().map(str::to_owned).collect());
    }
    Ok(DataSource { name: name.to_owned(), columns, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns() {
        let source = parse("users", "id, name\n1,\"a, b\"\n2,c\n").unwrap();
        assert_eq!(source.columns, ["id", "name"]);
        assert_eq!(source.rows, [["1", "a, b"], ["2", "c"]]);
        assert_eq!(
            parse("users", "id,name\n1,a\n2\n").unwrap_err(),
            (3, "1 values, but 2 columns".to_owned())
        );
        assert!(parse("users", "").unwrap().rows.is_empty());
    }
}
