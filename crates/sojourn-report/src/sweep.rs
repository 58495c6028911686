//! The report of a sweep: the same plan for several values of its variables, side by side.

use serde::Serialize;

use crate::{model::Outcome, run_line::RunLine};

/// Version of the serialised shape.
pub const SCHEMA: u32 = 1;

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepRow {
    /// The variables' values, in the order of [`SweepReport::variables`].
    pub values: Vec<String>,
    /// The run.
    pub run: RunLine,
}

impl SweepRow {
    /// The values as they are printed.
    pub fn name(&self) -> String {
        self.values.join(", ")
    }
}

/// A sweep, as it is printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepReport {
    /// Version of this shape: [`SCHEMA`].
    pub schema: u32,
    /// The plan's name.
    pub name: String,
    /// Sojourn's version.
    pub version: String,
    /// The variables.
    pub variables: Vec<String>,
    /// How many runs there were to be.
    pub planned: usize,
    /// Those that were made, in order.
    pub rows: Vec<SweepRow>,
    /// Stopped by the user.
    pub interrupted: bool,
}

impl SweepReport {
    /// A sweep of these variables, without a run yet.
    pub fn new(name: &str, variables: Vec<String>, planned: usize) -> Self {
        Self {
            schema: SCHEMA,
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            variables,
            planned,
            rows: Vec::new(),
            interrupted: false,
        }
    }

    /// One sentence, without a full stop.
    pub fn sentence(&self) -> String {
        use sojourn_analysis::words;
        let of = |outcome: Outcome| self.rows.iter().filter(move |row| row.run.outcome == outcome);
        let mut parts = Vec::new();
        for (outcome, word) in
            [(Outcome::Pass, "passed"), (Outcome::Fail, "failed"), (Outcome::Void, "void")]
        {
            let names: Vec<String> = of(outcome).map(SweepRow::name).collect();
            if !names.is_empty() {
                parts.push(format!("{} {word} ({})", names.len(), names.join("; ")));
            }
        }
        let made = words::plural(self.rows.len() as u64, "run", "runs");
        let short = match self.planned - self.rows.len().min(self.planned) {
            0 => String::new(),
            left => format!("; {left} not made"),
        };
        format!("{}: {made}: {}{short}", self.variables.join(", "), words::list(&parts))
    }
}
