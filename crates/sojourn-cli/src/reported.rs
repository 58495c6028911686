//! A run file read for its reports, and the formats that they come in.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use sojourn_engine::{EXIT_VOID, exit_code};
use sojourn_record::RunFile;
use sojourn_report::{ReportModel, audit::AuditReport, render};
use sojourn_session::nfr::Requirements;

use crate::{
    errors::UsageError,
    outputs,
    report_file::{Made, ReportFile},
    requirements,
    runner::Format,
};

/// A format of one run's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RunFormat {
    /// For people, in a terminal
    Text,
    /// For programs
    Json,
    /// For browsers
    Html,
    /// The kept journeys, one JSON object a line
    Ndjson,
    /// For pull requests: GitHub Flavored Markdown
    #[value(alias = "markdown")]
    Md,
    /// For CI servers: JUnit's XML
    Junit,
    /// Second by second, for spreadsheets and data frames
    Csv,
    /// Second by second, an HdrHistogram interval log
    Hlog,
}

impl RunFormat {
    /// The one that a file's name asks for by its ending.
    fn of_name(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "ndjson" | "jsonl" => Self::Ndjson,
            "md" | "markdown" => Self::Md,
            "xml" => Self::Junit,
            "csv" => Self::Csv,
            "hlog" => Self::Hlog,
            _ => match Format::of_name(path)? {
                Format::Text => Self::Text,
                Format::Json => Self::Json,
                Format::Html => Self::Html,
            },
        })
    }

    /// The same; errs when no format goes with the name: better before the run than after it.
    pub(crate) fn check_name(path: &Path) -> Result<Self, UsageError> {
        Self::of_name(path).ok_or_else(|| {
            UsageError::new(
                format!("no report format goes with the name {}", path.display()),
                "end it in .html, .md, .txt, .json, .xml (JUnit), .csv, .hlog or .ndjson, or make \
                 it by a template of your own: OUT=FILE.tmpl",
            )
        })
    }
}

/// A run and the model that every report is made from.
pub(crate) struct Reported {
    run: RunFile,
    model: ReportModel,
}

impl Reported {
    pub(crate) fn open(path: &Path) -> Result<Self, UsageError> {
        Self::held_against(path, None)
    }

    /// The same of a run that is held against requirements.
    pub(crate) fn held_against(
        path: &Path,
        wanted: Option<&Requirements>,
    ) -> Result<Self, UsageError> {
        let run = RunFile::open(path)?;
        let rows = wanted.map_or_else(Vec::new, |wanted| requirements::judge(wanted, &run));
        let model = ReportModel::held_against(&run, rows);
        Ok(Self { run, model })
    }

    /// The exit code of a run that ended with this one, its requirements looked at.
    pub(crate) fn code(&self, code: u8) -> u8 {
        requirements::code(code, &self.model.requirements)
    }

    /// The exit code of the run as it was stored, its requirements looked at: one that was cut off
    /// has no verdict.
    pub(crate) fn stored_code(&self) -> u8 {
        self.code(self.run.summary.as_ref().map_or(EXIT_VOID, exit_code))
    }

    /// Prints a report to standard output.
    pub(crate) fn print(&self, format: RunFormat) -> Result<(), UsageError> {
        outputs::print_with(|out| self.render(format, outputs::wants_colour(), out))
    }

    /// Prints to standard output what came of journeys that a script began: its own summary has
    /// been printed.
    #[cfg(feature = "script")]
    pub(crate) fn print_journeys(&self) {
        outputs::print(&render::journeys_text(&self.model, outputs::wants_colour()));
    }

    /// Writes the report that a flag asks for, and says where it is.
    pub(crate) fn write(&self, asked: &Path) -> Result<PathBuf, UsageError> {
        let ReportFile { path, made } = ReportFile::of(asked)?;
        match made {
            Made::Format(format) => {
                outputs::write_with(&path, |out| self.render(format, false, out))?;
            }
            Made::Template(template) => outputs::write(&path, &template.render(&self.model)?)?,
        }
        Ok(path)
    }

    /// Writes a report; those of single seconds, which are as long as the run, piece by piece.
    fn render(
        &self,
        format: RunFormat,
        colour: bool,
        out: &mut dyn Write,
    ) -> Result<(), UsageError> {
        let text = match format {
            RunFormat::Csv => return Ok(render::csv(&self.run, out)?),
            RunFormat::Hlog => return Ok(render::hlog(&self.run, out)?),
            RunFormat::Text => render::text(&self.model, colour),
            RunFormat::Json => render::json(&self.model)?,
            RunFormat::Html => render::html(&self.model)?,
            RunFormat::Ndjson => AuditReport::from_run(&self.run).ndjson()?,
            RunFormat::Md => render::markdown(&self.model),
            RunFormat::Junit => render::junit(&self.model),
        };
        outputs::put(out, &text)
    }
}
