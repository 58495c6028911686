//! Aligned columns: names to the left, figures to the right, within a width.

use super::paint::clean;

/// A table whose first column holds names and whose others hold figures.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()] }
    }

    /// Adds a row: a name, which may be foreign, and its figures.
    pub(crate) fn row(&mut self, name: &str, figures: impl IntoIterator<Item = String>) {
        let mut row = vec![clean(name)];
        row.extend(figures);
        self.rows.push(row);
    }

    /// Writes the table, indented by two. Where it would be too wide, the gaps between columns are
    /// halved; where that is not enough, names are shortened.
    pub(crate) fn render(&self, out: &mut String, width: usize) {
        let columns = self.rows[0].len();
        let mut widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let figures: usize = widths[1..].iter().sum();
        let named = widths[0].min(NAME_WHOLE);
        let gap = if 2 + named + figures + 2 * (columns - 1) <= width { 2 } else { 1 };
        let taken = 2 + figures + gap * (columns - 1);
        widths[0] = widths[0].min(width.saturating_sub(taken).max(8));
        for row in &self.rows {
            let mut line = String::from("  ");
            line.push_str(&fit(&row[0], widths[0]));
            for (cell, &width) in row.iter().zip(&widths).skip(1) {
                line.extend(std::iter::repeat_n(' ', gap));
                line.push_str(&format!("{cell:>width$}"));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

/// Names up to this length are worth narrower gaps.
const NAME_WHOLE: usize = 24;

/// Text padded to a width, or shortened in its middle, so that both ends stay readable.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text:<width$}");
    }
    let kept = width.saturating_sub(1);
    let head: String = text.chars().take(kept.div_ceil(2)).collect();
    let tail: String = text.chars().skip(length - kept / 2).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_align_to_the_right_and_long_names_are_shortened() {
        let mut table = Table::new(&["stage", "p50", "p99"]);
        table.row("created", ["5.06 s".into(), "9 s".into()]);
        table.row("a-very-long-stage-name-indeed", ["1 ms".into(), "12.3 ms".into()]);
        let mut out = String::new();
        table.render(&mut out, 34);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(
            lines,
            [
                "  stage                p50     p99",
                "  created           5.06 s     9 s",
                "  a-very-l…e-indeed   1 ms 12.3 ms",
            ]
        );
        assert!(out.lines().all(|line| line.chars().count() <= 34));
    }
}
