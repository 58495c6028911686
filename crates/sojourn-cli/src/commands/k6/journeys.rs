//! Journeys of a script: where their run file goes, and what is said of them after the summary.

use std::path::{Path, PathBuf};

use sojourn_engine::{Onlooker, RunOptions};
use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::flags::{Settings, SummaryMode};
use sojourn_metrics::names;
use sojourn_record::Verdict;
use sojourn_vu::{Console, Ended, Journeys as FollowedWith};

use super::script::Failed;
use crate::errors::UsageError;
use crate::outputs;
use crate::report_file::ReportFile;
use crate::reported::Reported;
use crate::runner::run_id;

/// A script's journeys, as far as the command line has a say.
pub(super) struct Journeys {
    run_file: PathBuf,
    run_id: String,
    reports: Vec<PathBuf>,
}

impl Journeys {
    /// Finds a place for the run file. Errs when there is none, or when a report has no format.
    pub(super) fn prepare(script: &Path, settings: &Settings) -> Result<Self, Failed> {
        let reports: Vec<PathBuf> = settings.reports.iter().map(PathBuf::from).collect();
        for report in &reports {
            ReportFile::of(report).map_err(failed)?;
        }
        let run_id = run_id();
        let name = script.file_stem().and_then(|name| name.to_str()).unwrap_or("script");
        let asked = settings.run_file.as_ref().map(Path::new);
        let run_file = outputs::run_file(asked, name, &run_id).map_err(failed)?;
        Ok(Self { run_file, run_id, reports })
    }

    pub(super) fn run_file(&self) -> &Path {
        &self.run_file
    }

    pub(super) fn followed_with(&self, onlooker: Option<Onlooker>) -> FollowedWith {
        let options = RunOptions::new(self.run_file.clone(), self.run_id.clone());
        FollowedWith { options, onlooker }
    }

    /// Prints what came of the journeys, and writes the reports. The exit code is the script's own
    /// unless `--strict` asks for more: then a void run and lost journeys fail it.
    pub(super) fn tell(
        &self,
        ended: &Ended,
        exit: ExitCode,
        settings: &Settings,
        console: &Console,
    ) -> Result<ExitCode, Failed> {
        let journeys = match &ended.journeys {
            Some(Ok(journeys)) => journeys,
            Some(Err(problem)) => {
                console.error(&format!("journeys: {problem}"));
                return Ok(strictly(exit, settings, ExitCode::Panic));
            }
            None => return Ok(exit),
        };
        let reported = Reported::open(&self.run_file).map_err(failed)?;
        // A script that makes its own summary decides what goes to standard output.
        if ended.summary.is_none() && settings.summary_mode != SummaryMode::Disabled {
            reported.print_journeys();
        }
        let reports = self.reports.iter().map(|report| reported.write(report));
        let reports = reports.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        eprintln!("run file  {}", self.run_file.display());
        reports.iter().for_each(|report| eprintln!("report    {}", report.display()));
        if journeys.summary.verdict == Verdict::Void {
            for cause in &journeys.summary.causes {
                console.error(&format!("journeys are void: {}: {}", cause.name, cause.detail));
            }
            return Ok(strictly(exit, settings, ExitCode::Panic));
        }
        let lost: u64 = journeys
            .figures
            .series()
            .filter(|(key, _)| key.metric == names::JOURNEYS_LOST)
            .map(|(key, _)| journeys.figures.counter(key))
            .sum();
        if lost > 0 {
            console.warn(&format!("{lost} journeys were lost"));
            return Ok(strictly(exit, settings, ExitCode::ThresholdsFailed));
        }
        Ok(exit)
    }
}

/// With `--strict` a test that went well otherwise ends so.
fn strictly(exit: ExitCode, settings: &Settings, worse: ExitCode) -> ExitCode {
    match settings.strict && exit == ExitCode::Success {
        true => worse,
        false => exit,
    }
}

fn failed(error: UsageError) -> Failed {
    Failed::config(error)
}
