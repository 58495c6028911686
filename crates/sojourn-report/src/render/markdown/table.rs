//! A table of GitHub Flavored Markdown (its specification, 4.10 "Tables (extension)").

/// Rows of cells that are Markdown already.
pub(super) struct Table {
    columns: usize,
    lines: Vec<String>,
    is_text: Vec<bool>,
    head: String,
}

impl Table {
    /// A table with these headings.
    pub(super) fn new(head: &[&str]) -> Self {
        Self {
            columns: head.len(),
            lines: Vec::new(),
            is_text: vec![false; head.len()],
            head: format!("| {} |", head.join(" | ")),
        }
    }

    /// A row; a cell must hold no bare `|` and no line's end.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns, "as many cells as headings");
        for (is_text, cell) in self.is_text.iter_mut().zip(&cells) {
            let is_figure = cell.starts_with(|c: char| c.is_ascii_digit() || "–−&".contains(c));
            *is_text |= !is_figure;
        }
        self.lines.push(format!("| {} |", cells.join(" | ")));
    }

    /// Writes it: figures stand to the right. Nothing for a table without rows.
    pub(super) fn render(&self, out: &mut String) {
        if self.lines.is_empty() {
            return;
        }
        let align = |is_text: &bool| if *is_text { "---" } else { "--:" };
        let aligned: Vec<&str> = self.is_text.iter().map(align).collect();
        out.push_str(&self.head);
        out.push_str(&format!("\n| {} |\n", aligned.join(" | ")));
        for line in &self.lines {
            out.push_str(line);
            out.push('\n');
        }
    }
}
