//! A small table, printed as Markdown that is readable as it is.

use std::fmt;

/// Rows of equal length under a head.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        let mut table = Self { rows: Vec::new() };
        table.row(head);
        table
    }

    /// All rows, the head first.
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The rows that say of a limit that it is missed, their cells side by side.
    pub(crate) fn missed(&self) -> impl Iterator<Item = String> {
        let misses = |row: &&Vec<String>| row.iter().any(|cell| cell.contains("MISSED"));
        self.rows.iter().filter(misses).map(|row| row.join(" | "))
    }

    /// Adds a row; a shorter one ends with empty cells.
    pub(crate) fn row<T: ToString>(&mut self, cells: &[T]) {
        self.rows.push(cells.iter().map(ToString::to_string).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
        let width = |column| {
            let widths = self.rows.iter().map(|row| cell(row, column).chars().count());
            widths.max().unwrap_or(0)
        };
        for (at, row) in self.rows.iter().enumerate() {
            for column in 0..columns {
                write!(formatter, "| {:width$} ", cell(row, column), width = width(column))?;
            }
            writeln!(formatter, "|")?;
            if at == 0 {
                for column in 0..columns {
                    write!(formatter, "|{}", "-".repeat(width(column) + 2))?;
                }
                writeln!(formatter, "|")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["tool", "µs"]);
        table.row(&["sojourn", "7"]);
        table.row(&["wrk"]);
        let expected = "| tool    | µs |\n|---------|----|\n| sojourn | 7  |\n| wrk     |    |\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn rows_that_miss_their_limit_are_told_of() {
        let mut table = Table::new(&["work", "limit"]);
        table.row(&["a", "≤ 1: holds"]);
        table.row(&["b", "≤ 1: MISSED"]);
        assert_eq!(table.missed().collect::<Vec<_>>(), ["b | ≤ 1: MISSED"]);
    }
}
