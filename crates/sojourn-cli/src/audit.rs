//! `sojourn report --journey`: the kept journeys that a key names, from one run file or several.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use sojourn_record::RunFile;
use sojourn_report::audit::{self, AuditReport, Selection};

use crate::{errors::UsageError, outputs, reported::RunFormat};

/// Shows them; where there are none, errs with what each run keeps.
pub(crate) fn show(
    files: &[OsString],
    key: &str,
    format: Option<RunFormat>,
    output: Option<&Path>,
) -> Result<(), UsageError> {
    if files.is_empty() {
        return Err(UsageError::new(
            "--journey looks through run files, and none is named",
            "sojourn report reports/NAME-RUNID.sojourn --journey KEY",
        ));
    }
    let format = match (output, format) {
        (Some(output), _) => RunFormat::check_name(output)?,
        (None, Some(format)) => format,
        (None, None) => RunFormat::Text,
    };
    let found = search(files, key)?;
    let text = render(&found, format, output.is_none() && outputs::wants_colour())?;
    match output {
        Some(output) => outputs::write(output, &text),
        None => {
            outputs::print(&text);
            Ok(())
        }
    }
}

/// The journeys of this key in every file; where no file has one, those whose key begins so.
fn search(files: &[OsString], key: &str) -> Result<Vec<Selection>, UsageError> {
    let mut found = Vec::new();
    let mut kept = Vec::new();
    for file in files {
        let report = AuditReport::from_run(&RunFile::open(&PathBuf::from(file))?);
        kept.push(format!("{} keeps {}", file.display(), report.kept_in_words()));
        found.push(report.select(key));
    }
    let is_exact = found.iter().any(|selection| selection.is_exact);
    found.retain(|selection| selection.is_exact || !is_exact && !selection.journeys.is_empty());
    if found.is_empty() {
        return Err(UsageError::new(
            format!(
                "no kept journey has the key {key:?}, and no key begins so\n{}",
                kept.join("\n")
            ),
            "a run keeps every journey with `--keep all`, more of the slowest with \
             `--keep-slowest N`, more of the lost, failed and so on with `--keep-each N`",
        ));
    }
    Ok(found)
}

fn render(found: &[Selection], format: RunFormat, colour: bool) -> Result<String, UsageError> {
    Ok(match format {
        RunFormat::Text => audit::text(found, colour),
        RunFormat::Json => audit::json(found)?,
        RunFormat::Html => audit::html(found)?,
        RunFormat::Ndjson => {
            let runs: Result<Vec<String>, _> = found.iter().map(Selection::ndjson).collect();
            runs?.concat()
        }
        RunFormat::Md | RunFormat::Junit | RunFormat::Csv | RunFormat::Hlog => {
            return Err(UsageError::new(
                "a journey's timeline is not shown in this format",
                "take text, json, html or ndjson",
            ));
        }
    })
}
