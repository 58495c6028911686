//! `--nfr`: a file of requirements, and what came of them.

use std::path::Path;

use sojourn_engine::EXIT_FAILED;
use sojourn_record::RunFile;
use sojourn_report::model::{RequirementOutcome, RequirementRow};
use sojourn_session::nfr::{Measured, Outcome, Requirements, Verdict};

use crate::errors::UsageError;

/// Reads a file of requirements.
pub(crate) fn read(path: &Path) -> Result<Requirements, UsageError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        UsageError::unreadable(path, &error, "docs/session-dsl.md shows a file of requirements")
    })?;
    Ok(Requirements::read(&path.display().to_string(), &text)?)
}

/// Holds a run against requirements.
pub(crate) fn judge(requirements: &Requirements, run: &RunFile) -> Vec<RequirementRow> {
    requirements.evaluate(&Measured::new(run)).iter().map(row).collect()
}

/// The exit code of a run whose own is `code`: only a run that would have passed can miss them.
pub(crate) fn code(code: u8, rows: &[RequirementRow]) -> u8 {
    match code {
        0 if rows.iter().any(|row| row.failed) => EXIT_FAILED,
        code => code,
    }
}

fn row(outcome: &Outcome) -> RequirementRow {
    let line = outcome.to_string();
    // The mark is the report's business.
    let text = line.split_once(' ').map_or("", |(_mark, text)| text);
    RequirementRow {
        kind: outcome.kind.to_owned(),
        metric: outcome.metric.clone(),
        filter: outcome.filter.clone(),
        measured: outcome.subject,
        unit: outcome.unit.to_owned(),
        wanted: outcome.expectation.clone(),
        outcome: match outcome.verdict {
            Verdict::Met => RequirementOutcome::Met,
            Verdict::Missed => RequirementOutcome::Missed,
            Verdict::Unavailable => RequirementOutcome::Unavailable,
            Verdict::Disabled => RequirementOutcome::Disabled,
        },
        is_optional: outcome.is_optional,
        failed: outcome.has_failed(),
        text: text.to_owned(),
    }
}
