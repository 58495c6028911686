//! Limits that the project has set itself, each with what was measured.

use crate::bench::table::Table;

/// A table of limits.
pub(crate) struct Limits(Table);

impl Limits {
    /// Whose limits they are heads the table.
    pub(crate) fn of(what: &str) -> Self {
        Self(Table::new(&[&format!("limit of {what}"), "measured", "verdict"]))
    }

    /// What must be no more than `most`. What was not measured holds nothing.
    pub(crate) fn at_most(&mut self, limit: &str, measured: Option<f64>, unit: &str, most: f64) {
        self.judge(limit, measured, unit, |it| it <= most);
    }

    /// What must be no less than `least`.
    pub(crate) fn at_least(&mut self, limit: &str, measured: Option<f64>, unit: &str, least: f64) {
        self.judge(limit, measured, unit, |it| it >= least);
    }

    fn judge(
        &mut self,
        limit: &str,
        measured: Option<f64>,
        unit: &str,
        holds: impl Fn(f64) -> bool,
    ) {
        let verdict = if measured.is_some_and(holds) { "holds" } else { "MISSED" };
        let measured = measured.map_or_else(|| "-".to_owned(), |it| format!("{it:.2}{unit}"));
        self.0.row(&[limit.to_owned(), measured, verdict.to_owned()]);
    }

    /// The table, to be printed after that of the figures.
    pub(crate) fn table(self) -> Table {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_its_limit_or_not_measured_is_missed() {
        let mut limits = Limits::of("a");
        limits.at_most("most", Some(1.0), " ms", 1.0);
        limits.at_most("most", Some(1.01), " ms", 1.0);
        limits.at_most("most", Some(f64::NAN), " ms", 1.0);
        limits.at_least("least", Some(5.0), " ×", 5.0);
        limits.at_least("least", None, " ×", 5.0);
        let missed: Vec<_> = limits.table().missed().collect();
        let shown = ["most | 1.01 ms", "most | NaN ms", "least | -"];
        assert_eq!(missed, shown.map(|row| format!("{row} | MISSED")));
    }
}
